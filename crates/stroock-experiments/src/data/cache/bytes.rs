//! Numbers and lists as bytes, least significant first, and back.

/// Appends numbers and lists.
#[derive(Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn length(&mut self, value: usize) {
        self.bytes.extend((value as u64).to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// A length and as many bytes.
    pub fn block(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.bytes.extend(bytes);
    }

    pub fn f64s(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.bytes.extend(value.to_le_bytes()));
    }

    pub fn f32s(&mut self, values: impl IntoIterator<Item = f32>) {
        values.into_iter().for_each(|value| self.bytes.extend(value.to_le_bytes()));
    }

    /// Eight to a byte, the first one least significant.
    pub fn bits(&mut self, bits: &[bool]) {
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.bytes.extend(bits.chunks(8).map(byte));
    }
}

/// Takes numbers and lists away; `None` where there are not as many bytes.
pub(super) struct Reader<'a> {
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(count)?;
        self.bytes = tail;
        Some(head)
    }

    pub fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub fn length(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    pub fn f64s(&mut self, count: usize) -> Option<Vec<f64>> {
        let bytes = self.take(count.checked_mul(8)?)?;
        Some(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    pub fn f32s(&mut self, count: usize) -> Option<impl Iterator<Item = f32> + use<'a>> {
        let bytes = self.take(count.checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)))
    }

    pub fn bits(&mut self, count: usize) -> Option<Vec<bool>> {
        let bytes = self.take(count.div_ceil(8))?;
        Some((0..count).map(|place| bytes[place / 8] >> (place % 8) & 1 == 1).collect())
    }
}
