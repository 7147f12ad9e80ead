//! Latent paths in three directions.

use crate::ReportError;
use crate::error::{length, ordered};

/// Most points of all paths on the page; more would make turning the sphere slow.
const MOST: usize = 24_000;
/// Fewest points of a path that still show its shape.
const FEWEST: usize = 40;

/// Latent paths in R^3, or projected to three directions of a larger space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatentPaths {
    /// In sentences, the latent space, how the three directions were chosen, and how much of the variance they
    /// hold; empty to say nothing.
    pub directions: String,
    /// Groups of paths that the reader can show one by one or all at once, such as the series.
    pub groups: Vec<PathGroup>,
}

/// Paths that belong together, such as posterior draws for one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathGroup {
    /// Name of the group.
    pub name: String,
    /// Times of the points, in order, `[T]`.
    pub times: Vec<f64>,
    /// The paths, each of them `[T, 3]`, on the unit sphere or, if projected, inside of it.
    pub paths: Vec<Vec<[f32; 3]>>,
}

/// Paths as they stand on the page.
pub(crate) struct DrawnPaths {
    /// Groups with something in them, thinned.
    pub groups: Vec<PathGroup>,
    /// Paths that were left out because they are not finite.
    pub lost: usize,
    /// Paths that were left out because there are too many.
    pub dropped: usize,
    /// Whether points lie inside the ball, not on its surface.
    pub inside: bool,
}

impl LatentPaths {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        for (index, group) in self.groups.iter().enumerate() {
            let field = format!("{field}.groups[{index}]");
            let times = format!("{field}.times");
            ordered(&times, &group.times)?;
            if let Some(place) = group.times.iter().position(|time| !time.is_finite()) {
                let value = group.times[place];
                let requirement = "a finite number";
                return Err(ReportError::Invalid { field: format!("{times}[{place}]"), value, requirement });
            }
            for (which, path) in group.paths.iter().enumerate() {
                let field = format!("{field}.paths[{which}]");
                length(field.clone(), path.len(), times.clone(), group.times.len())?;
                if let Some(place) = path.iter().position(|point| norm(point) > 1.01) {
                    let requirement = "a point whose norm is at most 1";
                    let (field, value) = (format!("|{field}[{place}]|"), norm(&path[place]));
                    return Err(ReportError::Invalid { field, value, requirement });
                }
            }
        }
        Ok(())
    }

    /// What is drawn: finite paths, with as many points as a page can turn smoothly.
    pub(crate) fn drawn(&self) -> DrawnPaths {
        let finite = |path: &&Vec<[f32; 3]>| path.iter().flatten().all(|x| x.is_finite());
        let all: usize = self.groups.iter().map(|group| group.paths.len()).sum();
        let groups = || self.groups.iter().filter(|group| !group.times.is_empty());
        let valid: usize = groups().map(|group| group.paths.iter().filter(finite).count()).sum();
        let most = (MOST / valid.max(1)).max(FEWEST);
        // With too many paths each group gives the same share of its own.
        let share = (MOST as f64 / (FEWEST * valid.max(1)) as f64).min(1.0);
        let mut drawn = DrawnPaths { groups: Vec::new(), lost: all - valid, dropped: 0, inside: false };
        for group in groups() {
            let paths: Vec<&Vec<[f32; 3]>> = group.paths.iter().filter(finite).collect();
            let count = ((paths.len() as f64 * share).ceil() as usize).min(paths.len());
            drawn.dropped += paths.len() - count;
            let places = evenly(group.times.len(), most);
            let pick = |path: &&Vec<[f32; 3]>| places.iter().map(|&place| path[place]).collect();
            let paths: Vec<Vec<[f32; 3]>> = paths[..count].iter().map(pick).collect();
            drawn.inside |= paths.iter().flatten().any(|point| norm(point) < 0.99);
            if !paths.is_empty() {
                let times = places.iter().map(|&place| group.times[place]).collect();
                drawn.groups.push(PathGroup { name: group.name.clone(), times, paths });
            }
        }
        drawn
    }
}

fn norm(point: &[f32; 3]) -> f64 {
    point.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

/// At most `most` places out of `count`, evenly, with both ends.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    let kept = count.min(most.max(2));
    (0..kept).map(|index| if kept < 2 { 0 } else { index * (count - 1) / (kept - 1) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(paths: usize, times: usize, radius: f32) -> PathGroup {
        let times: Vec<f64> = (0..times).map(|time| time as f64).collect();
        PathGroup { name: "a".into(), paths: vec![vec![[radius, 0.0, 0.0]; times.len()]; paths], times }
    }

    #[test]
    fn many_long_paths_are_thinned_with_their_ends() {
        let paths =
            LatentPaths { groups: vec![group(3000, 500, 1.0), group(0, 3, 1.0)], ..Default::default() };
        let drawn = paths.drawn();
        let [only] = &drawn.groups[..] else { panic!("empty groups are left out") };
        assert!(only.paths.len() * only.times.len() <= MOST && only.times.len() == FEWEST);
        assert_eq!((only.times[0], only.times[FEWEST - 1]), (0.0, 499.0));
        assert_eq!(drawn.dropped, 3000 - only.paths.len());
        assert!(!drawn.inside);
    }

    #[test]
    fn projected_paths_are_known_by_their_norm() {
        let paths = LatentPaths { groups: vec![group(1, 5, 0.6)], ..Default::default() };
        assert!(paths.drawn().inside);
        let paths = LatentPaths { groups: vec![group(1, 5, 1.2)], ..Default::default() };
        assert!(matches!(paths.check("paths"), Err(ReportError::Invalid { .. })));
    }

    #[test]
    fn paths_that_are_not_finite_are_counted() {
        let mut bad = group(3, 4, 1.0);
        bad.paths[1][2][0] = f32::NAN;
        let paths = LatentPaths { groups: vec![bad], ..Default::default() };
        assert!(paths.check("paths").is_ok());
        assert_eq!((paths.drawn().lost, paths.drawn().groups[0].paths.len()), (1, 2));
    }
}
