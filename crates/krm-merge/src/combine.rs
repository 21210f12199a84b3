//! The kinds of values that merge by their parts if both sides changed them.
//!
//! Source: contract, merge-package, Parts.

use krm_core::word_enum;

word_enum! {
    /// A kind of value that has parts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PartsOf {
        /// An image reference: its repository and its version.
        Image = "image",
        /// A list without keys: its elements.
        List = "list",
        /// A text: its lines.
        Text = "text",
        /// A YAML or JSON document in a string: its fields.
        Document = "document",
    }
}

/// The kinds of values that merge by their parts; all by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Combine {
    kinds: [bool; PartsOf::ALL.len()],
}

impl Default for Combine {
    fn default() -> Self {
        let kinds = [true; PartsOf::ALL.len()];
        Self { kinds }
    }
}

impl Combine {
    /// No value merges by its parts.
    pub const NONE: Self = Self {
        kinds: [false; PartsOf::ALL.len()],
    };

    /// Whether values of a kind merge by their parts.
    pub fn has(self, kind: PartsOf) -> bool {
        self.kinds[kind as usize]
    }

    pub(super) fn without(mut self, kind: PartsOf) -> Self {
        self.kinds[kind as usize] = false;
        self
    }

    /// Reads `none`, or kinds with commas between them.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Self::NONE;
        if text == "none" {
            return Ok(found);
        }
        for word in text.split(',').map(str::trim) {
            let kind = PartsOf::ALL.into_iter().find(|kind| kind.as_str() == word);
            let Some(kind) = kind else {
                let expected = PartsOf::ALL.map(PartsOf::as_str).join("`, `");
                return Err(format!(
                    "expected `none`, or some of `{expected}`, found `{word}`"
                ));
            };
            found.kinds[kind as usize] = true;
        }
        Ok(found)
    }
}

/// The field `combine` of a config.
#[derive(Debug, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum WrittenCombine {
    Word(#[cfg_attr(feature = "schema", schemars(extend("enum" = ["none"])))] String),
    Kinds(
        #[cfg_attr(feature = "schema", schemars(extend("items" = {"enum": PartsOf::ALL.map(PartsOf::as_str)})))]
         Vec<String>,
    ),
}

impl WrittenCombine {
    /// The words as one text, as [`Combine::parse`] reads them.
    pub fn into_text(self) -> String {
        match self {
            Self::Word(word) => word,
            Self::Kinds(kinds) if kinds.is_empty() => "none".to_owned(),
            Self::Kinds(kinds) => kinds.join(","),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read() {
        let kinds = |text: &str| {
            let combine = Combine::parse(text)?;
            let has = PartsOf::ALL.into_iter().filter(|kind| combine.has(*kind));
            Ok::<_, String>(has.map(PartsOf::as_str).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(kinds("none").as_deref(), Ok(""));
        assert_eq!(kinds("list, image").as_deref(), Ok("image list"));
        let expected =
            "expected `none`, or some of `image`, `list`, `text`, `document`, found `lists`";
        assert_eq!(kinds("image,lists"), Err(expected.to_owned()));
        assert_eq!(
            Combine::parse("image,list,text,document"),
            Ok(Combine::default())
        );
    }
}
