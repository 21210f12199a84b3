//! `krmv review`: what an upgrade, or what you changed, means for the cluster.
//!
//! Both states of the package are built in memory, and `review-package` compares them.

mod many;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_address::Surroundings;
use krm_core::config::enum_fields::word;
use krm_core::results::Results;
use krm_function::filter::ReportFormat;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_function::{Inputs, Items, SuppliedInput, run_step};
use krm_merge::Side;
use krm_package::escaped::{Markdown, ShownLine};
use krm_package::{Package, PackageFile, is_krm_name};
use krm_review::{Review, ReviewedPairs, Risk, report};
use krm_upstream::git::{GitCommand, Repository, Revision};
use krm_yaml::OwnedDocument;
use review_package::{RISKS, ReviewOptions, report_change};
use serde_json::json;

use super::cli::{Common, ReviewArguments};
use super::client::{self, Place};
use super::conflict::conflicts;
use super::diff::cloned;
use super::failure::{Failure, Result};
use super::kptfile::Tracking;
use super::merging::{MergedPackage, Merger};
use super::package::{Contents, KPTFILE, LocalPackage};
use super::print::{self, Page, YELLOW, counted, to_stdout, warning};
use super::rendering::PackageRendering;
use super::report::{print_errors, result_json};
use super::session::FollowedPackage;
use super::shared::Listings;
use super::upstream::{contents, supplied};
use super::{exit, worktree};

pub(crate) fn run(review: &ReviewArguments, common: &Common) -> Result<u8> {
    let (directories, request) = many::arguments(&review.arguments)?;
    if let [directory] = &directories[..] {
        let package = LocalPackage::open(directory)?;
        return one(&package, request.as_deref(), review, common);
    }
    many::run(&directories, request.as_deref(), review, common)
}

fn one(
    package: &LocalPackage,
    request: Option<&str>,
    review: &ReviewArguments,
    common: &Common,
) -> Result<u8> {
    let from = review.from.as_deref();
    let compared = Compared::of(package, request, from, &mut Listings::default())?;
    if let Some(results) = &compared.failed {
        return print_errors(results, common);
    }
    warn_of_templates(&compared.after);
    let results = compared.reviewed(review)?;
    if results.has_errors() && !results.iter().any(report::is_finding) {
        return print_errors(&results, common);
    }
    match format(review, common) {
        ReportFormat::Json => print::json(&compared.document(package, &results))?,
        ReportFormat::Markdown => to_stdout(compared.to_markdown(&results).as_str())?,
        ReportFormat::Text => {
            let mut page = Page::new(common);
            compared.write_to(&mut page, package, request, &results);
            page.finish()?;
        }
    }
    Ok(exit::open_if(results.has_errors()))
}

fn format(review: &ReviewArguments, common: &Common) -> ReportFormat {
    if common.json {
        ReportFormat::Json
    } else {
        review.format
    }
}

/// Two states of a package to compare, and how they were made.
#[derive(Default)]
struct Compared {
    before: Contents,
    after: Contents,
    /// The upstream revisions that the states were made from. `None` if they are the same, or if the states themselves
    /// are revisions of upstream.
    upstream: Option<[Arc<SuppliedPackage>; 2]>,
    /// Whether `after` is the package after an upgrade.
    is_upgraded: bool,
    /// The names of the states, for the report.
    names: [String; 2],
    /// The number of undecided conflicts in the merge that made `after`. `after` has local's value there.
    undecided: usize,
    /// The results of the merge, if it failed.
    failed: Option<Results>,
}

/// A package for reviews, which several reviews can share. Files that are also in `others` are not parsed again.
pub(crate) fn reviewable(
    contents: &Contents,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    let mut files = Package::default();
    for (path, bytes) in contents.iter().filter(|(path, _)| is_krm_name(path)) {
        // A file that was read as YAML before cannot be a template.
        let known = others.iter().find_map(|other| {
            let texts = other.list().not_yaml();
            let is_yaml = texts.is_none_or(|texts| !texts.contains_key(path));
            other.files().filter(|_| is_yaml)?.file_like(path, bytes)
        });
        let other = || {
            let text = || String::from_utf8_lossy(bytes).into_owned();
            (!is_template(bytes)).then(|| PackageFile::of_text(path, text()))
        };
        if let Some(file) = known.or_else(other) {
            files.insert(path, file);
        }
    }
    let place = format!("role `{}`", Role::Before);
    let mut results = Results::default();
    let package =
        SuppliedPackage::from_package_like(Role::Before, place, files, others, &mut results)?;
    Ok(Arc::new(package))
}

