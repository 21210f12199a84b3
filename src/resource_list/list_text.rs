//! The text of a ResourceList on its way out.

use std::borrow::Cow;

use super::packed_text::PackedText;
use crate::text::Text;

/// The text of a ResourceList in pieces. They are slices of its input and new texts.
#[derive(Debug, Default)]
pub struct ListText {
    /// The wrapper and the items.
    pub(super) texts: Vec<Text>,
    /// The items behind them, which are unpacked one at a time.
    pub(super) appended: Vec<PackedText>,
    /// The wrapper behind the items.
    pub(super) behind: Vec<Text>,
}

impl From<Vec<Text>> for ListText {
    fn from(texts: Vec<Text>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }
}

impl ListText {
    /// The pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        fn slices(texts: &[Text]) -> impl Iterator<Item = Cow<'_, str>> {
            texts.iter().map(|text| Cow::Borrowed(&**text))
        }
        let appended = self.appended.iter().map(|text| Cow::Owned(text.unpack()));
        slices(&self.texts)
            .chain(appended)
            .chain(slices(&self.behind))
    }
}
