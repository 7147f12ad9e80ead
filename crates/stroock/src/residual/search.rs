//! The greatest value of a function of a few numbers.

/// The best point of a simplex of Nelder and Mead that begins with a step along each coordinate from `start`, after
/// about so many `evaluations` or when its values differ by less than `close`; and its value.
pub(super) fn simplex<const D: usize>(
    start: [f64; D],
    step: f64,
    evaluations: usize,
    close: f64,
    mut value: impl FnMut(&[f64; D]) -> f64,
) -> ([f64; D], f64) {
    // What has no value is worse than anything that has one.
    let mut at = |point: [f64; D]| {
        let value = value(&point);
        (point, if value.is_nan() { f64::NEG_INFINITY } else { value })
    };
    let mut corners = vec![at(start)];
    for i in 0..D {
        let mut corner = start;
        corner[i] += step;
        corners.push(at(corner));
    }
    let mut spent = D + 1;
    loop {
        corners.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (best, worst) = (corners[0], corners[D]);
        if spent >= evaluations || best.1 - worst.1 < close {
            return best;
        }
        let centre: [f64; D] =
            std::array::from_fn(|i| corners[..D].iter().map(|(point, _)| point[i]).sum::<f64>() / D as f64);
        let along = |by: f64| std::array::from_fn(|i| centre[i] + by * (centre[i] - worst.0[i]));
        let reflected = at(along(1.0));
        spent += 1;
        corners[D] = if reflected.1 > best.1 {
            spent += 1;
            let expanded = at(along(2.0));
            if expanded.1 > reflected.1 { expanded } else { reflected }
        } else if reflected.1 > corners[D - 1].1 {
            reflected
        } else {
            spent += 1;
            let contracted = at(along(if reflected.1 > worst.1 { 0.5 } else { -0.5 }));
            if contracted.1 > reflected.1.max(worst.1) {
                contracted
            } else {
                spent += D;
                for corner in &mut corners[1..] {
                    *corner = at(std::array::from_fn(|i| 0.5 * (corner.0[i] + best.0[i])));
                }
                continue;
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_curved_ridge_is_found() {
        let ridge = |[x, y]: &[f64; 2]| -(1.0 - x).powi(2) - 20.0 * (y - x * x).powi(2);
        let ([x, y], value) = simplex([-1.0, 1.5], 0.5, 300, 1e-12, ridge);
        assert!((x - 1.0).abs() < 1e-3 && (y - 1.0).abs() < 1e-3 && value > -1e-6, "{x} {y} {value}");
    }

    #[test]
    fn what_has_no_value_is_left() {
        let cliff = |[x]: &[f64; 1]| if *x > 2.0 { f64::NAN } else { *x };
        let ([x], _) = simplex([0.0], 1.0, 80, 1e-9, cliff);
        assert!((x - 2.0).abs() < 0.01, "{x}");
    }
}
