//! The lowest point of a function of a few numbers.

/// The simplex search of Nelder and Mead: the best point and its value, after at most so many evaluations.
///
/// A value that is not a number counts as infinitely high. Deterministic.
pub fn minimise(
    mut function: impl FnMut(&[f64]) -> f64,
    start: &[f64],
    step: f64,
    evaluations: usize,
) -> (Vec<f64>, f64) {
    let mut value = |point: &[f64]| {
        let value = function(point);
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let mut simplex = vec![(start.to_vec(), value(start))];
    for place in 0..start.len() {
        let mut point = start.to_vec();
        point[place] += step;
        let height = value(&point);
        simplex.push((point, height));
    }
    let count = start.len();
    let mut done = simplex.len();
    while count > 0 && done < evaluations {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (simplex[0].1, simplex[count].1);
        let size = simplex[1..].iter().flat_map(|(point, _)| point.iter().zip(&simplex[0].0));
        let size = size.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if (worst - best).abs() <= 1e-9 * (1.0 + best.abs()) && size < 1e-3 {
            break;
        }
        let centre: Vec<f64> = (0..count)
            .map(|place| simplex[..count].iter().map(|(point, _)| point[place]).sum::<f64>() / count as f64)
            .collect();
        let towards = |factor: f64, from: &[f64]| -> Vec<f64> {
            centre.iter().zip(from).map(|(centre, from)| centre + factor * (from - centre)).collect()
        };
        let reflected = towards(-1.0, &simplex[count].0);
        let height = value(&reflected);
        done += 1;
        if height < best {
            let further = towards(-2.0, &simplex[count].0);
            let lower = value(&further);
            done += 1;
            simplex[count] = if lower < height { (further, lower) } else { (reflected, height) };
            continue;
        }
        if height < simplex[count - 1].1 {
            simplex[count] = (reflected, height);
            continue;
        }
        let (from, bound) = match height < worst {
            true => (reflected, height),
            false => (simplex[count].0.clone(), worst),
        };
        let inside = towards(0.5, &from);
        let lower = value(&inside);
        done += 1;
        if lower < bound {
            simplex[count] = (inside, lower);
            continue;
        }
        let best = simplex[0].0.clone();
        for (point, height) in &mut simplex[1..] {
            point.iter_mut().zip(&best).for_each(|(x, best)| *x = best + 0.5 * (*x - best));
            *height = value(point);
        }
        done += count;
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn a_curved_valley_is_followed_to_its_bottom() {
        let rosenbrock = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let (point, value) = minimise(rosenbrock, &[-1.2, 1.0], 0.5, 2000);
        assert!(value < 1e-6 && (point[0] - 1.0).abs() < 1e-2, "{point:?} {value}");
    }

    #[test]
    fn a_function_without_numbers_and_one_without_arguments_end() {
        assert_eq!(minimise(|_| f64::NAN, &[1.0], 0.5, 50).1, f64::INFINITY);
        assert_eq!(minimise(|_| 3.0, &[], 0.5, 50), (Vec::new(), 3.0));
    }
}
