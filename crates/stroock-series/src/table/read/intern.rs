//! Names that come again and again, as small numbers.

use std::collections::HashMap;
use std::fmt::Write;

/// Names in the order of their first appearance.
///
/// Tables are regular: the same name comes again, or the one that followed the last time. Both are tried before
/// the hash map.
#[derive(Default)]
pub(super) struct Names {
    names: Vec<String>,
    indices: HashMap<Box<[u8]>, u32>,
    /// For each name the one that followed it when it came last.
    followers: Vec<u32>,
    last: u32,
    /// The last name that was a whole number, and where others are written.
    last_integer: Option<(i64, u32)>,
    digits: String,
}

impl Names {
    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Name number `index`.
    pub(super) fn name(&self, index: u32) -> &str {
        self.names.get(index as usize).map_or("", String::as_str)
    }

    /// All names.
    pub(super) fn all(&self) -> &[String] {
        &self.names
    }

    /// The number of a name, which may be new; `None` if it is not UTF-8.
    #[inline]
    pub(super) fn index(&mut self, name: &[u8]) -> Option<u32> {
        let is = |index: u32| self.names.get(index as usize).is_some_and(|known| known.as_bytes() == name);
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
        if let Some(&index) = self.indices.get(name) {
            return Some(index);
        }
        let text = std::str::from_utf8(name).ok()?;
        let index = u32::try_from(self.names.len()).ok()?;
        self.names.push(text.to_owned());
        self.followers.push(0);
        self.indices.insert(name.into(), index);
        Some(index)
    }

    /// Forgets all but the first `count` names.
    pub(super) fn truncate(&mut self, count: usize) {
        for name in self.names.drain(count.min(self.names.len())..) {
            self.indices.remove(name.as_bytes());
        }
        self.followers.truncate(count);
        (self.last, self.last_integer) = (0, None);
    }
}
