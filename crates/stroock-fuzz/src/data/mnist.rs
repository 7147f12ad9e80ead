//! Digits in the idx format.

use stroock_experiments::data::mnist::Digits;

use crate::pieces::pieces;
use crate::scratch::FOLDER;

/// The input has two files: images and labels.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let [mut images, mut labels] = [&[][..]; 2];
        for (kind, content) in pieces(data) {
            *if kind % 2 == 0 { &mut images } else { &mut labels } = content;
        }
        let (images, labels) = (folder.write("images", images), folder.write("labels", labels));
        let Ok(digits) = Digits::read(&images, &labels) else { return };
        let threes = digits.threes();
        let _ = digits.dataset(&threes);
        let _ = digits.dataset(&[0, usize::MAX]);
    });
}
