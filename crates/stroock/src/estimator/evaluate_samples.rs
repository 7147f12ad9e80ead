//! How much sampled series look like observed ones.

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

use super::{EstimatorError, Model, Prepared, SampleSource};
use crate::score::{EnergyTest, VariableLook, series_features};
use crate::series::Series;

/// Series that are compared at most.
const MOST_SERIES: usize = 400;
/// Relabellings of the energy test.
const RELABELLINGS: usize = 999;

/// Sampled series beside observed ones that the model was not trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplesEvaluation {
    /// What was sampled from.
    pub source: SampleSource,
    /// Series of either kind. Those that are sampled have the times and the gaps of the observed ones.
    pub series: usize,
    /// The variables one by one, in their own units.
    pub variables: Vec<SampledVariable>,
    /// Whether samples and observed series can be told apart.
    pub samples: Option<EnergyTest>,
    /// The same for series that the model was trained on, as many of them: what can be reached.
    pub training: Option<EnergyTest>,
}

/// One variable of sampled series beside observed ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledVariable {
    /// Its name.
    pub name: String,
    /// The observed series.
    pub test: VariableLook,
    /// The sampled ones.
    pub samples: ComparedLook,
    /// Series that the model was trained on, where they are known.
    pub training: Option<ComparedLook>,
}

/// A look, and how far it is from that of the observed series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedLook {
    /// The look.
    pub look: VariableLook,
    /// Root mean square difference of the profiles over time, in standard deviations of the observed values.
    pub profile_difference: Option<f64>,
    /// Root mean square difference of the autocorrelations.
    pub autocorrelation_difference: Option<f64>,
}

impl ComparedLook {
    fn of(look: VariableLook, test: &VariableLook) -> Self {
        Self {
            profile_difference: test.profile_difference(&look),
            autocorrelation_difference: test.autocorrelation_difference(&look),
            look,
        }
    }
}

impl Model {
    /// Samples as many series as are given by `numbers`, with their times and gaps, and compares them with these; and
    /// these with as many of the series in `training`, where there are any.
    ///
    /// # Errors
    /// When there are no series, or none can be sampled.
    pub fn evaluate_samples(
        &self,
        prepared: &Prepared,
        numbers: &[usize],
        training: &[usize],
        source: SampleSource,
        seed: u64,
    ) -> Result<SamplesEvaluation, EstimatorError> {
        let has_times = |number: &usize| !prepared.data.series()[*number].times.is_empty();
        let numbers: Vec<usize> = numbers.iter().copied().filter(has_times).collect();
        let step = numbers.len().div_ceil(MOST_SERIES).max(1);
        let numbers: Vec<usize> = numbers.into_iter().step_by(step).collect();
        if numbers.is_empty() {
            return Err(EstimatorError::Nothing);
        }
        let in_units = |number: &usize| self.in_user_units(&prepared.data.series()[*number]);
        let test: Vec<Series<f64>> = numbers.iter().map(in_units).collect();
        let known: Vec<Series<f64>> = chosen(training, numbers.len(), seed).iter().map(in_units).collect();
        let times: Vec<Vec<f64>> = test.iter().map(|series| series.times.clone()).collect();
        let drawn = self.draw_series(&times, source, seed)?;
        let sampled: Vec<Series<f64>> =
            test.iter().zip(drawn).map(|(series, values)| Series { values, ..series.clone() }).collect();

        let about = &self.description.data;
        let channels = about.variables.len();
        let span = (about.batcher.grid_axis.start, about.batcher.grid_axis.end);
        let look = |series: &[Series<f64>], channel| VariableLook::of(series, channels, channel, span);
        let variables = self.dynamic().filter_map(|channel| {
            let test = look(&test, channel)?;
            Some(SampledVariable {
                name: about.variables[channel].name.clone(),
                samples: ComparedLook::of(look(&sampled, channel)?, &test),
                training: look(&known, channel).map(|look| ComparedLook::of(look, &test)),
                test,
            })
        });
        let features = |series: &[Series<f64>]| -> Vec<Vec<f64>> {
            series.iter().map(|series| series_features(series, channels)).collect()
        };
        let tested =
            |others: &[Series<f64>]| EnergyTest::of(&features(&test), &features(others), RELABELLINGS, seed);
        Ok(SamplesEvaluation {
            source,
            series: test.len(),
            variables: variables.collect(),
            samples: tested(&sampled),
            training: tested(&known),
        })
    }

    /// A series in the units of the user. What is static is left out: it is not sampled.
    fn in_user_units(&self, series: &Series) -> Series<f64> {
        let variables = &self.description.data.variables;
        let channels = variables.len();
        let observed = (0..series.values.len()).map(|place| {
            !variables[place % channels].is_static
                && series.observed.as_ref().is_none_or(|observed| observed[place])
        });
        Series {
            id: series.id.clone(),
            times: series.times.clone(),
            values: self.description.data.scaler.all_to_user(channels, &series.values),
            observed: Some(observed.collect()),
            ..Series::default()
        }
    }
}

/// So many of some numbers, at random.
fn chosen(numbers: &[usize], count: usize, seed: u64) -> Vec<usize> {
    let mut stream = NoiseKey::of(seed, Stage::Codes).stream(Purpose::Order, 0, 0);
    let mut left = numbers.to_vec();
    let mut taken = Vec::new();
    while taken.len() < count && !left.is_empty() {
        taken.push(left.swap_remove((stream.next_u64() % left.len() as u64) as usize));
    }
    taken
}
