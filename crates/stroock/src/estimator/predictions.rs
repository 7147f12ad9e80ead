//! What is asked of a fitted model, and its predictions in the units of the user.

use stroock_kernels::noise::NoiseKey;

use super::{EstimatorError, Model, Prepared};
use crate::model::{ModelSettings, PathDraws};
use crate::predict::Summary;
use crate::series::table::{Column, DataFrame, TimeScale};

/// How much of a predictive distribution is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictOptions {
    /// Levels of quantiles, between 0 and 1.
    pub quantiles: Vec<f64>,
    /// Draws that means and quantiles are taken over.
    pub draws: usize,
    /// Draws that are given out, too.
    pub samples: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { quantiles: vec![0.05, 0.5, 0.95], draws: 200, samples: 0, seed: 1 }
    }
}

/// Predictive processes of single values, one a row; observation noise included.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Series of each row.
    pub ids: Vec<String>,
    /// Time of each row, as the user counts it.
    pub times: Vec<f64>,
    /// Channel of each row.
    pub channels: Vec<usize>,
    /// Predictive means.
    pub mean: Vec<f64>,
    /// Predictive standard deviations.
    pub sd: Vec<f64>,
    /// Quantiles, `[levels][rows]`.
    pub quantiles: Vec<Vec<f64>>,
    /// Draws, `[samples][rows]`.
    pub samples: Vec<Vec<f64>>,
    /// Levels of the quantiles.
    pub levels: Vec<f64>,
    /// Names of the channels.
    pub variables: Vec<String>,
    /// Name of the column of ids, name of the column of times.
    pub names: (String, String),
    /// How times are written.
    pub time: TimeScale,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What is asked about one series.
pub(super) struct Wanted {
    /// Number of the series.
    pub number: usize,
    /// Increasing times, counted from the origin of the series.
    pub times: Vec<f64>,
    /// For each wanted value the index of its time, and its channel.
    pub entries: Vec<(usize, usize)>,
}

/// Points times draws that are simulated at once.
const AT_ONCE: usize = 1 << 20;

impl PredictOptions {
    pub(super) fn check(&self) -> Result<(), EstimatorError> {
        if let Some(level) = self.quantiles.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            return Err(EstimatorError::Options(format!(
                "the quantile {level} does not lie between 0 and 1"
            )));
        }
        if self.draws == 0 || self.samples > self.draws {
            let (draws, samples) = (self.draws, self.samples);
            let reason =
                format!("{samples} samples cannot be given out of {draws} draws; ask for more draws");
            return Err(EstimatorError::Options(reason));
        }
        Ok(())
    }

    pub(super) fn path_draws(&self) -> PathDraws {
        PathDraws { key: NoiseKey::new(self.seed, 0), samples: self.draws, first_sample: 0 }
    }
}

impl Model {
    /// The name of the column of ids, and that of the column of times.
    pub(super) fn names(&self) -> Result<(String, String), EstimatorError> {
        let columns = &self.table()?.columns;
        let time = match columns.time.as_slice() {
            [time] => time.clone(),
            _ => "time".into(),
        };
        Ok((columns.id.clone().unwrap_or_else(|| "id".into()), time))
    }

