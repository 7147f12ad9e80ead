//! Quantiles of more numbers than fit into memory.

/// Bits that the numbers of the first pass are told apart by: sign, exponent, and two bits more.
const FIRST: u32 = 14;
/// Bits more in every further pass.
const NEXT: u32 = 10;

/// Quantiles of numbers that are gone through several times, in bounded memory: the same to the last bit as
/// [`quantile`](crate::quantile()) of the sorted numbers.
///
/// As long as there are at most `most` numbers they are kept, and one pass is enough. Otherwise the first pass counts the
/// numbers that share their leading bits, which for doubles in the order of their size are sign, exponent and mantissa;
/// every further one splits the cells that hold a wanted rank, until these hold few enough numbers to be kept.
///
/// ```
/// use stroock_series::Selection;
/// let numbers: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7919 % 10_007)).collect();
/// let mut selection = Selection::new(&[0.5], 100);
/// while selection.wants_more() {
///     numbers.iter().for_each(|&x| selection.add(x));
///     selection.end_pass();
/// }
/// assert_eq!(selection.quantiles().unwrap()[0], 5004.5);
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    shares: Vec<f64>,
    most: usize,
    stage: Stage,
    count: u64,
}

#[derive(Clone, Debug)]
enum Stage {
    /// The first pass: the numbers while they are few, and how many have the same leading bits.
    First { kept: Vec<f64>, cells: Vec<u64> },
    /// Cells by their leading bits, each split by the next ones.
    Split { bits: u32, cells: Vec<Cell> },
    /// Cells whose numbers are kept.
    Keep { bits: u32, cells: Vec<Cell> },
    /// The numbers at the wanted ranks.
    Done { found: Vec<(u64, f64)> },
}

/// Numbers with the same leading bits.
#[derive(Clone, Debug)]
struct Cell {
    prefix: u64,
    /// Numbers in it, and numbers below it.
    count: u64,
    below: u64,
    /// How many have each of the next bits.
    parts: Vec<u64>,
    kept: Vec<f64>,
}

impl Selection {
    /// Wants the quantiles of the given shares, and keeps at most `most` numbers, save for equal ones.
    pub fn new(shares: &[f64], most: usize) -> Self {
        let stage = Stage::First { kept: Vec::new(), cells: Vec::new() };
        Self { shares: shares.to_vec(), most, stage, count: 0 }
    }

    /// Whether another pass is needed.
    pub fn wants_more(&self) -> bool {
        !matches!(self.stage, Stage::Done { .. })
    }

    /// Numbers of a pass.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next number of a pass.
    #[inline]
    pub fn add(&mut self, x: f64) {
        match &mut self.stage {
            Stage::First { kept, cells } => {
                self.count += 1;
                if cells.is_empty() {
                    kept.push(x);
                    if kept.len() > self.most {
                        cells.resize(1 << FIRST, 0);
                        kept.drain(..).for_each(|x| cells[(key(x) >> (64 - FIRST)) as usize] += 1);
                    }
                } else {
                    cells[(key(x) >> (64 - FIRST)) as usize] += 1;
                }
            }
            Stage::Split { bits, cells } => {
                let key = key(x);
                if let Some(cell) = find(cells, key >> (64 - *bits)) {
                    cell.parts[(key >> (64 - *bits - NEXT)) as usize & ((1 << NEXT) - 1)] += 1;
                }
            }
            Stage::Keep { bits, cells } => {
                if let Some(cell) = find(cells, key(x) >> (64 - *bits)) {
                    cell.kept.push(x);
                }
            }
            Stage::Done { .. } => {}
        }
    }