/// Whether a review reads a file: it has the name of a YAML file, and is not a template of a chart.
fn is_reviewed(path: &str, bytes: &[u8]) -> bool {
    is_krm_name(path) && !is_template(bytes)
}

/// Whether a text becomes YAML only when it is rendered.
fn is_template(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("{{") && OwnedDocument::parse(text.into_owned()).is_err()
}

/// Names the files that a review does not read because they are templates.
fn warn_of_templates(files: &Contents) {
    let is_left_out = |(path, bytes): &(&String, &Vec<u8>)| is_krm_name(path) && is_template(bytes);
    let left_out: Vec<&str> = files
        .iter()
        .filter(is_left_out)
        .map(|(path, _)| path.as_str())
        .collect();
    if left_out.is_empty() {
        return;
    }
    let more = match left_out.len().checked_sub(3) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    let count = counted(left_out.len(), "template");
    let names = left_out
        .iter()
        .take(3)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    warning(format_args!(
        "a review does not read {count} of a chart: {names}{more}"
    ));
}

/// What a merge of a package means for the cluster. `None` if the result cannot be read. `known` has what reviews before
/// found.
pub(crate) fn reviewed(
    before: &Arc<SuppliedPackage>,
    merger: &Merger,
    merged: &MergedPackage,
    known: Option<&ReviewedPairs>,
) -> Option<Review> {
    let mut others = vec![&**before, &*merger.original, &*merger.upstream];
    others.extend(merged.package.as_deref());
    let after = reviewable(&merged.contents, &others).ok()?;
    review_package::review(before, &after, known).ok()
}

/// Runs `review-package`, and returns its findings.
pub(crate) fn review_of(
    before: Arc<SuppliedPackage>,
    after: &Contents,
    upstream: Option<[Arc<SuppliedPackage>; 2]>,
    options: ReviewOptions,
) -> Result<Results> {
    let roles = [Role::Original, Role::Upstream].into_iter();
    let revisions = roles.zip(upstream.into_iter().flatten());
    let supplied = std::iter::once((Role::Before, before)).chain(revisions);
    let supplied: Vec<(Role, Arc<SuppliedPackage>)> = supplied.collect();
    let known = supplied.iter().map(|(_, package)| Arc::clone(package));
    let inputs = Inputs {
        known: known.collect(),
        supplied: supplied
            .into_iter()
            .map(|(role, package)| (role, SuppliedInput::Package(package)))
            .collect(),
        ..Inputs::default()
    };
    let mut after = after.clone();
    after.retain(|path, bytes| is_reviewed(path, bytes));
    let outcome = run_step(
        &review_package::FUNCTION,
        |run| report_change(options, run),
        inputs,
        Items::Package(after),
    )?;
    Ok(outcome.results)
}

/// The flags as options of the function.
fn options(review: &ReviewArguments) -> Result<ReviewOptions> {
    let is_given = |text: &&str| *text != "none";
    let release = review.kubernetes_version.as_deref().filter(is_given);
    let fail_on = review.fail_on.as_deref();
    let fail_on = fail_on.map(|found| word(found, &RISKS)).transpose();
    let wrong = |message| Failure::new(format!("--kubernetes-version: {message}"));
    Ok(ReviewOptions {
        fail_on: fail_on.map_err(Failure::new)?.flatten(),
        release: release.map(str::parse).transpose().map_err(wrong)?,
    })
}

