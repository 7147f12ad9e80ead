//! Series wherever they are: in memory, or in a file.

use std::borrow::Cow;
use std::fmt;

use crate::{Dataset, Observation, Series, SeriesError};

/// What [`SeriesSource::for_each`] calls with the number of every series and the series.
pub type Visitor<'f, V> = dyn FnMut(usize, &Series<V>) -> Result<(), SeriesError> + 'f;

/// Series of one kind that are asked for one by one: those of a [`Dataset`] in memory, or of a
/// [`SeriesStore`](crate::SeriesStore) on disk. Whoever learns from series does not see where they are.
///
/// ```
/// use stroock_series::{Dataset, Observation, Series, SeriesSource};
/// let series = Series { id: "a".into(), times: vec![0.0], values: vec![1.0], ..Series::default() };
/// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
/// let source: &dyn SeriesSource = &data;
/// assert_eq!(source.get(0)?.id, "a");
/// # Ok::<(), stroock_series::SeriesError>(())
/// ```
pub trait SeriesSource<V: Clone = f32>: fmt::Debug + Sync {
    /// What is observed at a time.
    fn observation(&self) -> Observation;

    /// Series.
    fn len(&self) -> usize;

    /// Whether there is no series.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Series number `number`, which is less than [`SeriesSource::len`].
    ///
    /// # Errors
    /// When it cannot be read.
    fn get(&self, number: usize) -> Result<Cow<'_, Series<V>>, SeriesError>;

    /// The same series in memory, where that is where they are.
    fn in_memory(&self) -> Option<&Dataset<V>> {
        None
    }

    /// Calls `f` with all series in their order.
    ///
    /// # Errors
    /// When one cannot be read, and those of `f`.
    fn for_each(&self, f: &mut Visitor<'_, V>) -> Result<(), SeriesError> {
        (0..self.len()).try_for_each(|number| f(number, self.get(number)?.as_ref()))
    }
}

impl<V: Copy + Into<f64> + fmt::Debug + Sync> SeriesSource<V> for Dataset<V> {
    fn observation(&self) -> Observation {
        self.observation()
    }

    fn len(&self) -> usize {
        self.series().len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Series<V>>, SeriesError> {
        Ok(Cow::Borrowed(&self.series()[number]))
    }

    fn in_memory(&self) -> Option<&Dataset<V>> {
        Some(self)
    }
}

impl<V: Copy + Into<f64> + fmt::Debug + Sync> Dataset<V> {
    /// The series of a source with the given numbers, in memory.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn gather<S: SeriesSource<V> + ?Sized>(source: &S, numbers: &[usize]) -> Result<Self, SeriesError> {
        let series = numbers.iter().map(|&number| Ok(source.get(number)?.into_owned()));
        Dataset::new(source.observation(), series.collect::<Result<_, SeriesError>>()?)
    }
}
