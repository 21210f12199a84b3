//! A review over several packages: a summary first, then the review of each package that changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krm_function::filter::ReportFormat;
use krm_package::escaped::Markdown;
use krm_review::{Risk, report};
use serde_json::json;

use super::super::cli::{Common, ReviewArguments};
use super::super::exit;
use super::super::failure::{Failure, Result};
use super::super::package::{KPTFILE, LocalPackage, collect_packages};
use super::super::print::{self, BOLD, Page, RED, counted, to_stdout};
use super::super::session::followed;
use super::super::shared::Listings;
use super::super::worktree;
use super::{Compared, HEAD, LOCK, format};
use krm_core::results::Results;
use krm_package::escaped::ShownLine;

/// The packages and the revision that the arguments name. A directory without a Kptfile stands for the packages below it.
pub(super) fn arguments(words: &[String]) -> Result<(Vec<PathBuf>, Option<String>)> {
    let (directories, request) = match words.split_last() {
        Some((last, [])) if Path::new(last).exists() => (words, None),
        // One word alone may be a revision, or a mistake.
        Some((_, [])) => {
            let (directory, request) = super::super::session::arguments(words)?;
            return Ok((vec![directory], request));
        }
        Some((last, _)) if Path::new(last).exists() => (words, None),
        Some((last, rest)) => (rest, Some(last.clone())),
        None => (words, None),
    };
    let mut packages = Vec::new();
    let here = [".".to_owned()];
    let directories = if directories.is_empty() {
        &here
    } else {
        directories
    };
    for directory in directories {
        let directory = PathBuf::from(directory);
        let mut below = Vec::new();
        if directory.is_dir() && !directory.join(KPTFILE).is_file() {
            collect_packages(&directory, 0, &mut below)?;
        }
        if below.is_empty() {
            below.push(directory);
        }
        packages.extend(below);
    }
    Ok((packages, request))
}

/// A package, and its review.
struct Reviewed {
    name: String,
    found: Result<PackageReview>,
}

struct PackageReview {
    package: LocalPackage,
    compared: Compared,
    results: Results,
}

impl Reviewed {
    /// The review, if it has findings.
    fn changed(&self) -> Option<&PackageReview> {
        let review = self.found.as_ref().ok()?;
        review
            .results
            .iter()
            .any(report::is_finding)
            .then_some(review)
    }

    fn summary(&self) -> String {
        match &self.found {
            Ok(review) => report::summary(&review.results),
            Err(failure) => failure.message.clone(),
        }
    }
}

pub(super) fn run(
    directories: &[PathBuf],
    request: Option<&str>,
    review: &ReviewArguments,
    common: &Common,
) -> Result<u8> {
    let mut packages = Vec::new();
    for directory in directories {
        let package = LocalPackage::open(directory);
        if package
            .as_ref()
            .is_ok_and(|package| followed(package).is_err())
        {
            continue;
        }
        packages.push((directory, package));
    }
    let from = review.from.as_deref().or_else(|| match request {
        Some(_) => None,
        None => Some(beginning(
            packages
                .iter()
                .filter_map(|(_, package)| package.as_ref().ok()),
        )),
    });
    let mut listings = Listings::default();
    listings
        .upstreams
        .expect(packages.iter().map(|(directory, _)| directory));
    let mut reviews = Vec::new();
    let mut failed = Vec::new();
    for (directory, package) in packages {
        match package {
            Ok(package) => {
                let name = package.name();
                let found = reviewed(package, request, from, review, &mut listings);
                listings.upstreams.finish(directory);
                reviews.push(Reviewed { name, found });
            }
            Err(failure) => failed.push(Reviewed {
                name: directory.to_string_lossy().into_owned(),
                found: Err(failure),
            }),
        }
    }
    reviews.extend(failed);
    match format(review, common) {
        ReportFormat::Json => print_json(&reviews)?,
        ReportFormat::Markdown => to_stdout(markdown(&reviews).as_str())?,
        ReportFormat::Text => print_text(&reviews, request, common)?,
    }
    if reviews.iter().any(|one| one.found.is_err()) {
        return Ok(exit::USAGE);
    }
    let mut found = found(&reviews);
    Ok(exit::open_if(
        found.any(|review| review.results.has_errors()),
    ))
}