impl FollowedPackage<'_> {
    /// Compares the files on disk with the last commit, the locked revision or another revision of upstream.
    fn with_files(&self, from: Option<&str>) -> Result<Compared> {
        let mut compared = Compared {
            after: self.package.own(&self.package.contents)?,
            ..Compared::default()
        };
        compared.names[1] = "your files".to_owned();
        let from = match from {
            Some(from) => from,
            None if self.is_edited_since_commit()? => HEAD,
            None => LOCK,
        };
        self.begin_at(from, &mut compared)?;
        if let Some(committed) = self.committed(from)? {
            compared.upstream = self.revisions_since(&committed)?;
        }
        Ok(compared)
    }

    /// Compares the package after an upgrade to a revision with the files on disk or with another state. If `from` is a
    /// revision of upstream, compares only the two revisions.
    fn with_revision(&self, from: Option<&str>, request: &str) -> Result<Compared> {
        let to = self.target(Some(request))?;
        let mut compared = Compared::default();
        compared.names[1].clone_from(&to.lock_ref);
        if let Some(from) = from.filter(|from| !is_own(from)) {
            self.begin_at(from, &mut compared)?;
            compared.after = contents(&*self.supplied(&to, Role::Upstream)?)?;
            return Ok(compared);
        }
        if self.package.tracking.open.is_some() {
            let message = format!(
                "an upgrade of '{}' is open; decide its conflicts first",
                self.package.name()
            );
            return Err(Failure::new(message).hint(self.package.command(&["resolve"])));
        }
        let merger = self.merger(&to)?;
        let merged = merger.merge(&self.package.contents, Side::Local)?;
        if merged.results.has_errors() {
            compared.failed = Some(merged.results);
            return Ok(compared);
        }
        compared.undecided = conflicts(&merged.results).len();
        compared.after = merger.own(&merged.contents);
        compared.upstream = Some([merger.original, merger.upstream]);
        compared.is_upgraded = true;
        match from {
            Some(from) => self.begin_at(from, &mut compared)?,
            None => {
                compared.before = self.package.own(&self.package.contents)?;
                compared.names[0] = self.upstream.locked_revision(self.lock)?.lock_ref;
            }
        }
        Ok(compared)
    }

    /// Sets the state before the change.
    fn begin_at(&self, from: &str, compared: &mut Compared) -> Result<()> {
        compared.names[0] = from.to_owned();
        if from == LOCK {
            compared.names[0] = self.upstream.locked_revision(self.lock)?.lock_ref;
            let supplied = self.original()?;
            let mark = "internal.kpt.dev/upstream-identifier";
            // `get` writes identities, which are not the user's changes.
            let is_marked = self.package.contents.values().any(|bytes| {
                let mut windows = bytes.windows(mark.len());
                windows.any(|window| window == mark.as_bytes())
            });
            compared.before = if is_marked {
                cloned(&supplied, "")?
            } else {
                contents(&supplied)?
            };
            return Ok(());
        }
        let before = match self.committed(from)? {
            Some(committed) => committed,
            None => {
                let revision = self.target(Some(from))?;
                compared.names[0].clone_from(&revision.lock_ref);
                self.supplied(&revision, Role::Before)?
            }
        };
        compared.before = self.package.own(&contents(&before)?)?;
        Ok(())
    }

    /// Whether the package has uncommitted changes, and a commit to compare with.
    pub(crate) fn is_edited_since_commit(&self) -> Result<bool> {
        let Some(repository) = &self.package.repository else {
            return Ok(false);
        };
        if worktree::uncommitted(self.package)?.is_empty() {
            return Ok(false);
        }
        let kptfile = repository.path_below_root(KPTFILE);
        let kptfile = kptfile.to_string_lossy().replace('\\', "/");
        let kind = GitCommand::new(&["cat-file", "-t"])
            .data()
            .file_at_head(&kptfile);
        Ok(client::line(Place::Own(repository), &kind.done())?.is_some())
    }

    /// The package in a commit of its own repository. `None` if the name is not `HEAD` or based on it, such as
    /// `HEAD~1`.
    fn committed(&self, name: &str) -> Result<Option<Arc<SuppliedPackage>>> {
        if name == LOCK || !is_own(name) {
            return Ok(None);
        }
        let missing = || {
            let message = format!(
                "'{}' has no commit `{name}` to compare with",
                self.package.name()
            );
            Failure::new(message).hint(self.package.git_command(&["log"]))
        };
        let own = self.package.repository.as_ref().ok_or_else(missing)?;
        let repository = Repository::open(own.root())?;
        let commit = repository.resolve("", name).map_err(|_| missing())?.commit;
        let revision = Revision::named(name, commit);
        let snapshot = repository.read(&own.inner(), revision)?;
        supplied(snapshot, Role::Before, None, &[]).map(Some)
    }

    /// The upstream revisions of a committed state and of the files on disk. `None` if they do not differ.
    fn revisions_since(
        &self,
        committed: &SuppliedPackage,
    ) -> Result<Option<[Arc<SuppliedPackage>; 2]>> {
        let Ok(kptfile) = committed.read_file(KPTFILE) else {
            return Ok(None);
        };
        let before = String::from_utf8_lossy(&kptfile);
        let before = Tracking::read(&before, &Surroundings::default())?;
        let Some(old) = before.lock else {
            return Ok(None);
        };
        let old = self.upstream.locked_revision(&old)?;
        let new = match &self.package.tracking.open {
            Some(open) => self.open_target(open),
            None => self.upstream.locked_revision(self.lock)?,
        };
        if old.commit == new.commit {
            return Ok(None);
        }
        let read = |path: &str| Some(committed.read_file(path).ok()?.into_owned());
        let old_request = PackageRendering::locked_in(read);
        let rendering = self.rendering.as_ref();
        let new_request = rendering.map(|rendering| match self.package.tracking.open {
            Some(_) => &rendering.next,
            None => &rendering.locked,
        });
        let old_request = old_request.as_ref().or(new_request);
        Ok(Some([
            self.supplied_by(&old, Role::Original, old_request)?,
            self.supplied_by(&new, Role::Upstream, new_request)?,
        ]))
    }
}

