//! What is known of a series.

/// Distance from a whole number of steps that still counts as on the grid: a day that is an hour longer is one.
const OFF_GRID: f64 = 0.05;
/// Share of the times that has to lie on the grid.
const ON_GRID: f64 = 0.97;
/// Steps for each value up to which a grid with gaps is one.
const SPARSEST: f64 = 8.0;

/// The values of a series up to its last one, in steps of its usual distance.
///
/// Places are times divided by the usual step, from any origin. Where (nearly) all of them lie a whole number of steps
/// apart there is a grid, with gaps as NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    places: Vec<f64>,
    values: Vec<f64>,
    grid: Option<Vec<f64>>,
}

impl History {
    /// Values one step apart, from place 0 on; NaN is a gap.
    pub fn regular(values: &[f64]) -> Self {
        let places: Vec<f64> = (0..values.len()).map(|place| place as f64).collect();
        Self::new(&places, values)
    }

    /// Values at increasing places. What is not finite is left out.
    ///
    /// ```
    /// # use stroock_forecast::History;
    /// let gap = History::new(&[10.0, 11.0, 13.0], &[1.0, 2.0, 4.0]);
    /// assert!(gap.grid().is_some_and(|grid| grid.len() == 4 && grid[2].is_nan()));
    /// assert!(History::new(&[0.0, 0.4, 1.7, 2.2], &[1.0; 4]).grid().is_none());
    /// ```
    pub fn new(places: &[f64], values: &[f64]) -> Self {
        let known = places.iter().zip(values).filter(|(place, value)| place.is_finite() && value.is_finite());
        let (places, values): (Vec<f64>, Vec<f64>) = known.unzip();
        let grid = grid(&places, &values);
        Self { places, values, grid }
    }

    /// Places of the values.
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    /// The values, without gaps.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values one step apart from the first to the last one, with NaN in gaps; `None` where they lie on no grid.
    pub fn grid(&self) -> Option<&[f64]> {
        self.grid.as_deref()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Place of the last value.
    pub fn end(&self) -> Option<f64> {
        self.places.last().copied()
    }

    /// The value at a place, on the line between its neighbours where it has none of its own; `None` outside.
    ///
    /// ```
    /// # use stroock_forecast::History;
    /// let history = History::new(&[0.0, 1.0, 3.0], &[1.0, 2.0, 6.0]);
    /// assert_eq!([1.0, 2.0, 3.5].map(|place| history.at(place)), [Some(2.0), Some(4.0), None]);
    /// ```
    pub fn at(&self, place: f64) -> Option<f64> {
        // Places are sums of steps: a rounding more or less is the same place.
        const SAME: f64 = 1e-6;
        let after = self.places.partition_point(|&other| other < place - SAME);
        let right = *self.places.get(after)?;
        if (right - place).abs() <= SAME {
            return Some(self.values[after]);
        }
        let left = *self.places.get(after.checked_sub(1)?)?;
        let share = (place - left) / (right - left);
        Some((1.0 - share) * self.values[after - 1] + share * self.values[after])
    }

    /// The first `count` values.
    pub fn first(&self, count: usize) -> Self {
        let count = count.min(self.len());
        let (places, values) = (self.places[..count].to_vec(), self.values[..count].to_vec());
        let grid = match (&self.grid, places.first(), places.last()) {
            (Some(grid), Some(first), Some(last)) => Some(grid[..=(last - first).round() as usize].to_vec()),
            (grid, ..) => grid.as_ref().map(|_| Vec::new()),
        };
        Self { places, values, grid }
    }

    /// The last `count` values.
    pub fn last(&self, count: usize) -> Self {
        let from = self.len().saturating_sub(count);
        let (places, values) = (self.places[from..].to_vec(), self.values[from..].to_vec());
        let grid = self.grid.as_ref().map(|grid| match (places.first(), places.last()) {
            (Some(first), Some(last)) => grid[grid.len() - 1 - (last - first).round() as usize..].to_vec(),
            _ => Vec::new(),
        });
        Self { places, values, grid }
    }

    /// The values through a function, such as a logarithm.
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        Self {
            places: self.places.clone(),
            values: self.values.iter().map(|&value| function(value)).collect(),
            grid: self.grid.as_ref().map(|grid| grid.iter().map(|&value| function(value)).collect()),
        }
    }
}

fn grid(places: &[f64], values: &[f64]) -> Option<Vec<f64>> {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Some(Vec::new()) };
    let length = (last - first).round() + 1.0;
    if length > SPARSEST * places.len() as f64 + 2.0 {
        return None;
    }
    let off = places.iter().filter(|place| ((*place - first) - (*place - first).round()).abs() > OFF_GRID);
    if off.count() as f64 > (1.0 - ON_GRID) * places.len() as f64 {
        return None;
    }
    let mut grid = vec![f64::NAN; length as usize];
    for (place, value) in places.iter().zip(values) {
        // Two values of one step: the later one.
        if let Some(cell) = grid.get_mut((place - first).round() as usize) {
            *cell = *value;
        }
    }
    Some(grid)
}
