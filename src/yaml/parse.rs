//! From a text to its tree: by the line scanner, else by the general parser.

use super::error::ParseError;
use super::parser;
use super::scan::{self, TreeBuilder};
use super::tree::{NONE, ParseOptions, Tree};

impl Tree {
    /// Reads every document of a text.
    ///
    /// # Errors
    /// Where the text is not YAML, has a key twice in one mapping, nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH), has a line that ends in CR alone, or is longer than 4 GiB.
    pub fn parse(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        let fast = scan::IN_USE.then(|| Self::parse_fast(text, options));
        match fast.flatten() {
            Some(tree) => Ok(tree),
            None => Self::parse_general(text, options),
        }
    }

    /// Reads by the line scanner alone; `None` where it leaves the text to the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        if text.len() >= NONE as usize {
            return None;
        }
        let mut builder = TreeBuilder::new(text, options.depth);
        scan::scan(text, &mut builder).ok()?;
        let mut tree = builder.finish();
        tree.within = options.depth > 0;
        Some(tree)
    }

    /// Reads by the general parser alone; gives the same tree as [`Tree::parse`].
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub fn parse_general(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        let mut tree = parser::parse(text, options)?;
        tree.within = options.depth > 0;
        Ok(tree)
    }
}