/// The reviews of the packages that could be reviewed.
fn found(reviews: &[Reviewed]) -> impl Iterator<Item = &PackageReview> {
    reviews.iter().filter_map(|one| one.found.as_ref().ok())
}

/// Where the change of all packages begins: at the last commit, if one of them changed since.
fn beginning<'p>(mut packages: impl Iterator<Item = &'p LocalPackage>) -> &'static str {
    let is_edited = packages.any(|package| {
        let uncommitted = worktree::uncommitted(package);
        uncommitted.is_ok_and(|lines| !lines.is_empty())
    });
    if is_edited { HEAD } else { LOCK }
}

fn reviewed(
    package: LocalPackage,
    request: Option<&str>,
    from: Option<&str>,
    review: &ReviewArguments,
    listings: &mut Listings,
) -> Result<PackageReview> {
    let compared = Compared::of(&package, request, from, listings)?;
    if let Some(results) = &compared.failed {
        let first = results.iter().find(|one| !one.is_open_conflict());
        let first = first.map(ToString::to_string).unwrap_or_default();
        return Err(Failure::new(first));
    }
    let results = compared.reviewed(review)?;
    Ok(PackageReview {
        package,
        compared: compared.summary(),
        results,
    })
}

/// How many changes of each risk all packages have.
fn total(reviews: &[Reviewed]) -> [(Risk, usize); 4] {
    Risk::WORST_FIRST.map(|risk| {
        let counts = found(reviews).map(|review| report::count(&review.results, risk));
        (risk, counts.sum())
    })
}

fn headline(reviews: &[Reviewed]) -> String {
    let counts = total(reviews).into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(risk, count)| format!("{count} {risk}"))
        .collect();
    let counts = if counts.is_empty() {
        "no changes for the cluster".to_owned()
    } else {
        counts.join(", ")
    };
    format!("{}: {counts}", counted(reviews.len(), "package"))
}

fn print_text(reviews: &[Reviewed], request: Option<&str>, common: &Common) -> Result<()> {
    let mut page = Page::new(common);
    page.line(headline(reviews));
    for one in reviews {
        let path = page.styled(BOLD, &one.name);
        let summary = match &one.found {
            Ok(_) => ShownLine::of(&[&one.summary()]),
            Err(_) => page.styled(RED, one.summary()),
        };
        page.wrapped(ShownLine::of(&[&"  ", &path, &": ", &summary]), 4);
    }
    for review in reviews.iter().filter_map(Reviewed::changed) {
        page.line("");
        let (package, results) = (&review.package, &review.results);
        let compared = &review.compared;
        compared.write_to(&mut page, package, request, results);
    }
    let failures = reviews.iter().filter_map(|one| one.found.as_ref().err());
    for hint in failures.flat_map(|failure| &failure.hints) {
        page.hint(hint);
    }
    page.finish()
}

fn markdown(reviews: &[Reviewed]) -> Markdown {
    let mut page = Markdown::text(headline(reviews)) + "\n\n| package | changes |\n|---|---|\n";
    for one in reviews {
        let name = Markdown::code(&one.name);
        page = page + "| " + name + " | " + Markdown::prose(&one.summary()) + " |\n";
    }
    for review in reviews.iter().filter_map(Reviewed::changed) {
        let name = Markdown::code(review.package.name());
        page = page + "\n## " + name + "\n\n" + review.compared.to_markdown(&review.results);
    }
    page
}

fn print_json(reviews: &[Reviewed]) -> Result<()> {
    let packages = reviews.iter().map(|one| match &one.found {
        Ok(review) => review.compared.document(&review.package, &review.results),
        Err(failure) => json!({"path": one.name, "problem": failure.message}),
    });
    let packages: Vec<_> = packages.collect();
    let counts = total(reviews).map(|(risk, count)| (risk.as_str(), count));
    print::json(&json!({"packages": packages, "counts": BTreeMap::from(counts)}))
}
