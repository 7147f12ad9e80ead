//! How the frames of a batch are cut into groups that go through the layers together.

/// Vectors that a whole group fills.
pub(super) const WHOLE: usize = 2;

/// Parts that a batch is halved into before its groups follow each other: enough to spread over threads.
const PARTS: usize = 64;

/// Consecutive frames, in units of as many as stand in one vector.
///
/// A batch is halved, and the halves again, so that two threads have the same amount of work: a half may end with a
/// group of a single vector, and its own halves are cut between whole groups. How it is cut depends on the number of
/// frames and the width of a vector alone, and so do sums over the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Frames.
    pub frames: usize,
    /// Frames in a vector.
    width: usize,
    /// Units that a part may have without being halved.
    largest: usize,
    /// Whether a cut may leave single vectors on both sides.
    first: bool,
}

impl Part {
    /// All frames of a batch, in vectors of `width` lanes.
    pub fn whole(frames: usize, width: usize) -> Self {
        let largest = frames.div_ceil(width).div_ceil(PARTS).next_multiple_of(WHOLE);
        // Runs of fewer than eight numbers cannot be brought into lanes.
        Self { frames, width, largest, first: width >= 8 }
    }

    /// The halves, or `None` where the part is small enough.
    pub fn halves(self) -> Option<(Self, Self)> {
        let units = self.frames.div_ceil(self.width);
        if units <= self.largest {
            return None;
        }
        let middle = units.div_ceil(2);
        let middle = if self.first { middle } else { middle.next_multiple_of(WHOLE) };
        let frames = middle * self.width;
        let half = Self { first: false, ..self };
        Some((Self { frames, ..half }, Self { frames: self.frames - frames, ..half }))
    }

    /// Its groups, as numbers of frames and of vectors.
    pub fn groups(self) -> impl Iterator<Item = (usize, usize)> {
        let mut left = self.frames;
        std::iter::from_fn(move || {
            let frames = left.min(WHOLE * self.width);
            left -= frames;
            let vectors = if frames <= self.width && self.width >= 8 { 1 } else { WHOLE };
            (frames > 0).then_some((frames, vectors))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(part: Part) -> Vec<Part> {
        match part.halves() {
            None => vec![part],
            Some((a, b)) => [leaves(a), leaves(b)].concat(),
        }
    }

    #[test]
    fn parts_hold_all_frames_and_only_their_ends_are_single_vectors() {
        for width in [4, 8, 16] {
            for frames in (1..400).chain([3200, 100_003]) {
                let parts = leaves(Part::whole(frames, width));
                assert_eq!(parts.iter().map(|part| part.frames).sum::<usize>(), frames);
                let groups: Vec<_> = parts.iter().flat_map(|part| part.groups()).collect();
                assert_eq!(groups.iter().map(|group| group.0).sum::<usize>(), frames);
                assert!(groups.iter().all(|&(frames, vectors)| frames <= vectors * width));
                assert!(groups.iter().filter(|&&(_, vectors)| vectors == 1).count() <= 2);
                assert!(parts.len() <= 2 * PARTS);
            }
        }
    }

    #[test]
    fn the_first_halves_are_equal() {
        let (a, b) = Part::whole(352, 16).halves().unwrap();
        assert_eq!((a.frames, b.frames), (176, 176));
    }
}
