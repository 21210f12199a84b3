//! Compares the addresses of repositories.

use gix::bstr::ByteSlice;

/// The address of a repository on another machine as `host/path`, without scheme, user, port and `.git`; `None` if it
/// is a path.
fn host_and_path(address: &str) -> Option<String> {
    let url = gix::url::parse(address).ok();
    let url = url.filter(|url| url.scheme != gix::url::Scheme::File)?;
    let host = url.host()?.to_ascii_lowercase();
    let path = url.path.to_str().ok()?.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some(format!("{host}/{path}"))
}

/// Whether none of the remotes has this address. `None` if it is a path, or if all remotes are paths: paths cannot be
/// compared.
pub(super) fn differs_from_all<'r>(
    address: &str,
    remotes: impl Iterator<Item = &'r str>,
) -> Option<bool> {
    let address = host_and_path(address)?;
    let mut remotes = remotes.filter_map(host_and_path).peekable();
    remotes.peek()?;
    Some(remotes.all(|remote| remote != address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_differ_by_host_and_path_only() {
        let address = "https://github.com/example/catalog.git";
        for (remote, expected) in [
            ("https://github.com/example/catalog", Some(false)),
            ("http://GitHub.com/example/catalog/", Some(false)),
            ("git@github.com:example/catalog.git", Some(false)),
            ("github.com:/example/catalog", Some(false)),
            ("ssh://git@github.com:22/example/catalog.git", Some(false)),
            (
                "https://user:secret@github.com/example/catalog",
                Some(false),
            ),
            ("https://github.com/example/other", Some(true)),
            ("https://gitlab.com/example/catalog", Some(true)),
            ("https://github.com/fork/catalog.git", Some(true)),
            ("/srv/catalog.git", None),
            ("../catalog.git", None),
            ("file:///srv/catalog.git", None),
        ] {
            assert_eq!(
                differs_from_all(address, [remote].into_iter()),
                expected,
                "{remote}"
            );
        }
        let remotes = [
            "https://github.com/fork/catalog",
            "/srv/c",
            "git@github.com:example/catalog",
        ];
        assert_eq!(differs_from_all(address, remotes.into_iter()), Some(false));
        assert_eq!(differs_from_all("/srv/catalog", remotes.into_iter()), None);
        assert_eq!(differs_from_all(address, [].into_iter()), None);
    }
}
