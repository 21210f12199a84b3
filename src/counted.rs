//! `krmv skip` and `krmv allow`: which releases of upstream count for a package, in its `.krmv.yaml`.

use krm_follow::range;
use krm_yaml::{Content, Editor, OwnedDocument, Value};
use serde_json::json;

use super::cli::{AllowArguments, Common, SkipArguments};
use super::failure::{Failure, Result};
use super::package::{LocalPackage, RULES};
use super::policy::{CountedReleases, written_text};
use super::print;
use super::session::{arguments, followed};

/// `krmv skip`
pub(crate) fn skip(skip: &SkipArguments, common: &Common) -> Result<u8> {
    let (package, release) = target(&skip.arguments, "a release")?;
    write(&package, common, &release, "skip", |root, editor| {
        let releases = root.get("releases");
        let list = releases.and_then(|releases| releases.get("skip"));
        match list.filter(|list| list.kind().is_sequence() && list.items().next().is_some()) {
            Some(list) if list.items().any(|item| item.as_str() == Some(&release)) => Ok(()),
            Some(list) => editor.insert_item(list, None, Content::Value(Value::from(&*release))),
            None => {
                let list = Value::Sequence(vec![Value::from(&*release)]);
                editor.set_path(root, &["releases", "skip"], list.into())
            }
        }
    })
}

/// `krmv allow`
pub(crate) fn allow(allow: &AllowArguments, common: &Common) -> Result<u8> {
    let (package, text) = target(&allow.arguments, "a range")?;
    if range(&text).is_none() {
        let message =
            format!("expected a range of versions such as `<4` or `~1.2`, found `{text}`");
        return Err(Failure::new(message).hint("krmv help allow"));
    }
    write(&package, common, &text, "allow", |root, editor| {
        editor.set_path(root, &["releases", "allow"], Value::from(&*text).into())
    })
}

type Edited = std::result::Result<(), krm_yaml::EditError>;

/// The package, and the word after it.
fn target(words: &[String], what: &str) -> Result<(LocalPackage, String)> {
    let (directory, word) = arguments(words)?;
    let package = LocalPackage::open(&directory)?;
    followed(&package)?;
    let word = word.ok_or_else(|| {
        Failure::new(format!("expected {what} after the package")).hint("krmv help skip")
    })?;
    CountedReleases::of(&package)?;
    Ok((package, word))
}

/// Edits the policy of a package, or begins one.
fn write(
    package: &LocalPackage,
    common: &Common,
    word: &str,
    what: &str,
    edit: impl for<'d> FnOnce(krm_yaml::NodeRef<'d>, &mut Editor<'d, '_>) -> Edited,
) -> Result<u8> {
    // A ConflictRules has no releases.
    let text = OwnedDocument::edited(written_text(&package.contents), |root, editor| {
        editor.set(root, "kind", Value::from("UpgradePolicy").into())
    })?;
    let text = OwnedDocument::edited(text, edit)?;
    let mut contents = package.contents.clone();
    contents.insert(RULES.to_owned(), text.into_bytes());
    let changes = package.changes(&contents, &std::collections::HashMap::new());
    let is_written = !changes.is_empty();
    package.write(&changes)?;
    let name = package.name();
    let document = || json!({"path": name, what: word, "written": is_written});
    let done = match (what, is_written) {
        (_, false) => format!("{name}: {RULES} already says so"),
        ("skip", true) => format!("{name}: the release {word} no longer counts"),
        (_, true) => format!("{name}: only releases in the range {word} count"),
    };
    print::answer(common, document, |page| {
        page.wrapped(done, 2);
        page.hint(&package.command(&["status"]));
    })
}
