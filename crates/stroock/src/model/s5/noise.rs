//! The normal likelihood of targets with a variance for each of them.

use burn::tensor::{Tensor, TensorData};

use crate::batch::Targets;

/// `sum (ln v + (y - m)^2 / v + ln 2 pi) / 2` over the known numbers of each series, divided by how many of its points have
/// any, `[B]`; means `m` and variances `v` are `[Q, width]`.
pub fn normal_loss(means: Tensor<2>, variances: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let [points, width] = means.dims();
    let series = targets.series();
    let (mut values, mut known) = (vec![0f32; points * width], vec![0f32; points * width]);
    let mut average = vec![0f32; series * points];
    for b in 0..series {
        let mut of_series = Vec::new();
        targets.for_each_entry(b, |place, value| {
            (values[place], known[place]) = (value, 1.0);
            of_series.push(place / width);
        });
        of_series.dedup();
        let weight = 1.0 / of_series.len().max(1) as f32;
        of_series.into_iter().for_each(|point| average[b * points + point] = weight);
    }
    let options = (&means.device(), means.dtype());
    let matrix =
        |data: Vec<f32>, shape: [usize; 2]| Tensor::<2>::from_data(TensorData::new(data, shape), options);
    let error = means - matrix(values, [points, width]);
    let entries = variances.clone().log() + error.powi_scalar(2) / variances;
    let entries = entries.add_scalar((2.0 * std::f64::consts::PI).ln()).mul_scalar(0.5);
    let of_points = (entries * matrix(known, [points, width])).sum_dim(1);
    matrix(average, [series, points]).matmul(of_points).reshape([series])
}
