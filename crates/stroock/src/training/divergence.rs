//! Training that has diverged, told apart from a batch that does not fit the model.

use stroock_kernels::path::PathError;

use super::{Trainer, TrainingError};
use crate::model::{ModelError, SeriesModel, to_file};

/// Parameters of this size have diverged: their products overflow in single precision.
const LARGEST: f32 = 1e12;

impl Trainer<'_> {
    /// Why a model refused a batch of these series. `epoch` and `batch` are counted from 1.
    pub(super) fn refused(
        &self,
        model: &impl SeriesModel,
        numbers: &[usize],
        (epoch, batch): (u64, usize),
        source: ModelError,
    ) -> TrainingError {
        // Numbers of the data are finite: what is too large or no number comes from the parameters.
        let series = match &source {
            ModelError::Path(
                PathError::StateNotFinite { series }
                | PathError::StepTooLarge { series, .. }
                | PathError::DivergenceNotFinite { series },
            ) => Some(*series),
            _ if !has_usable_parameters(model) => Some(0),
            _ => None,
        };
        match series.and_then(|series| numbers.get(series)) {
            Some(&number) => {
                TrainingError::Diverged { epoch, batch, series: self.name(number), reason: source }
            }
            None => TrainingError::Model { epoch, batch, source },
        }
    }
}

/// Whether sums of parameters times numbers of the data can be finite.
fn has_usable_parameters(model: &impl SeriesModel) -> bool {
    to_file(model).is_ok_and(|file| {
        let mut numbers = file.tensors.iter().filter_map(|(_, tensor)| tensor.entries::<f32>()).flatten();
        numbers.all(|number| number.abs() < LARGEST)
    })
}
