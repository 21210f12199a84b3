//! From a text to its tree: by the line scanner, else by the general parser.

use super::error::ParseError;
use super::parser;
use super::scan::{self, Checker, TreeBuilder};
use super::tree::{NONE, ParseOptions, Reader, Tree};

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

    /// Checks that a text can be read, and makes no tree of it if the line scanner reads it.
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub(crate) fn check(text: &str, options: ParseOptions) -> Result<(), ParseError> {
        let mut checker = Checker::new(text, options.depth);
        let is_known = scan::IN_USE && text.len() < NONE as usize;
        if is_known && scan::scan(text, &mut checker).is_ok() {
            return Ok(());
        }
        Self::parse_general(text, options).map(drop)
    }

    /// Reads by the line scanner alone; `None` where it leaves the text to the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        Self::build(text, options, TreeBuilder::new(text, options.depth))
    }

    /// As [`Tree::parse`], for a text that the line scanner took before, as a whole or as part of another: that a key is no
    /// alias and no merge key, and is not there twice, is known.
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub(crate) fn parse_again(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        let builder = TreeBuilder::with_known_keys(text, options.depth);
        let tree = match Self::build(text, options, builder) {
            Some(tree) => tree,
            None => return Self::parse_general(text, options),
        };
        debug_assert!(
            Self::parse_fast(text, options).as_ref() == Some(&tree),
            "{text}"
        );
        Ok(tree)
    }

    fn build(text: &str, options: ParseOptions, mut builder: TreeBuilder<'_>) -> Option<Self> {
        if text.len() >= NONE as usize {
            return None;
        }
        scan::scan(text, &mut builder).ok()?;
        let mut tree = builder.finish();
        tree.reader = Reader::Scanner;
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