    /// Asks for values of series.
    pub(super) fn answer(
        &self,
        prepared: &Prepared,
        wanted: &[Wanted],
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        options.check()?;
        self.check_reach(prepared, wanted)?;
        let about = &self.description.data;
        let channels = prepared.data.observation().len();
        let mut predictions = Predictions {
            ids: Vec::new(),
            times: Vec::new(),
            channels: Vec::new(),
            mean: Vec::new(),
            sd: Vec::new(),
            quantiles: vec![Vec::new(); options.quantiles.len()],
            samples: vec![Vec::new(); options.samples],
            levels: options.quantiles.clone(),
            variables: about.variables.iter().map(|variable| variable.name.clone()).collect(),
            names: self.names()?,
            time: self.table()?.time.clone(),
            warnings: prepared.warnings.clone(),
        };
        predictions.warnings.extend(self.beyond(wanted));
        for wanted in chunks(prepared, wanted, options.draws) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let drawn = self.predictor().posterior(&prepared.data, &numbers, &times, options.path_draws())?;
            for (wanted, drawn) in wanted.iter().zip(drawn) {
                let (id, origin) =
                    (&prepared.data.series()[wanted.number].id, prepared.origins[wanted.number]);
                let row = wanted.times.len() * channels;
                let place = |&(time, channel): &(usize, usize)| time * channels + channel;
                let places: Vec<usize> = wanted.entries.iter().map(place).collect();
                let values: Vec<f32> = (0..options.draws)
                    .flat_map(|draw| places.iter().map(move |place| draw * row + place))
                    .map(|entry| drawn.observations[entry])
                    .collect();
                let summary = Summary::of(&values, places.len(), &options.quantiles);
                for &(time, channel) in &wanted.entries {
                    predictions.ids.push(id.clone());
                    predictions.times.push(origin + wanted.times[time]);
                    predictions.channels.push(channel);
                }
                // Means given the paths have less noise than means of observations.
                predictions.mean.extend(places.iter().map(|place| {
                    let over_draws = drawn.means.iter().skip(*place).step_by(row);
                    over_draws.map(|&mean| f64::from(mean)).sum::<f64>() / options.draws as f64
                }));
                predictions.sd.extend(summary.sd);
                for (all, quantiles) in predictions.quantiles.iter_mut().zip(summary.quantiles) {
                    all.extend(quantiles);
                }
                for (all, values) in predictions.samples.iter_mut().zip(values.chunks(places.len().max(1))) {
                    all.extend(values.iter().map(|&value| f64::from(value)));
                }
            }
        }
        Ok(predictions)
    }

    /// Refuses times at which the drift of the model means nothing: polynomials grow without bound outside of the
    /// interval that they are taken on.
    fn check_reach(&self, prepared: &Prepared, wanted: &[Wanted]) -> Result<(), EstimatorError> {
        let axis = self.description.data.batcher.grid_axis;
        let Some(reach) = self.description.model.reach() else { return Ok(()) };
        let last = axis.to_user(reach.max(axis.horizon));
        let too_far = |wanted: &&Wanted| wanted.times.last().is_some_and(|&time| time > last);
        let Some(wanted) = wanted.iter().find(too_far) else { return Ok(()) };
        let time = &self.table()?.time;
        let series = &prepared.data.series()[wanted.number].id;
        let last = time.write(prepared.origins[wanted.number] + last);
        Err(EstimatorError::Options(format!(
            "the model can be asked about times up to {last} for series `{series}`, twice the span that it was \
             trained on; fit one to longer series (--window) to look further"
        )))
    }

    /// A sentence about times that the model was not trained on.
    fn beyond(&self, wanted: &[Wanted]) -> Option<String> {
        let axis = self.description.data.batcher.grid_axis;
        let slack = 1e-9 * (axis.end - axis.start);
        let inside = axis.start - slack..=axis.end + slack;
        let all = wanted.iter().map(|wanted| wanted.times.len()).sum::<usize>();
        let times = wanted.iter().flat_map(|wanted| &wanted.times);
        let outside = times.filter(|time| !inside.contains(*time)).count();
        let time = self.description.data.table.as_ref().map_or(TimeScale::Number, |table| table.time.clone());
        let length = time.write_length(axis.end - axis.start);
        (outside > 0).then(|| {
            format!(
                "{outside} of {all} times lie outside the span of {length} that the model was trained on: \
                 do not rely on its predictions there"
            )
        })
    }
}

/// Parts that are small enough to be simulated at once.
pub(super) fn chunks<'a>(
    prepared: &Prepared,
    mut wanted: &'a [Wanted],
    draws: usize,
) -> impl Iterator<Item = &'a [Wanted]> {
    let sizes: Vec<usize> =
        prepared.data.series().iter().map(|series| series.times.len() * draws.max(1)).collect();
    std::iter::from_fn(move || {
        let mut points = 0;
        let fits = |wanted: &&Wanted| {
            points += wanted.times.len() * draws.max(1) + sizes[wanted.number];
            points <= AT_ONCE
        };
        let count = wanted.iter().take_while(fits).count().max(1).min(wanted.len());
        let (now, later) = wanted.split_at(count);
        wanted = later;
        (!now.is_empty()).then_some(now)
    })
}

/// A column of times as the user writes them.
pub(super) fn time_column(scale: &TimeScale, times: &[f64]) -> Column {
    match scale {
        TimeScale::Number => Column::Number(times.to_vec()),
        TimeScale::Date { .. } => Column::Text(times.iter().map(|&time| scale.write(time)).collect()),
    }
}

impl Predictions {
    /// As a table with one value a row: id, time, variable, mean, standard deviation, quantiles, samples.
    pub fn data_frame(&self) -> DataFrame {
        let mut data_frame = DataFrame { names: Vec::new(), columns: Vec::new() };
        let mut push = |name: String, column: Column| {
            data_frame.names.push(name);
            data_frame.columns.push(column);
        };
        push(self.names.0.clone(), Column::Text(self.ids.clone()));
        push(self.names.1.clone(), time_column(&self.time, &self.times));
        let variables = self.channels.iter().map(|&channel| self.variables[channel].clone());
        push("variable".into(), Column::Text(variables.collect()));
        push("mean".into(), Column::Number(self.mean.clone()));
        push("sd".into(), Column::Number(self.sd.clone()));
        for (level, quantiles) in self.levels.iter().zip(&self.quantiles) {
            push(format!("q{level}"), Column::Number(quantiles.clone()));
        }
        for (number, samples) in self.samples.iter().enumerate() {
            push(format!("sample_{}", number + 1), Column::Number(samples.clone()));
        }
        data_frame
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
