//! The `KEY=VALUE` arguments of a function, for `--help` and messages.

use std::fmt::Write;

use crate::config::{Key, Keys};
use crate::functions::Function;

impl Keys {
    /// The explanation of the arguments in `--help`.
    pub(super) fn help(self) -> String {
        match self {
            Self::None => {
                "Not taken: the functionConfig has structure, give --config FILE".to_owned()
            }
            Self::Any(help) => help.to_owned(),
            Self::These(keys) => {
                let mut help = "The functionConfig as the data of a ConfigMap:".to_owned();
                for key in keys {
                    // Writing to a String never fails.
                    let _ = write!(help, "\n{}: {}", key.usage(), key.help);
                }
                help
            }
        }
    }
}

impl Key {
    /// `key=word|word`, the default first.
    fn usage(&self) -> String {
        format!("{}={}", self.name, self.words.join("|"))
    }
}

/// The error for an argument that is not `KEY=VALUE`; it names the flags for files and directories.
pub(super) fn not_a_pair(function: &Function, argument: &str) -> String {
    let mut flags = "--package DIR".to_owned();
    for role in function.roles {
        let _ = write!(flags, ", --{role} PATH");
    }
    format!(
        "expected KEY=VALUE, found `{argument}`; files and directories are given by flags: {flags}"
    )
}
