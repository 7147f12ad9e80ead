//! Attention with a dense mask.

use burn::tensor::{Bool, Int, Tensor, TensorData};
use stroock_kernels::argument::check_length;
use stroock_kernels::attention::AttentionError;

use crate::batch::EncoderInput;

/// What the reference points with `queries` (`[R, E]`) see of a batch, `[B, R, C]`.
///
/// With the scores `s_{p r} = <k_{u(p)}, q_r> / sqrt(E)` of the point `p` at the distinct time `u(p)`, every channel
/// has a softmax of its own over the points where it is observed,
///
/// ```text
/// out_{b r c} = sum_p m_{p c} exp(s_{p r}) x_{p c} / sum_p m_{p c} exp(s_{p r}),
/// ```
///
/// with the mask `m` and both sums over the points of series `b`. A channel without entries gives 0. `keys` are
/// `[U, E]` and `values` are `[N, C]`, as in [`encoder::attend`](crate::encoder::attend).
///
/// # Errors
/// When the tensors do not fit the input.
pub fn attend(
    input: &EncoderInput,
    queries: Tensor<2>,
    keys: Tensor<2>,
    values: Tensor<2>,
) -> Result<Tensor<3>, AttentionError> {
    let [references, width] = queries.dims();
    let [times, key_width] = keys.dims();
    let [rows, channels] = values.dims();
    check_length("keys", "[distinct times, width]", times * width, times * key_width)?;
    check_length("values", "[points, channels]", input.points() * channels, rows * channels)?;
    if let Some(point) = input.times.iter().position(|&time| time as usize >= times) {
        return Err(AttentionError::TimeOutsideKeys { point, time: input.times[point], times });
    }
    let (device, dtype) = (values.device(), values.dtype());
    let series = input.series();
    let dense = Dense::new(input, channels)?;
    if dense.points == 0 {
        return Ok(Tensor::zeros([series, references, channels], (&device, dtype)));
    }
    let shape = [series, dense.points, references, channels];
    let index = |list: Vec<i64>| {
        let count = list.len();
        Tensor::<1, Int>::from_data(TensorData::new(list, [count]), &device)
    };
    let hidden = TensorData::new(dense.hidden, [series, dense.points, 1, channels]);
    let hidden = Tensor::<4, Bool>::from_data(hidden, &device).expand(shape);

    let scores = keys.matmul(queries.transpose()).mul_scalar(1.0 / (width as f64).sqrt());
    let scores = scores.select(0, index(dense.times)).reshape([series, dense.points, references, 1]);
    let scores = scores.expand(shape);
    let values = values.select(0, index(dense.rows)).reshape([series, dense.points, 1, channels]);
    let values = values.expand(shape).mask_fill(hidden.clone(), 0.0);

    // A softmax does not change when all scores are moved; moved by the largest, none of them overflows.
    let largest = scores.clone().detach().mask_fill(hidden.clone(), f64::NEG_INFINITY).max_dim(1);
    let weights = (scores - largest).mask_fill(hidden, f64::NEG_INFINITY).exp();
    let empty = TensorData::new(dense.empty, [series, 1, 1, channels]);
    let empty = Tensor::<4>::from_data(empty, (&device, dtype));
    let sums = weights.clone().sum_dim(1) + empty;
    Ok(((weights * values).sum_dim(1) / sums).reshape([series, references, channels]))
}

/// The points of every series, filled up to as many as the longest has.
struct Dense {
    /// Points of the longest series.
    points: usize,
    /// `[B, points]`: rows of the values; any row in places without a point.
    rows: Vec<i64>,
    /// `[B, points]`: rows of the keys.
    times: Vec<i64>,
    /// `[B, points, C]`: what is not observed.
    hidden: Vec<bool>,
    /// `[B, C]`: 1 for channels without entries.
    empty: Vec<f32>,
}

impl Dense {
    fn new(input: &EncoderInput, channels: usize) -> Result<Self, AttentionError> {
        let series = input.series();
        let points = input.point_offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        let mut dense = Self {
            points,
            rows: vec![0; series * points],
            times: vec![0; series * points],
            hidden: vec![true; series * points * channels],
            empty: Vec::with_capacity(series * channels),
        };
        for (b, pair) in input.point_offsets.windows(2).enumerate() {
            for (i, point) in (pair[0]..pair[1]).enumerate() {
                dense.rows[b * points + i] = point as i64;
                dense.times[b * points + i] = i64::from(input.times[point]);
            }
        }
        let (offsets, entries) = input.entries_of(channels);
        check_length("entries.offsets", "[series * channels + 1]", series * channels + 1, offsets.len())?;
        for (run, pair) in offsets.windows(2).enumerate() {
            let (b, channel) = (run / channels, run % channels);
            for &point in &entries[pair[0]..pair[1]] {
                let place = b * points + point as usize - input.point_offsets[b];
                dense.hidden[place * channels + channel] = false;
            }
            dense.empty.push(if pair[0] == pair[1] { 1.0 } else { 0.0 });
        }
        Ok(dense)
    }
}
