//! Classes of series, or of their times.

use super::choice::mixed;
use super::predictions::{PredictOptions, time_column};
use super::wanted::{Wanted, chunks};
use super::{EstimatorError, Model, Prepared};
use crate::model::ModelSettings;
use crate::series::Series;
use crate::series::table::{Column, DataFrame, Table, TimeScale};
use crate::task::TaskKind;

/// Probabilities of classes, one prediction a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// Series of each row.
    pub ids: Vec<String>,
    /// Time of each row, as the user counts it; `None` where whole series have classes.
    pub times: Option<Vec<f64>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Probabilities, `[rows][classes]`.
    pub probabilities: Vec<Vec<f64>>,
    /// Name of the column of ids, name of the column of times.
    pub names: (String, String),
    /// How times are written.
    pub time: TimeScale,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Model {
    /// The classes of the series of a table, or of their times. A long series that is cut into windows has the mean
    /// of their probabilities.
    ///
    /// # Errors
    /// When the model has not learned classes, or the table does not fit it.
    pub fn classify(&self, table: &Table, options: &PredictOptions) -> Result<Classes, EstimatorError> {
        let prepared = self.prepare(table)?;
        let numbers: Vec<usize> = (0..prepared.data.series().len()).collect();
        let rows = self.class_probabilities(&prepared, &prepared.streams(&numbers), options)?;
        let per_time = self.is_per_time()?;
        let mut classes = Classes {
            ids: Vec::new(),
            times: per_time.then(Vec::new),
            classes: self.description.data.classes.clone(),
            probabilities: Vec::new(),
            names: self.names()?,
            time: self.table()?.time.clone(),
            warnings: prepared.warnings.clone(),
        };
        let mut windows: Vec<usize> = Vec::new();
        for (number, rows) in rows.into_iter().enumerate() {
            let series = &prepared.data.series()[number];
            match &mut classes.times {
                Some(times) => {
                    times.extend(&prepared.user_times[number]);
                    classes.ids.extend(series.times.iter().map(|_| series.id.clone()));
                    classes.probabilities.extend(rows);
                }
                // Windows of a series follow each other.
                None if classes.ids.last() == Some(&series.id) => {
                    if let (Some(sum), Some(count)) = (classes.probabilities.last_mut(), windows.last_mut()) {
                        *count += 1;
                        sum.iter_mut().zip(rows.iter().flatten()).for_each(|(sum, p)| *sum += p);
                    }
                }
                None => {
                    classes.ids.push(series.id.clone());
                    classes.probabilities.extend(rows);
                    windows.push(1);
                }
            }
        }
        for (probabilities, count) in classes.probabilities.iter_mut().zip(windows) {
            probabilities.iter_mut().for_each(|p| *p /= count as f64);
        }
        Ok(classes)
    }

    fn is_per_time(&self) -> Result<bool, EstimatorError> {
        match self.description.model.task() {
            Some(kind @ (TaskKind::ClassPerTime { .. } | TaskKind::ClassPerSeries { .. })) => {
                Ok(kind.is_per_time())
            }
            _ => Err(EstimatorError::NotClassifier),
        }
    }

    /// For each series the probabilities of classes at each of its times, or once: those of the classifier, of the
    /// latent SDE with noise that depends on the given streams, or of both with the shares that were chosen on
    /// validation series.
    pub(super) fn class_probabilities(
        &self,
        prepared: &Prepared,
        streams: &[u32],
        options: &PredictOptions,
    ) -> Result<Vec<Vec<Vec<f64>>>, EstimatorError> {
        options.check()?;
        let per_time = self.is_per_time()?;
        let Some(classifier) = self.classifier.as_ref().filter(|_| !per_time) else {
            return self.latent_probabilities(prepared, streams, options);
        };
        let series: Vec<&Series> = prepared.data.series().iter().collect();
        let of_classifier = classifier.all_probabilities(&series);
        let share = classifier.description().choice.share;
        if share == 1.0 {
            return Ok(of_classifier.into_iter().map(|row| vec![row]).collect());
        }
        let of_model = self.latent_probabilities(prepared, streams, options)?;
        let mix = |(a, b): (Vec<f64>, Vec<Vec<f64>>)| b.iter().map(|b| mixed(&a, b, share)).collect();
        Ok(of_classifier.into_iter().zip(of_model).map(mix).collect())
    }

    /// The same of the latent SDE alone; means over draws.
    pub(super) fn latent_probabilities(
        &self,
        prepared: &Prepared,
        streams: &[u32],
        options: &PredictOptions,
    ) -> Result<Vec<Vec<Vec<f64>>>, EstimatorError> {
        options.check()?;
        let per_time = self.is_per_time()?;
        let classes = self.description.data.classes.len();
        let wanted: Vec<Wanted> = prepared
            .data
            .series()
            .iter()
            .enumerate()
            .map(|(number, series)| Wanted { number, times: series.times.clone(), ..Wanted::default() })
            .collect();
        let mut all = Vec::with_capacity(wanted.len());
        for wanted in chunks(prepared, &wanted, options.draws) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let streams: Vec<u32> = numbers.iter().map(|&number| streams[number]).collect();
            let drawn = self.predictor().posterior_of(
                &prepared.data,
                &numbers,
                &streams,
                &times,
                options.path_draws(),
            )?;
            for (wanted, drawn) in wanted.iter().zip(drawn) {
                let rows = if per_time { wanted.times.len() } else { 1 };
                let mut means = vec![vec![0.0; classes]; rows];
                for (entry, logits) in drawn.task.chunks(classes.max(1)).enumerate() {
                    let row = &mut means[entry % rows.max(1)];
                    for (mean, p) in row.iter_mut().zip(softmax(logits)) {
                        *mean += p / options.draws as f64;
                    }
                }
                all.push(means);
            }
        }
        Ok(all)
    }
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|&logit| f64::from(logit - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The index of the largest number.
pub(super) fn likeliest(probabilities: &[f64]) -> usize {
    let largest = probabilities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    largest.map_or(0, |(index, _)| index)
}

impl Classes {
    /// As a table: id, time where times have classes, the likeliest class, and the probability of each.
    pub fn data_frame(&self) -> DataFrame {
        let mut data_frame =
            DataFrame { names: vec![self.names.0.clone()], columns: vec![Column::Text(self.ids.clone())] };
        if let Some(times) = &self.times {
            data_frame.names.push(self.names.1.clone());
            data_frame.columns.push(time_column(&self.time, times));
        }
        let chosen = self.probabilities.iter().map(|row| self.classes[likeliest(row)].clone());
        data_frame.names.push("class".into());
        data_frame.columns.push(Column::Text(chosen.collect()));
        for (index, class) in self.classes.iter().enumerate() {
            data_frame.names.push(format!("p_{class}"));
            data_frame
                .columns
                .push(Column::Number(self.probabilities.iter().map(|row| row[index]).collect()));
        }
        data_frame
    }
}