    /// Ends a pass.
    pub fn end_pass(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Done { found: Vec::new() });
        self.stage = match stage {
            Stage::First { mut kept, cells } if cells.is_empty() => {
                kept.sort_unstable_by(f64::total_cmp);
                let number = |rank: u64| Some((rank, *kept.get(rank as usize)?));
                Stage::Done { found: self.ranks().into_iter().filter_map(number).collect() }
            }
            Stage::First { cells, .. } => self.next(FIRST, self.wanted(0, 0, &cells)),
            Stage::Split { bits, cells } => {
                let wanted =
                    cells.iter().flat_map(|cell| self.wanted(cell.prefix << NEXT, cell.below, &cell.parts));
                self.next(bits + NEXT, wanted.collect())
            }
            Stage::Keep { mut cells, .. } => {
                cells.iter_mut().for_each(|cell| cell.kept.sort_unstable_by(f64::total_cmp));
                let number = |rank: u64| {
                    let cell =
                        cells.iter().find(|cell| (cell.below..cell.below + cell.count).contains(&rank))?;
                    Some((rank, *cell.kept.get((rank - cell.below) as usize)?))
                };
                Stage::Done { found: self.ranks().into_iter().filter_map(number).collect() }
            }
            done @ Stage::Done { .. } => done,
        };
    }

    /// The quantiles of the shares; `None` where there is no number, or a pass is missing.
    pub fn quantiles(&self) -> Option<Vec<f64>> {
        let Stage::Done { found } = &self.stage else { return None };
        let at = |rank: u64| found.iter().find(|(known, _)| *known == rank).map(|(_, number)| *number);
        let of_share = |&share: &f64| {
            let (below, above) = self.places(share)?;
            Some(between(at(below)?, at(above)?, share, self.count))
        };
        self.shares.iter().map(of_share).collect()
    }

    /// The ranks that a quantile lies between, as [`quantile`](crate::quantile()) has them.
    fn places(&self, share: f64) -> Option<(u64, u64)> {
        let last = self.count.checked_sub(1)?;
        let place = place(share, self.count);
        Some((place as u64, (place as u64 + 1).min(last)))
    }

    fn ranks(&self) -> Vec<u64> {
        let pairs = self.shares.iter().filter_map(|&share| self.places(share));
        let mut ranks: Vec<u64> = pairs.flat_map(|(below, above)| [below, above]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The parts of a cell that hold a wanted rank.
    fn wanted(&self, prefix: u64, below: u64, parts: &[u64]) -> Vec<Cell> {
        let ranks = self.ranks();
        let mut cells = Vec::new();
        let mut below = below;
        for (part, &count) in parts.iter().enumerate().filter(|(_, count)| **count > 0) {
            if ranks.iter().any(|rank| (below..below + count).contains(rank)) {
                let prefix = prefix + part as u64;
                cells.push(Cell { prefix, count, below, parts: Vec::new(), kept: Vec::new() });
            }
            below += count;
        }
        cells
    }

    /// The next stage with cells of so many leading bits.
    fn next(&self, bits: u32, mut cells: Vec<Cell>) -> Stage {
        cells.sort_by_key(|cell| cell.prefix);
        if cells.iter().map(|cell| cell.count).sum::<u64>() <= self.most as u64 {
            return Stage::Keep { bits, cells };
        }
        if bits + NEXT > 64 {
            // All bits are the same: the numbers of a cell are equal, and need not be kept.
            let number = |rank: u64| {
                let cell = cells.iter().find(|cell| (cell.below..cell.below + cell.count).contains(&rank))?;
                Some((rank, number(cell.prefix << (64 - bits))))
            };
            return Stage::Done { found: self.ranks().into_iter().filter_map(number).collect() };
        }
        cells.iter_mut().for_each(|cell| cell.parts = vec![0; 1 << NEXT]);
        Stage::Split { bits, cells }
    }
}

#[inline]
fn find(cells: &mut [Cell], prefix: u64) -> Option<&mut Cell> {
    cells.iter_mut().find(|cell| cell.prefix == prefix)
}

/// A double as a whole number, in the order of [`f64::total_cmp`].
#[inline]
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The double of a key.
fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The place of a quantile among sorted numbers, counted from 0.
fn place(share: f64, count: u64) -> f64 {
    (share * (count + 1) as f64 - 1.0).max(0.0).min((count - 1) as f64)
}

/// The quantile between the two numbers at its place, as [`quantile`](crate::quantile()) has it.
fn between(low: f64, high: f64, share: f64, count: u64) -> f64 {
    let place = place(share, count);
    let weight = place - place.floor();
    if low == high { low } else { (1.0 - weight) * low + weight * high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;

    fn select(numbers: &[f64], shares: &[f64], most: usize) -> (Option<Vec<f64>>, usize) {
        let mut selection = Selection::new(shares, most);
        let mut passes = 0;
        while selection.wants_more() {
            numbers.iter().for_each(|&x| selection.add(x));
            selection.end_pass();
            passes += 1;
        }
        (selection.quantiles(), passes)
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_numbers() {
        let shares = [0.0, 0.05, 0.25, 0.5, 0.6180339887, 0.95, 1.0];
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let lists: Vec<Vec<f64>> = vec![
            (0..5000).map(|_| random()).collect(),
            (0..5000).map(|_| (50.0 * random()).exp() * random().signum()).collect(),
            (0..5000).map(|i| f64::from(i % 3)).collect(),
            vec![2.5; 5000],
            (0..5000).map(|i| 1.0 + f64::from(i % 7) * f64::EPSILON).collect(),
            (0..5001).map(|_| (1e3 * random()).round()).collect(),
            vec![-0.0, 0.0, 1.0],
        ];
        for numbers in lists {
            let mut sorted = numbers.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let expected: Vec<f64> = shares.iter().map(|&share| quantile(&sorted, share).unwrap()).collect();
            for most in [0, 10, 700, 10_000] {
                let (found, passes) = select(&numbers, &shares, most);
                assert_eq!(found.as_deref(), Some(expected.as_slice()), "{most} of {}", numbers.len());
                assert!(passes <= 7);
                assert!(most < numbers.len() || passes == 1);
            }
        }
        assert_eq!(select(&[], &shares, 10).0, None);
    }
}
