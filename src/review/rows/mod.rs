//! The table of all rules, by class. To add one, add a row; a condition that [`FiresWhen`](super::row::FiresWhen) has no word for is a
//! function next to the row. `UPDATE=1 cargo test --lib review` writes them into `docs/review.md`.

mod access;
mod admission;
mod definitions;
mod immutable;
mod network;
mod pods;
mod workloads;

use super::row::Row;

/// All rules, with the names of their classes.
pub(crate) const TABLES: [(&str, &[Row]); 7] = [
    ("Immutable fields", immutable::ROWS),
    ("Pods", pods::ROWS),
    ("Workloads", workloads::ROWS),
    ("Roles and bindings", access::ROWS),
    ("Networks", network::ROWS),
    ("Admission", admission::ROWS),
    ("Custom resources", definitions::ROWS),
];
