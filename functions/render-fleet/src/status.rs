//! Writes the `status` of the PackageVariants in the directories of the role `variants`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::outcome::VariantOutcome;
use super::variants::{is_variant, owner_of};
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Results};
use krm_function::supplied::Role;
use krm_package::{PackageError, read_package, write_package};
use krm_variant::status::{ENSURED, StepsOutcome, write_status};
use krm_yaml::EditError;
use render_variant::ListedRevisions;

/// The status of each variant, by owner.
#[derive(Debug, Default)]
pub(super) struct Statuses(HashMap<String, Status>);

#[derive(Debug)]
struct Status {
    outcome: StepsOutcome,
    /// The message of `Ready`.
    ready: &'static str,
    /// The path of its package, `<repository>/<package>`.
    package: String,
    /// The names of its PackageRevisions, if the run writes drafts.
    targets: Vec<String>,
}

impl Statuses {
    /// Records the outcome of a variant.
    pub(super) fn add(&mut self, outcome: &VariantOutcome) {
        let ready = outcome
            .entry
            .to
            .as_ref()
            .map_or("the package is left unchanged", |_| ENSURED);
        let status = Status {
            outcome: match (outcome.is_failed(), outcome.entry.package.is_empty()) {
                (true, true) => StepsOutcome::Invalid,
                (true, false) => StepsOutcome::Failed,
                (false, _) => StepsOutcome::Ready,
            },
            ready,
            package: outcome.entry.package.clone(),
            targets: outcome.targets.clone(),
        };
        self.0.insert(outcome.entry.name.clone(), status);
    }

    /// Writes the status of each PackageVariant in these directories. Inputs that are single files are not changed.
    /// `listed` has the PackageRevisions of the cluster, for variants without drafts of this run.
    ///
    /// # Errors
    /// [`UsageError`]: a directory can no longer be read or written.
    pub(super) fn write(
        &self,
        inputs: &[(Role, PathBuf)],
        listed: &ListedRevisions,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        let directories = inputs.iter().filter(|(role, _)| *role == Role::Variants);
        for (_, directory) in directories.filter(|(_, path)| path.is_dir()) {
            self.write_directory(directory, listed, results)?;
        }
        Ok(())
    }

    fn write_directory(
        &self,
        directory: &Path,
        listed: &ListedRevisions,
        results: &mut Results,
    ) -> Result<(), UsageError> {
        let failed = |error: PackageError| UsageError::at("--status", error);
        let files = read_package(directory).map_err(failed)?;
        let files = Arc::new(files);
        let list = ResourceList::from_package(Arc::clone(&files));
        let mut list = list.map_err(|error| UsageError::at("--status", error))?;
        let found: Vec<_> = list
            .items()
            .filter(|(_, resource)| is_variant(resource) || resource.is_list())
            .map(|(id, _)| id)
            .collect();
        let refused = list.edit_items(found, |_, resource, root, editor| {
            let elements = resource.elements(root);
            let variants = elements.unwrap_or_else(|| vec![(root, resource.clone())]);
            for (root, resource) in variants {
                if !is_variant(&resource) {
                    continue;
                }
                let Some(status) = self.0.get(&owner_of(&resource)) else {
                    continue;
                };
                let conditions = status.outcome.conditions(status.ready);
                let mut targets = Cow::from(&status.targets);
                if targets.is_empty() {
                    let uid = root.get_path(&["metadata", "uid"]);
                    let uid = uid.and_then(|uid| uid.as_str());
                    let package = status.package.split_once('/').unwrap_or_default();
                    targets = listed.targets(&resource, uid, package).into();
                }
                write_status(root, &conditions, &targets, editor)?;
            }
            Ok::<_, EditError>(())
        });
        for (id, error) in refused {
            let result = FunctionResult::refused(&error);
            results.push(result.with_resource(list.resource(id)).with_field("status"));
        }
        write_package(&files, &list.file_changes()).map_err(failed)
    }
}
