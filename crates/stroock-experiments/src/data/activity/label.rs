//! Eleven activities, merged to seven classes.

use serde::{Deserialize, Serialize};

/// The activities by their names in the file, with their classes.
pub const ACTIVITIES: [(&str, u32); 11] = [
    ("walking", 0),
    ("falling", 1),
    ("lying", 2),
    ("lying down", 2),
    ("sitting", 3),
    ("sitting down", 3),
    ("standing up from lying", 4),
    ("standing up from sitting", 4),
    (STANDING_UP_FROM_GROUND, 4),
    ("on all fours", 5),
    ("sitting on the ground", 6),
];

/// The classes.
pub const CLASSES: [&str; 7] =
    ["walking", "falling", "lying", "sitting", "standing up", "on all fours", "sitting on the ground"];

const STANDING_UP_FROM_GROUND: &str = "standing up from sitting on the ground";

/// How activities become classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelList {
    /// By the list of [`ACTIVITIES`].
    #[default]
    Merged,
    /// As the published code does: it spells "standing up from sitting on the ground" in another way than the
    /// file, so that these readings have no label, and rows without a label count as class 0 (walking).
    Misspelt,
}

impl LabelList {
    /// The class of an activity, an index into [`ACTIVITIES`]; `None` where it has no label.
    pub(super) fn class(self, activity: u8) -> Option<u32> {
        let (name, class) = ACTIVITIES[usize::from(activity)];
        (self == LabelList::Merged || name != STANDING_UP_FROM_GROUND).then_some(class)
    }
}
