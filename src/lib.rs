//! KRM functions that make and keep up to date many variants of a configuration package.

pub mod yaml;
