//! Rows as numbers, in the order in which they were read.

/// Rows as numbers: a list for each part of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// Series of each row.
    pub(super) series: Vec<u32>,
    pub(super) times: Vec<f64>,
    /// Where it was: file and line.
    pub(super) files: Vec<u32>,
    pub(super) lines: Vec<u32>,
    /// Values, not numbers where they are missing: one for each channel; or in the long form one each, with its channel.
    pub(super) values: Vec<f64>,
    pub(super) of_channel: Vec<u32>,
    /// Class of each row; empty without a column of classes.
    pub(super) classes: Vec<u32>,
}

impl Block {
    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.series.len()
    }

    /// Forgets all rows, and keeps the memory for others.
    pub(super) fn clear(&mut self) {
        self.series.clear();
        self.times.clear();
        self.files.clear();
        self.lines.clear();
        self.values.clear();
        self.of_channel.clear();
        self.classes.clear();
    }

    /// Forgets what a row that is not complete has left behind.
    pub(super) fn forget_half_row(&mut self, values: usize) {
        let rows = self.len();
        self.values.truncate(values);
        self.of_channel.truncate(rows);
        self.classes.truncate(rows);
    }

    /// The rows sorted by series, and within a series as they came.
    pub(super) fn by_series(&self) -> Vec<u32> {
        if self.series.is_sorted() {
            return (0..self.len() as u32).collect();
        }
        let least = self.series.iter().copied().min().unwrap_or(0);
        let most = self.series.iter().copied().max().unwrap_or(0);
        let mut next = vec![0_u32; (most - least) as usize + 2];
        for &series in &self.series {
            next[(series - least) as usize + 1] += 1;
        }
        for index in 1..next.len() {
            next[index] += next[index - 1];
        }
        let mut order = vec![0_u32; self.len()];
        for (row, &series) in self.series.iter().enumerate() {
            let place = &mut next[(series - least) as usize];
            order[*place as usize] = row as u32;
            *place += 1;
        }
        order
    }

    /// Sorts some rows by time; those of one time stay in their order.
    pub(super) fn sort_by_time(&self, rows: &mut [u32]) {
        let time = |row: &u32| self.times[*row as usize];
        if !rows.is_sorted_by(|a, b| time(a) <= time(b)) {
            rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        }
    }
}
