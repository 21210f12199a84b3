//! How text is formatted: indentation, sequence style, line break, JSON.

/// The format of new text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// Columns of indentation per level of mappings.
    pub(super) step: usize,
    /// Whether sequences are indented below their key (`wide`) or not (`compact`).
    pub(super) wide: bool,
    /// Columns from a dash to its content.
    pub(super) dash: usize,
    pub(super) newline: &'static str,
    /// Whether flow style is JSON.
    pub(super) json: Json,
    /// Whether JSON that has several lines in its source keeps them. They get the indentation of the line in which the
    /// text begins.
    pub(super) json_lines: bool,
    /// Width of the white space in the blank lines below and before a comment there. A block scalar that is not
    /// indented deeper would include those lines in its text.
    pub(super) indent_below: usize,
    /// Where block scalars with `+` are written.
    pub(super) keep_chomping: KeepChomping,
    /// Indentation of the lines of the block scalar that is replaced.
    pub(super) body: Option<usize>,
}

impl Format {
    /// The format of a new document, as kubectl and kpt write one.
    pub(super) const DEFAULT: Self = Self {
        step: 2,
        wide: false,
        dash: 2,
        newline: "\n",
        json: Json::No,
        json_lines: false,
        indent_below: 0,
        keep_chomping: KeepChomping::Nowhere,
        body: None,
    };
}

/// Where block scalars with `+` are written, which include the blank lines below them. A string that would need one
/// elsewhere is double-quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeepChomping {
    Nowhere,
    /// Above another entry or item of the new content.
    Within,
    /// At the end of the new content too, because a line with text follows, or nothing.
    Everywhere,
}

impl KeepChomping {
    /// The setting for an entry or item of a collection.
    pub(super) fn of_part(self, is_last: bool) -> Self {
        match self {
            Self::Within if !is_last => Self::Everywhere,
            same => same,
        }
    }
}

/// Whether flow style is JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Json {
    /// Strings are plain where they can be.
    No,
    /// Keys and strings are in double quotes.
    Quoted,
    /// The document is JSON, whose keys are strings.
    Document,
}

/// What the content belongs to, with the column of the key or dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The document, with the column of its root.
    Root(usize),
    Key(usize),
    Dash(usize),
}

impl Owner {
    pub(super) fn column(self) -> usize {
        match self {
            Self::Root(column) | Self::Key(column) | Self::Dash(column) => column,
        }
    }

    /// Column of a collection that belongs to this owner.
    pub(super) fn child(self, sequence: bool, format: &Format) -> usize {
        match self {
            Self::Root(column) => column,
            Self::Key(column) if sequence && !format.wide => column,
            Self::Key(column) => column + format.step,
            Self::Dash(column) => column + format.dash,
        }
    }
}
