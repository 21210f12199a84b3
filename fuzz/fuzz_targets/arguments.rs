//! Any Kptfile to the arguments of `git`: what data names comes after `--end-of-options`, and the flags before it are the
//! same for every Kptfile.

#![no_main]

use std::ffi::OsStr;

use krm_address::{Address, CommitId, RefName, Surroundings};
use krm_upstream::git::GitCommand;
use krm_core::kptfile::UpstreamLock;
use krm_yaml::OwnedDocument;
use libfuzzer_sys::fuzz_target;

/// All commands that get something of a Kptfile.
fn commands(address: &Address, name: Option<RefName>, commit: Option<CommitId>) -> Vec<GitCommand> {
    let (names, commits) = (name.as_slice(), commit.as_slice());
    vec![
        GitCommand::list_references(address),
        GitCommand::fetch(address, names, commits),
        GitCommand::fetch_all(address, true),
        GitCommand::fetch_all(address, false),
    ]
}

fuzz_target!(|text: &str| {
    let Ok(document) = OwnedDocument::parse(text.to_owned()) else { return };
    let Some(root) = document.root() else { return };
    let surroundings = Surroundings::of("/work/tree/package".as_ref(), Some("/work/tree".as_ref()));
    let lock = UpstreamLock::read(root).ok().flatten().unwrap_or_default();
    let requested = UpstreamLock::requested(root).ok().flatten();
    let locked = lock.reference.map(|name| RefName::parse(&name).expect("a lock has names"));
    let commit = lock.commit.map(|id| CommitId::parse(&id).expect("a lock has ids"));
    let Ok(Some(address)) = UpstreamLock::address(root, &surroundings) else { return };
    let usual = Address::parse("https://e.com/r", &surroundings).expect("an address");
    for name in [requested, locked] {
        let own = commands(&address, name, commit.clone());
        for (command, usual) in own.iter().zip(commands(&usual, None, None)) {
            assert_eq!(command.options(), usual.options());
            let arguments = command.arguments();
            let end = arguments.iter().position(|word| *word == OsStr::new("--end-of-options"));
            let data = &arguments[end.expect("the end of the flags") + 1..];
            assert_eq!(data[0], OsStr::new(address.as_str()));
            for word in data {
                let word = word.to_str().expect("UTF-8");
                assert!(!word.starts_with('-') && !word.contains(char::is_control), "{word:?}");
            }
        }
    }
    let text = address.as_str();
    let schemes = ["https://", "http://", "ssh://", "git://", "file:///", "/"];
    let is_listed = schemes.iter().any(|scheme| text.starts_with(scheme));
    assert!(is_listed || text.split_once(':').is_some_and(|(_, path)| !path.starts_with(':')), "{text:?}");
    if let Some(local) = address.local() {
        assert!(local.is_absolute() && !local.starts_with("/work/tree"), "{text:?}");
    }
});
