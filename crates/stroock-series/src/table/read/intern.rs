//! Names that come again and again, as small numbers.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

/// A slot without a name.
const EMPTY: u32 = u32::MAX;

/// Names in the order of their first appearance, in some twenty bytes each beside their text: there may be ten million.
///
/// Tables are regular: the same name comes again, or the one that followed the last time. Both are tried before
/// the hash table.
#[derive(Default)]
pub(super) struct Names {
    /// All names, one behind the other, and where each ends.
    text: String,
    ends: Vec<usize>,
    /// For each name the one that followed it when it came last.
    followers: Vec<u32>,
    last: u32,
    /// The last name that was a whole number, and where others are written.
    last_integer: Option<(i64, u32)>,
    digits: String,
    /// Numbers of names by their hashes, each in the first free slot from its own on; a power of two of them, or none.
    slots: Vec<u32>,
}

impl Names {
    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Name number `index`.
    pub(super) fn name(&self, index: u32) -> &str {
        let index = index as usize;
        let Some(&end) = self.ends.get(index) else { return "" };
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..end]
    }

    /// All names.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|index| self.name(index))
    }

    /// The number of a name, which may be new; `None` if it is not UTF-8.
    #[inline]
    pub(super) fn index(&mut self, name: &[u8]) -> Option<u32> {
        let is = |index: u32| (index as usize) < self.len() && self.name(index).as_bytes() == name;
        if is(self.last) {
            return Some(self.last);
        }
        let follower = self.followers.get(self.last as usize).copied().unwrap_or(0);
        let index = if is(follower) { follower } else { self.look_up(name)? };
        if let Some(follower) = self.followers.get_mut(self.last as usize) {
            *follower = index;
        }
        self.last = index;
        Some(index)
    }

    /// The number of a name that is a whole number; it is written only where it differs from the last one.
    #[inline]
    pub(super) fn index_of_integer(&mut self, name: i64) -> Option<u32> {
        if let Some((last, index)) = self.last_integer
            && last == name
        {
            return Some(index);
        }
        let mut digits = std::mem::take(&mut self.digits);
        digits.clear();
        write!(digits, "{name}").ok()?;
        let index = self.index(digits.as_bytes())?;
        self.digits = digits;
        self.last_integer = Some((name, index));
        Some(index)
    }

    fn look_up(&mut self, name: &[u8]) -> Option<u32> {
        if let Some(slot) = self.slot(name)
            && self.slots[slot] != EMPTY
        {
            return Some(self.slots[slot]);
        }
        let text = std::str::from_utf8(name).ok()?;
        let index = u32::try_from(self.len()).ok().filter(|index| *index != EMPTY)?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.followers.push(0);
        match 2 * self.len() > self.slots.len() {
            true => self.grow(),
            false => self.place(index),
        }
        Some(index)
    }

    /// The slot of a name, or the free one that it would have; `None` without slots.
    fn slot(&self, name: &[u8]) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(name);
        let mut slot = hasher.finish() as usize & mask;
        while self.slots[slot] != EMPTY && self.name(self.slots[slot]).as_bytes() != name {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }

    fn place(&mut self, index: u32) {
        if let Some(slot) = self.slot(self.name(index).as_bytes()) {
            self.slots[slot] = index;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; (4 * self.len()).next_power_of_two()];
        (0..self.len() as u32).for_each(|index| self.place(index));
    }

    /// Forgets all but the first `count` names.
    pub(super) fn truncate(&mut self, count: usize) {
        while self.len() > count {
            // The last one that came is in nobody's way: its slot can be freed without a trace.
            let index = self.len() as u32 - 1;
            if let Some(slot) = self.slot(self.name(index).as_bytes()) {
                self.slots[slot] = EMPTY;
            }
            self.ends.pop();
            self.text.truncate(self.ends.last().copied().unwrap_or(0));
        }
        self.followers.truncate(count);
        (self.last, self.last_integer) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers_also_after_some_are_forgotten() {
        let mut names = Names::default();
        let name = |i: u32| format!("series {}", i * 7919 % 5000);
        for round in 0..2 {
            for i in 0..3000 {
                assert_eq!(names.index(name(i).as_bytes()), Some(i), "round {round}");
                if i == 1500 && round == 0 {
                    let before = names.len();
                    assert_eq!(names.index(b"a fault"), Some(before as u32));
                    assert_eq!(names.index(b"another"), Some(before as u32 + 1));
                    names.truncate(before);
                }
            }
        }
        assert_eq!((names.len(), names.name(2999)), (3000, name(2999).as_str()));
        assert_eq!(names.all().nth(17), Some(name(17).as_str()));
        assert_eq!(names.index(&[0xff]), None);
        assert_eq!(names.name(7000), "");
    }
}
