//! Inputs of several files: each with a number and its length in front.

/// The files of an input: a byte that says which, two that say how long, and the content; what is cut short is what is
/// there.
pub fn pieces(mut data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let ([kind, low, high], rest) = data.split_first_chunk::<3>()?;
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (piece, rest) = rest.split_at(length);
        data = rest;
        Some((*kind, piece))
    })
}

/// An input of these files.
pub fn joined(files: &[(u8, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (kind, content) in files {
        let length = u16::try_from(content.len()).expect("seeds are short");
        all.push(*kind);
        all.extend(length.to_le_bytes());
        all.extend(*content);
    }
    all
}
