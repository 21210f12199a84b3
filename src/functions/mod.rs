//! The steps: one file per function, each a change to a [`ResourceList`](crate::resource_list::ResourceList).

pub mod set_package_context;
