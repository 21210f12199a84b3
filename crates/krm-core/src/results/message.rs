//! The message of a result, in parts.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What happened, and details that a printer can leave out if it shows them in another way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Message {
    /// What happened, without details.
    pub what: String,
    /// The versions of a conflict, and which of them wins.
    pub details: String,
}

/// The beginning of the details of a conflict.
const VERSIONS: &str = " (original ";

impl Message {
    /// The message of a conflict: its versions as `original 1, local 5, upstream none`, and the outcome.
    pub fn of_conflict(what: String, versions: &str, outcome: &str) -> Self {
        let details = format!(" ({versions}): {outcome}");
        Self { what, details }
    }

    /// Reads a message from emitted results, which have it as one text.
    fn read(mut text: String) -> Self {
        let end = text.rfind(VERSIONS).unwrap_or(text.len());
        let details = text.split_off(end);
        Self {
            what: text,
            details,
        }
    }

    pub(crate) fn has_details(&self) -> bool {
        !self.details.is_empty()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        f.write_str(&self.details)
    }
}

impl From<String> for Message {
    fn from(what: String) -> Self {
        let details = String::new();
        Self { what, details }
    }
}

impl From<&str> for Message {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

impl AddAssign<&str> for Message {
    fn add_assign(&mut self, more: &str) {
        let end = if self.has_details() {
            &mut self.details
        } else {
            &mut self.what
        };
        end.push_str(more);
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut conflict = Message::of_conflict(
            "both changed the value".to_owned(),
            "original 1, local 5, upstream none",
            "kept your value",
        );
        conflict += ", without `b`";
        for message in [conflict, Message::from("merged: 1 changed")] {
            assert_eq!(Message::read(message.to_string()), message);
        }
    }
}
