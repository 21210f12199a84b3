//! What arguments and locks name.

use super::*;

fn parsed(text: &str) -> NamedSource {
    let found = RemoteSource::parse(text, &Surroundings::default()).expect(text);
    found.unwrap_or_else(|| panic!("{text}: not a source"))
}

// A table.
#[allow(clippy::too_many_lines)]
#[test]
fn an_argument_and_its_lock_name_the_same_source() {
    for (text, address, inner, revision, name, lock) in [
        (
            "https://github.com/o/r/releases/download/v1.0.0/install.yaml",
            "https://github.com/o/r/releases/download/{tag}/install.yaml",
            "install.yaml",
            Some("v1.0.0"),
            "install",
            "https://github.com/o/r/releases/download/v1.0.0/install.yaml",
        ),
        (
            "https://github.com/o/r/releases/download/v1.0.0/app-1.0.0.tgz//crds@v1.0.0",
            "https://github.com/o/r/releases/download/{tag}/app-{version}.tgz",
            "crds",
            Some("v1.0.0"),
            "app",
            "https://github.com/o/r/releases/download/v1.0.0/app-1.0.0.tgz//crds",
        ),
        (
            "https://e.com/app-{version}.yaml@v1.2.0 --tags https://e.com/r",
            "https://e.com/app-{version}.yaml",
            "app-{version}.yaml",
            Some("v1.2.0"),
            "app",
            "https://e.com/app-{version}.yaml@v1.2.0 --tags https://e.com/r",
        ),
        (
            "https://e.com/app-1.2.0.tgz",
            "https://e.com/app-1.2.0.tgz",
            "",
            None,
            "app",
            "https://e.com/app-1.2.0.tgz",
        ),
        (
            "helm+https://e.com/stable//app@1.2.0",
            "helm+https://e.com/stable//app",
            "",
            Some("1.2.0"),
            "app",
            "helm+https://e.com/stable//app@1.2.0",
        ),
        (
            "helm+https://e.com//app//values.yaml@1.2.0",
            "helm+https://e.com//app",
            "values.yaml",
            Some("1.2.0"),
            "app",
            "helm+https://e.com//app//values.yaml@1.2.0",
        ),
        (
            "oci://e.com:5000/o/app:1.2.0_k3s1//charts",
            "oci://e.com:5000/o/app",
            "charts",
            Some("1.2.0_k3s1"),
            "app",
            "oci://e.com:5000/o/app:1.2.0_k3s1//charts",
        ),
        (
            "oci://e.com/app@~1.2",
            "oci://e.com/app",
            "",
            Some("~1.2"),
            "app",
            "",
        ),
    ] {
        let found = parsed(text);
        assert_eq!(found.source.address(), address);
        assert_eq!(found.inner, inner);
        assert_eq!(found.revision.as_deref(), revision);
        assert_eq!(found.source.package_name(), name);
        if lock.is_empty() {
            continue;
        }
        let revision = revision.unwrap_or_default();
        let recorded = found.source.at(revision, inner);
        assert_eq!(recorded, lock);
        let again = parsed(&recorded);
        assert_eq!((again.source, again.inner), (found.source, found.inner));
    }
}

#[test]
fn unknown_sources_are_left_alone_and_invalid_ones_are_errors() {
    for text in [
        "https://github.com/o/r",
        "https://github.com/o/r/manifests/install.yaml@v1",
        "https://e.com/r//m/install.yaml?ref=v2",
        "https://e.com/o/r.git/web/app.yaml@v1",
        "https://e.com/r//m/install.yaml@v2",
        "git@e.com:o/r",
        "app-1.0.0.tgz",
        "oci:layout:v1",
    ] {
        assert_eq!(
            RemoteSource::parse(text, &Surroundings::default()).expect(text),
            None,
            "{text}"
        );
    }
    for text in [
        "helm+https://e.com",
        "helm+https://e.com/stable/app",
        "helm+ftp://e.com//app",
        "helm+https://e.com//../x",
        "oci://app",
        "oci://e.com/app:v1//../x",
        "oci://",
        "https://e.com/a.yaml//x",
    ] {
        assert!(
            RemoteSource::parse(text, &Surroundings::default()).is_err(),
            "{text}"
        );
    }
}

#[test]
fn a_password_leaves_the_source() {
    for text in [
        "https://me:hunter2@e.com/app-1.0.0.tgz",
        "helm+https://me:hunter2@e.com/stable//app",
    ] {
        let found = parsed(text);
        assert!(found.credentials.is_some(), "{text}");
        assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
    }
}
