//! What the encoder sees of a batch: points in time with some of their channels.

/// The inputs of `B` series, `N` points in all, with `C` channels each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncoderInput {
    /// Channels `C`.
    pub channels: usize,
    /// `[B + 1]`: where the points of a series begin.
    pub point_offsets: Vec<usize>,
    /// Values `[N, C]`; 0 where nothing is observed.
    pub values: Vec<f32>,
    /// The distinct times of the batch, increasing, in model time.
    pub distinct_times: Vec<f64>,
    /// `[N]`: the distinct time of each point.
    pub times: Vec<u32>,
    /// `[B C + 1]`: where the entries of a channel of a series begin in `entries`.
    pub entry_offsets: Vec<usize>,
    /// The points of all observed entries, series after series, channel after channel.
    pub entries: Vec<u32>,
}

impl EncoderInput {
    /// Collects the points of a batch: for each series its model times, and for each of them the values and
    /// which of them are observed.
    pub fn new(channels: usize, series: &[InputPoints]) -> Self {
        let mut distinct_times: Vec<f64> = series.iter().flat_map(|points| &points.times).copied().collect();
        distinct_times.sort_by(f64::total_cmp);
        distinct_times.dedup();
        let mut input = Self {
            channels,
            point_offsets: vec![0],
            distinct_times,
            entry_offsets: vec![0],
            ..Self::default()
        };
        for points in series {
            input.push(points);
        }
        input
    }

    /// Series `B`.
    pub fn series(&self) -> usize {
        self.point_offsets.len() - 1
    }

    /// Points `N`.
    pub fn points(&self) -> usize {
        self.times.len()
    }

    /// Whether a channel of a series has any entry, `[B, C]` as 0 or 1.
    pub fn presence(&self) -> Vec<f32> {
        self.entry_offsets.windows(2).map(|pair| f32::from(u8::from(pair[1] > pair[0]))).collect()
    }

    fn push(&mut self, points: &InputPoints) {
        let first = self.times.len();
        for time in &points.times {
            let index = self.distinct_times.binary_search_by(|t| t.total_cmp(time)).unwrap_or_default();
            self.times.push(index as u32);
        }
        let seen = points.values.iter().zip(&points.observed);
        self.values.extend(seen.map(|(&value, &observed)| if observed { value } else { 0.0 }));
        for channel in 0..self.channels {
            let observed = (0..points.times.len()).filter(|i| points.observed[i * self.channels + channel]);
            self.entries.extend(observed.map(|i| (first + i) as u32));
            self.entry_offsets.push(self.entries.len());
        }
        self.point_offsets.push(self.times.len());
    }
}

/// The points of one series that the encoder sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputPoints {
    /// Model times `[T]`.
    pub times: Vec<f64>,
    /// Values `[T, C]`.
    pub values: Vec<f32>,
    /// Which of them are observed, `[T, C]`.
    pub observed: Vec<bool>,
}