/// The last commit of the package's own repository.
const HEAD: &str = "HEAD";
/// The revision that the package was made from.
const LOCK: &str = "lock";

/// Whether a name is `lock` or a commit of the package's own repository, and not a revision of upstream.
fn is_own(name: &str) -> bool {
    name == LOCK || name.starts_with(HEAD)
}

impl Compared {
    /// Compares two states of a package.
    fn of(
        package: &LocalPackage,
        request: Option<&str>,
        from: Option<&str>,
        listings: &mut Listings,
    ) -> Result<Self> {
        // Only `get`, `status` and `upgrade` go to the network.
        let compared = FollowedPackage::open_with(package, request, true, listings);
        let compared = compared.and_then(|followed| match request {
            Some(request) => followed.with_revision(from, request),
            None => followed.with_files(from),
        });
        compared.map_err(|error| error.or_hint(package.command(&["status"])))
    }

    fn reviewed(&self, review: &ReviewArguments) -> Result<Results> {
        let known = self.upstream.iter().flatten();
        let known: Vec<&SuppliedPackage> = known.map(|one| &**one).collect();
        let before = reviewable(&self.before, &known)?;
        let upstream = self.upstream.clone();
        let mut results = review_of(before, &self.after, upstream, options(review)?)?;
        let mut changed: BTreeSet<&String> = self.before.keys().chain(self.after.keys()).collect();
        changed.retain(|path| {
            let sides = [&self.before, &self.after].map(|files| files.get(*path));
            let mut all = sides.into_iter().flatten();
            sides[0] != sides[1] && is_krm_name(path) && all.any(|bytes| is_template(bytes))
        });
        results.extend(
            changed
                .into_iter()
                .map(|path| review_package::not_yaml(path)),
        );
        Ok(results)
    }

    /// What a report needs, without the states.
    fn summary(self) -> Self {
        Self {
            before: Contents::new(),
            after: Contents::new(),
            upstream: None,
            ..self
        }
    }

    fn write_to(
        &self,
        page: &mut Page,
        package: &LocalPackage,
        request: Option<&str>,
        results: &Results,
    ) {
        let [from, to] = &self.names;
        page.line(format_args!("{}: {from} -> {to}", package.name()));
        if let Some(note) = self.note() {
            let note = page.styled(YELLOW, note);
            page.wrapped(ShownLine::of(&[&"  ", &note]), 4);
        }
        page.line("");
        for line in report::text(results).lines() {
            page.wrapped(line, 6);
        }
        if let (Some(request), true) = (request, self.is_upgraded) {
            page.hint(&package.command(&["upgrade", request]));
        }
    }

    fn to_markdown(&self, results: &Results) -> Markdown {
        let page = report::markdown(results);
        match self.note() {
            Some(note) => page + "\n" + Markdown::prose(&note) + "\n",
            None => page,
        }
    }

    fn document(&self, package: &LocalPackage, results: &Results) -> serde_json::Value {
        let counts = Risk::WORST_FIRST.map(|risk| (risk.as_str(), report::count(results, risk)));
        let worst = counts.iter().find(|(_, count)| *count > 0);
        json!({
            "path": package.name(),
            "from": self.names[0],
            "to": self.names[1],
            "conflicts": self.undecided,
            "risk": worst.map(|(risk, _)| risk),
            "counts": BTreeMap::from(counts),
            "findings": results.iter().map(result_json).collect::<Vec<_>>(),
        })
    }

    fn note(&self) -> Option<String> {
        let count = counted(self.undecided, "conflict");
        (self.undecided > 0).then(|| format!("{count} undecided; the review uses your value"))
    }
}
