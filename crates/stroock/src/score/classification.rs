//! Scores of classes and of their probabilities.

use serde::{Deserialize, Serialize};

use super::ScoreError;

/// How often each class was taken for each: `counts[truth][predicted]`.
///
/// ```
/// # use stroock::score::Confusion;
/// let mut confusion = Confusion::new(2);
/// for (truth, predicted) in [(0, 0), (0, 0), (0, 1), (1, 1)] {
///     confusion.add(truth, predicted)?;
/// }
/// assert_eq!(confusion.accuracy(), Some(0.75));
/// assert_eq!(confusion.classes()[1].precision, 0.5);
/// # Ok::<(), stroock::score::ScoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confusion {
    /// `[truth][predicted]`.
    pub counts: Vec<Vec<u64>>,
}

/// Scores of one class. A ratio without cases is zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassScore {
    /// How often the class was true.
    pub count: u64,
    /// Share of the cases taken for the class that are of it.
    pub precision: f64,
    /// Share of the cases of the class that are taken for it.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
}

impl Confusion {
    /// No cases yet of a number of classes.
    pub fn new(classes: usize) -> Self {
        Confusion { counts: vec![vec![0; classes]; classes] }
    }

    /// Adds one case.
    ///
    /// # Errors
    /// When a class does not exist.
    pub fn add(&mut self, truth: usize, predicted: usize) -> Result<(), ScoreError> {
        let classes = self.counts.len();
        let missing = |class| ScoreError::Class { class, classes };
        let row = self.counts.get_mut(truth).ok_or(missing(truth))?;
        *row.get_mut(predicted).ok_or(missing(predicted))? += 1;
        Ok(())
    }

    /// Adds the cases of another table.
    ///
    /// # Errors
    /// When the numbers of classes differ.
    pub fn merge(&mut self, other: &Confusion) -> Result<(), ScoreError> {
        let shape = |confusion: &Confusion| confusion.counts.iter().map(Vec::len).collect::<Vec<_>>();
        if shape(self) != shape(other) {
            return Err(ScoreError::Settings { list: "classes" });
        }
        for (sum, more) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *sum += more;
        }
        Ok(())
    }

    /// Number of cases.
    pub fn count(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Share of the cases on the diagonal; `None` without cases.
    pub fn accuracy(&self) -> Option<f64> {
        let count = self.count();
        let right: u64 = self.counts.iter().enumerate().filter_map(|(k, row)| row.get(k)).sum();
        (count > 0).then(|| right as f64 / count as f64)
    }

    /// Scores of every class.
    pub fn classes(&self) -> Vec<ClassScore> {
        let ratio = |part: u64, whole: u64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
        let score = |(k, row): (usize, &Vec<u64>)| {
            let right = row.get(k).copied().unwrap_or(0);
            let count = row.iter().sum();
            let taken: u64 = self.counts.iter().filter_map(|row| row.get(k)).sum();
            // 2 p r / (p + r), in counts.
            let f1 = ratio(2 * right, count + taken);
            ClassScore { count, precision: ratio(right, taken), recall: ratio(right, count), f1 }
        };
        self.counts.iter().enumerate().map(score).collect()
    }

    /// Mean of F1 over the classes that are true or predicted somewhere; `None` without cases.
    pub fn macro_f1(&self) -> Option<f64> {
        let occurs = |k: usize| self.counts.iter().any(|row| row.get(k).is_some_and(|n| *n > 0));
        let scores = self.classes();
        let f1: Vec<f64> =
            (0..scores.len()).filter(|k| scores[*k].count > 0 || occurs(*k)).map(|k| scores[k].f1).collect();
        (!f1.is_empty()).then(|| f1.iter().sum::<f64>() / f1.len() as f64)
    }
}

/// `-ln p(truth)`, with probabilities below 1e-15 taken for that: one case that was thought impossible does
/// not hide all others. `None` where the class does not exist.
pub fn log_loss(probabilities: &[f64], truth: usize) -> Option<f64> {
    Some(-probabilities.get(truth)?.max(1e-15).ln())
}

/// Score of Brier, `sum_k (p_k - [k = truth])^2`, from 0 (certain and right) to 2 (certain and wrong). `None`
/// where the class does not exist.
pub fn brier(probabilities: &[f64], truth: usize) -> Option<f64> {
    let right = probabilities.get(truth)?;
    let squares: f64 = probabilities.iter().map(|p| p * p).sum();
    Some(squares - 2.0 * right + 1.0)
}

/// Sums from which [`ClassScores`] follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSums {
    confusion: Confusion,
    log_loss: f64,
    brier: f64,
}

/// Scores of predicted classes and their probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassScores {
    /// Number of cases.
    pub count: u64,
    /// Share of the cases in which the most probable class is the true one.
    pub accuracy: f64,
    /// Mean F1 of the classes that occur.
    pub macro_f1: f64,
    /// Mean of [`log_loss`].
    pub log_loss: f64,
    /// Mean of [`brier`].
    pub brier: f64,
    /// Scores of every class.
    pub classes: Vec<ClassScore>,
    /// How often each class was taken for each.
    pub confusion: Confusion,
}

impl ClassSums {
    /// No cases yet of a number of classes.
    pub fn new(classes: usize) -> Self {
        ClassSums { confusion: Confusion::new(classes), log_loss: 0.0, brier: 0.0 }
    }

    /// Adds one case with the probabilities `[classes]`; the most probable class is the predicted one, the
    /// first of several.
    ///
    /// # Errors
    /// When the class does not exist, or the probabilities are not a distribution (to 1e-3).
    pub fn add(&mut self, truth: usize, probabilities: &[f64]) -> Result<(), ScoreError> {
        let classes = self.confusion.counts.len();
        let sum: f64 = probabilities.iter().sum();
        let valid = probabilities.iter().all(|p| *p >= 0.0) && (sum - 1.0).abs() < 1e-3;
        if probabilities.len() != classes || !valid {
            return Err(ScoreError::Probabilities { classes, actual: probabilities.len(), sum });
        }
        let mut predicted = 0;
        for (k, p) in probabilities.iter().enumerate() {
            if *p > probabilities[predicted] {
                predicted = k;
            }
        }
        self.confusion.add(truth, predicted)?;
        self.log_loss += log_loss(probabilities, truth).unwrap_or(0.0);
        self.brier += brier(probabilities, truth).unwrap_or(0.0);
        Ok(())
    }

    /// Adds the sums of other cases.
    ///
    /// # Errors
    /// When the numbers of classes differ; nothing is added then.
    pub fn merge(&mut self, other: &ClassSums) -> Result<(), ScoreError> {
        self.confusion.merge(&other.confusion)?;
        self.log_loss += other.log_loss;
        self.brier += other.brier;
        Ok(())
    }

    /// The scores; `None` without cases.
    pub fn finish(&self) -> Option<ClassScores> {
        let count = self.confusion.count();
        Some(ClassScores {
            count,
            accuracy: self.confusion.accuracy()?,
            macro_f1: self.confusion.macro_f1()?,
            log_loss: self.log_loss / count as f64,
            brier: self.brier / count as f64,
            classes: self.confusion.classes(),
            confusion: self.confusion.clone(),
        })
    }
}
