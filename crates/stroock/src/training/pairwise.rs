//! Sums of vectors in an order that does not depend on who has which of them.
//!
//! Floating-point sums depend on their order. Here it is that of a binary tree over the chunks of a batch,
//!
//! ```text
//! s(a, b) = s(a, m) + s(m, b),   m = a + floor((b - a) / 2),   s(a, a + 1) = the vector of chunk a,
//! ```
//!
//! whose error grows with the logarithm of the number of chunks. A process that has neighbouring chunks can sum the whole
//! nodes of the tree among them by itself: two halves of a batch are one vector each.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};

use super::world::{World, WorldError, share};

/// A sum that is under way: nodes of the tree over `0..chunks`, in their order.
#[derive(Clone, Debug)]
pub(super) struct PairwiseSum {
    chunks: usize,
    nodes: Vec<(Range<usize>, Vec<f32>)>,
}

impl PairwiseSum {
    /// A sum over so many chunks, of which none is there.
    pub fn new(chunks: usize) -> Self {
        Self { chunks, nodes: Vec::new() }
    }

    /// Takes in the vector of a node, which comes after all that are there, and adds up what can be.
    pub fn push(&mut self, node: Range<usize>, vector: Vec<f32>) {
        let (mut node, mut vector) = (node, vector);
        // A node that begins with another node and ends with a third one has them as its halves.
        while let Some((before, _)) = self.nodes.last()
            && is_node(self.chunks, &(before.start..node.end))
            && let Some((before, mut sum)) = self.nodes.pop()
        {
            sum.iter_mut().zip(&vector).for_each(|(sum, entry)| *sum += entry);
            (node, vector) = (before.start..node.end, sum);
        }
        self.nodes.push((node, vector));
    }

    /// The sum over all chunks, `length` entries, when every process has pushed its [share] of them.
    ///
    /// Each process sums a part of the entries of all nodes, and then tells the others.
    pub fn over(mut self, world: &dyn World, length: usize) -> Result<Vec<f32>, WorldError> {
        let size = world.size();
        if size == 1 {
            return Ok(self.nodes.pop().map(|(_, sum)| sum).unwrap_or_default());
        }
        let own: Vec<Range<usize>> = (0..size).map(|rank| share(length, size, rank)).collect();
        let nodes: Vec<Vec<Range<usize>>> =
            (0..size).map(|rank| nodes_of(self.chunks, share(self.chunks, size, rank))).collect();
        let here = world.rank();
        let width = own[here].len();
        let bytes = |entries: usize| entries * size_of::<f32>();

        let parts: Vec<f32> = own
            .iter()
            .flat_map(|entries| self.nodes.iter().flat_map(|(_, vector)| &vector[entries.clone()]).copied())
            .collect();
        let sent: Vec<usize> = own.iter().map(|entries| bytes(self.nodes.len() * entries.len())).collect();
        let received: Vec<usize> = nodes.iter().map(|nodes| bytes(nodes.len() * width)).collect();
        let mut arrived = vec![0.0_f32; nodes.iter().flatten().count() * width];
        world.all_to_all(cast_slice(&parts), &sent, cast_slice_mut(&mut arrived), &received)?;

        let mut sum = Self::new(self.chunks);
        for (index, node) in nodes.into_iter().flatten().enumerate() {
            sum.push(node, arrived[index * width..(index + 1) * width].to_vec());
        }
        let part = sum.nodes.pop().map(|(_, sum)| sum).unwrap_or_default();
        let lengths: Vec<usize> = own.iter().map(|entries| bytes(entries.len())).collect();
        let mut all = vec![0.0_f32; length];
        world.all_gather(cast_slice(&part), &lengths, cast_slice_mut(&mut all))?;
        Ok(all)
    }
}

/// Whether a range is a node of the tree over `0..chunks`.
fn is_node(chunks: usize, range: &Range<usize>) -> bool {
    let mut node = 0..chunks;
    while node != *range && node.len() > 1 {
        let middle = node.start + node.len() / 2;
        node = match range.start < middle {
            true => node.start..middle,
            false => middle..node.end,
        };
    }
    node == *range
}

/// The largest nodes of the tree over `0..chunks` among some neighbouring chunks, in their order.
fn nodes_of(chunks: usize, among: Range<usize>) -> Vec<Range<usize>> {
    let mut sum = PairwiseSum::new(chunks);
    among.for_each(|chunk| sum.push(chunk..chunk + 1, Vec::new()));
    sum.nodes.into_iter().map(|(node, _)| node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula of the module, literally.
    fn by_formula(vectors: &[f32]) -> f32 {
        match vectors {
            [one] => *one,
            _ => {
                let (left, right) = vectors.split_at(vectors.len() / 2);
                by_formula(left) + by_formula(right)
            }
        }
    }

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|i| (i as f32 * 1.7).sin() * 10_f32.powi(i as i32 % 5)).collect()
    }

    #[test]
    fn chunks_that_come_one_by_one_are_summed_as_the_tree_says() {
        for count in 1..40 {
            let numbers = numbers(count);
            let mut sum = PairwiseSum::new(count);
            numbers.iter().enumerate().for_each(|(i, &x)| sum.push(i..i + 1, vec![x]));
            assert_eq!(sum.nodes.len(), 1);
            assert_eq!(sum.nodes[0].1[0].to_bits(), by_formula(&numbers).to_bits(), "{count}");
        }
    }

    #[test]
    fn nodes_of_all_shares_give_the_sum_of_the_tree() {
        for count in 1..26 {
            let numbers = numbers(count);
            for members in 1..=count {
                let mut all = PairwiseSum::new(count);
                for member in 0..members {
                    let mut own = PairwiseSum::new(count);
                    share(count, members, member).for_each(|i| own.push(i..i + 1, vec![numbers[i]]));
                    own.nodes.into_iter().for_each(|(node, sum)| all.push(node, sum));
                }
                assert_eq!(all.nodes.len(), 1);
                assert_eq!(all.nodes[0].1[0].to_bits(), by_formula(&numbers).to_bits(), "{count} {members}");
            }
        }
    }

    #[test]
    fn halves_and_quarters_are_one_vector_each() {
        assert_eq!([0..6, 3..6, 6..9].map(|chunks| nodes_of(12, chunks)).concat(), [0..6, 3..6, 6..9]);
        assert_eq!(nodes_of(12, 4..8), [4..6, 6..7, 7..8]);
    }
}
