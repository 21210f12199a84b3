//! What a user or a policy asks a package to be rendered with. Values are files of the work tree.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use krm_address::Surroundings;
use krm_merge::decided::{WrittenHelm, WrittenRender};
use krm_render::RenderRequest;

use crate::cli::RenderProgram;
use crate::failure::{Failure, Result, command};
use crate::kptfile;
use crate::own_repository::OwnRepository;
use crate::package::{Contents, LocalPackage, RULES};
use crate::policy;

/// The most bytes of a file with values.
const LARGEST_VALUES: u64 = 16 << 20;

/// The flags of `krmv get` about rendering.
#[derive(Debug)]
pub(crate) struct RenderOptions<'o> {
    pub(crate) program: RenderProgram,
    pub(crate) values: &'o [PathBuf],
    pub(crate) release: Option<&'o str>,
    pub(crate) namespace: Option<&'o str>,
    pub(crate) kube_version: Option<&'o str>,
}

impl RenderOptions<'_> {
    /// What a policy records of them. The values are paths from the package.
    pub(crate) fn written(&self, directory: &Path) -> Result<WrittenRender> {
        let RenderProgram::Helm = self.program else {
            return Ok(WrittenRender {
                helm: None,
                kustomize: Some(Default::default()),
            });
        };
        let surroundings = surroundings_of(directory);
        let mut values = Vec::new();
        for path in self.values {
            if !surroundings.contain(path) {
                return Err(outside(&path.display().to_string()));
            }
            let portable = surroundings.portable(path);
            values.push(portable.to_string_lossy().into_owned());
        }
        let helm = WrittenHelm {
            values,
            release: self.release.map(str::to_owned),
            namespace: self.namespace.map(str::to_owned),
            kube_version: self.kube_version.map(str::to_owned),
        };
        Ok(WrittenRender {
            helm: Some(helm),
            kustomize: None,
        })
    }
}

/// The folders in which values may be: the work tree of the package or, without one, the folder around the package.
fn surroundings_of(directory: &Path) -> Surroundings {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    let existing = absolute.ancestors().find(|above| above.is_dir());
    let own = existing.and_then(OwnRepository::around);
    let root = own.as_ref().map(OwnRepository::root);
    Surroundings::of(&absolute, root.or(absolute.parent()))
}

fn outside(path: &str) -> Failure {
    let message = format!(
        "expected a file with values in the work tree of the package, so that every clone has it, found '{path}'"
    );
    Failure::new(message).hint("git rev-parse --show-toplevel")
}

/// What the policy of a package asks for now.
pub(super) fn of(package: &LocalPackage) -> Result<Option<RenderRequest>> {
    let place = package.directory.join(RULES).to_string_lossy().into_owned();
    let Some(written) = policy::render(&package.contents, &place)? else {
        return Ok(None);
    };
    let kptfile = LocalPackage::kptfile(&package.contents);
    let name = kptfile::name(&kptfile).unwrap_or_else(|| package.label());
    let asked = asked(&written, &package.directory, &name);
    asked.map(Some).map_err(|error| error.context(place))
}

/// Reads what is asked for, with the values as they are now. A release without a name has that of the package.
pub(crate) fn asked(
    written: &WrittenRender,
    directory: &Path,
    name: &str,
) -> Result<RenderRequest> {
    let surroundings = surroundings_of(directory);
    let asked = RenderRequest::read(written, name, |path| values(path, &surroundings));
    asked.map_err(|error: Failure| error.or_hint("krmv help get"))
}

/// The paths of the values that a policy names.
pub(super) fn values_of(contents: &Contents) -> Vec<String> {
    let written = policy::render(contents, RULES).ok().flatten();
    let helm = written.and_then(|written| written.helm);
    helm.map(|helm| helm.values).unwrap_or_default()
}

/// Reads a file with values. It is in the work tree, also through links.
fn values(path: &str, surroundings: &Surroundings) -> Result<Vec<u8>> {
    let relative = Path::new(path);
    let found = surroundings.recorded(relative);
    let found = found.filter(|_| !relative.is_absolute() && !path.is_empty());
    let found = found.ok_or_else(|| outside(path))?;
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read the values '{path}': {error}");
        Failure::new(message).hint(command(["ls", "-l", &found.to_string_lossy()]))
    };
    let metadata = std::fs::metadata(&found).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() || metadata.len() > LARGEST_VALUES {
        let expected = format!("expected a file of at most {} MB", LARGEST_VALUES >> 20);
        return Err(unreadable(&expected));
    }
    let mut bytes = Vec::new();
    let file = File::open(&found).map_err(|error| unreadable(&error))?;
    let read = file.take(LARGEST_VALUES).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_the_work_tree() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("tree");
        for name in ["tree/.git", "tree/apps/web", "other"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        for name in ["tree/.git/HEAD", "tree/apps/v.yaml", "other/v.yaml"] {
            std::fs::write(folder.path().join(name), "a: 1\n").expect("a file");
        }
        std::os::unix::fs::symlink("../../../other/v.yaml", root.join("apps/web/link.yaml"))
            .expect("a link");
        let surroundings = surroundings_of(&root.join("apps/web"));
        assert_eq!(
            values("../v.yaml", &surroundings).expect("it is inside"),
            b"a: 1\n"
        );
        let absolute = root.join("apps/v.yaml").display().to_string();
        for path in [
            "../../../other/v.yaml",
            "link.yaml",
            &absolute,
            "",
            "..",
            "missing.yaml",
        ] {
            assert!(values(path, &surroundings).is_err(), "{path}");
        }
    }
}
