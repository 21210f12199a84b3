//! Any function on any package with any config and supplied inputs: an error, or a package that parses and that the
//! function takes again. After an error result the items are as they came.

#![no_main]

#[path = "../grammar.rs"]
mod grammar;

use std::path::PathBuf;
use std::sync::LazyLock;

use krm_core::config::Config;
use krmv::FUNCTIONS;
use krm_function::{Inputs, Items, SuppliedInput, run};
use krm_yaml::OwnedDocument;
use krm_function::supplied::CatalogSource;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// A package in two revisions.
static CATALOG: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("krm-variants-fuzz-catalog-{}", std::process::id()));
    for revision in ["v1", "v2"] {
        let package = place.join("shop").join(revision);
        std::fs::create_dir_all(&package).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(package.join(name), text).expect("a file");
        write("Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n");
        write("a.yaml", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  revision: {revision} # which\n"));
    }
    place
});

fuzz_target!(|bytes: &[u8]| {
    let _ = one(&mut Unstructured::new(bytes));
});

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    let function = *u.choose(&FUNCTIONS)?;
    let config = grammar::config(u, function.name)?;
    let base = grammar::package(u)?;
    let (local, supplied) = match function.name {
        "render-fleet" => (grammar::owned_packages(u)?, [grammar::fleet(u)?, grammar::fleet(u)?]),
        "expand-variant-set" => (grammar::fleet(u)?, [grammar::fleet(u)?, base]),
        _ => (grammar::edited(u, &base)?, [base.clone(), grammar::edited(u, &base)?]),
    };
    let roles = || {
        let files = supplied.iter().cycle().cloned();
        function.roles.iter().copied().zip(files.map(SuppliedInput::Files)).collect()
    };
    let inputs = || {
        let config = Config::parse(config.clone(), "config").ok();
        let catalogs = match function.name {
            "render-fleet" => vec![CatalogSource { namespace: None, name: "catalog".to_owned(), path: CATALOG.clone() }],
            _ => Vec::new(),
        };
        Inputs { config, catalogs, supplied: roles(), ..Inputs::default() }
    };
    let items = if u.ratio(1, 3)? {
        let items: String = local.iter().map(|(path, text)| item(path, text)).collect();
        Items::ResourceList(format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}"))
    } else {
        Items::Package(local.into_iter().map(|(path, text)| (path, text.into_bytes())).collect())
    };
    let Ok(first) = run(function, inputs(), items.clone()) else {
        return Ok(());
    };
    if first.results.has_errors() {
        assert_eq!(first.items, items, "items are as they came after an error");
        return Ok(());
    }
    if let Items::ResourceList(text) = &first.items {
        OwnedDocument::parse(text.clone()).expect("a ResourceList parses");
    }
    // What was made is read again; names and places may be such that it refuses to work on them.
    let again = run(function, inputs(), first.items.clone());
    if let Err(error) = again {
        let supplied = &supplied;
        panic!("{}: its own output is refused: {error}\nof {items:?}\nand {supplied:#?}\n{:?}", function.name, first.items);
    }
    Ok(())
}

/// A file as an item of a ResourceList.
fn item(path: &str, text: &str) -> String {
    let text = text.replace("metadata:", &format!("metadata:\n  annotations: {{internal.config.kubernetes.io/path: {path}}}"));
    let mut lines = text.lines().map(|line| format!("  {line}\n"));
    let first = lines.next().unwrap_or_default().replacen("  ", "- ", 1);
    format!("{first}{}", lines.collect::<String>())
}
