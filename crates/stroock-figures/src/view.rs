//! From where a globe or a box is looked at.

/// A vector in R^3.
pub(crate) type Vector = [f64; 3];

/// The directions of an eye that looks at the origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    right: Vector,
    up: Vector,
    /// From the origin to the eye.
    pub towards: Vector,
}

impl View {
    /// The view from above the point of this longitude and latitude, in degrees.
    pub fn over(longitude: f64, latitude: f64) -> View {
        let (sin_l, cos_l) = longitude.to_radians().sin_cos();
        let (sin_p, cos_p) = latitude.to_radians().sin_cos();
        View {
            right: [-sin_l, cos_l, 0.0],
            up: [-sin_p * cos_l, -sin_p * sin_l, cos_p],
            towards: [cos_p * cos_l, cos_p * sin_l, sin_p],
        }
    }

    /// To the right, upwards, and towards the eye.
    pub fn project(&self, point: Vector) -> Vector {
        [self.right, self.up, self.towards].map(|axis| (0..3).map(|i| axis[i] * point[i]).sum())
    }
}

/// The point at a share of the way from `a` to `b` along the straight line, pushed out to the sphere.
pub(crate) fn between(a: Vector, b: Vector, share: f64) -> Vector {
    let point = [0, 1, 2].map(|axis| a[axis] + share * (b[axis] - a[axis]));
    unit(point).unwrap_or(b)
}

/// The vector with norm 1; `None` for one that is almost 0.
pub(crate) fn unit(vector: Vector) -> Option<Vector> {
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    (norm > 1e-9).then(|| vector.map(|x| x / norm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_faces_the_eye_and_north_is_up() {
        let view = View::over(30.0, 40.0);
        let (l, p) = (30f64.to_radians(), 40f64.to_radians());
        let [x, y, z] = view.project([p.cos() * l.cos(), p.cos() * l.sin(), p.sin()]);
        assert!(x.abs() < 1e-12 && y.abs() < 1e-12 && (z - 1.0).abs() < 1e-12);
        assert!(view.project([0.0, 0.0, 1.0])[1] > 0.0);
        let east = view.project([0.0, 1.0, 0.0]);
        assert!(east[0] > 0.0);
    }

    #[test]
    fn points_between_stay_on_the_sphere() {
        let point = between([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 0.25);
        assert!((point.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(between([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.5), [-1.0, 0.0, 0.0]);
    }
}
