//! A review over several packages: a summary first, then the review of each package that changed.

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

/// The review of one package.
struct Reviewed {
    package: LocalPackage,
    found: Result<(Compared, Results)>,
}

impl Reviewed {
    fn has_changed(&self) -> bool {
        let results = self.found.as_ref().map(|(_, results)| results);
        results.is_ok_and(|results| results.iter().any(report::is_finding))
    }

    fn summary(&self) -> String {
        match &self.found {
            Ok((_, results)) => report::summary(results),
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
    let mut reviews = Vec::new();
    let mut failed = Vec::new();
    for (directory, package) in packages {
        match package {
            Ok(package) => reviews.push(reviewed(package, request, from, review)),
            Err(failure) => failed.push((directory.to_string_lossy().into_owned(), failure)),
        }
    }
    match format(review, common) {
        ReportFormat::Json => print_json(&reviews, &failed)?,
        ReportFormat::Markdown => to_stdout(markdown(&reviews, &failed).as_str())?,
        ReportFormat::Text => print_text(&reviews, &failed, request, common)?,
    }
    if !failed.is_empty() || reviews.iter().any(|one| one.found.is_err()) {
        return Ok(exit::USAGE);
    }
    let mut results = reviews.iter().filter_map(|one| one.found.as_ref().ok());
    Ok(exit::open_if(
        results.any(|(_, results)| results.has_errors()),
    ))
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
) -> Reviewed {
    let found = Compared::of(&package, request, from).and_then(|compared| {
        if let Some(results) = &compared.failed {
            let first = results.iter().find(|one| !one.is_open_conflict());
            let first = first.map(ToString::to_string).unwrap_or_default();
            return Err(Failure::new(first));
        }
        let results = compared.reviewed(review)?;
        Ok((compared, results))
    });
    Reviewed { package, found }
}

/// How many changes of each risk all packages have.
fn total(reviews: &[Reviewed]) -> Vec<(Risk, usize)> {
    let count = |risk: Risk| {
        let results = reviews.iter().filter_map(|one| one.found.as_ref().ok());
        let counts = results.map(|(_, results)| report::count(results, risk));
        (risk, counts.sum())
    };
    Risk::WORST_FIRST.map(count).into_iter().collect()
}

fn headline(reviews: &[Reviewed], failed: usize) -> String {
    let counts = total(reviews).into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(risk, count)| format!("{count} {risk}"))
        .collect();
    let counts = if counts.is_empty() {
        "no changes for the cluster".to_owned()
    } else {
        counts.join(", ")
    };
    let packages = counted(reviews.len() + failed, "package");
    format!("{packages}: {counts}")
}

fn print_text(
    reviews: &[Reviewed],
    failed: &[(String, Failure)],
    request: Option<&str>,
    common: &Common,
) -> Result<()> {
    let mut page = Page::new(common);
    page.line(headline(reviews, failed.len()));
    let lines = reviews
        .iter()
        .map(|one| (one.package.name(), one.summary(), one.found.is_err()));
    let broken = failed.iter();
    let broken = broken.map(|(path, failure)| (path.clone(), failure.message.clone(), true));
    for (path, summary, is_failed) in lines.chain(broken) {
        let path = page.styled(BOLD, path);
        let summary = if is_failed {
            page.styled(RED, summary)
        } else {
            ShownLine::of(&[&summary])
        };
        page.wrapped(ShownLine::of(&[&"  ", &path, &": ", &summary]), 4);
    }
    for one in reviews.iter().filter(|one| one.has_changed()) {
        if let Ok((compared, results)) = &one.found {
            page.line("");
            compared.write_to(&mut page, &one.package, request, results);
        }
    }
    let failures = reviews.iter().filter_map(|one| one.found.as_ref().err());
    let failures = failures.chain(failed.iter().map(|(_, failure)| failure));
    for hint in failures.flat_map(|failure| &failure.hints) {
        page.hint(hint);
    }
    page.finish()
}

fn markdown(reviews: &[Reviewed], failed: &[(String, Failure)]) -> Markdown {
    let mut page =
        Markdown::text(headline(reviews, failed.len())) + "\n\n| package | changes |\n|---|---|\n";
    for one in reviews {
        let name = Markdown::code(one.package.name());
        page = page + "| " + name + " | " + Markdown::prose(&one.summary()) + " |\n";
    }
    for (path, failure) in failed {
        let name = Markdown::code(path);
        page = page + "| " + name + " | " + Markdown::prose(&failure.message) + " |\n";
    }
    for one in reviews.iter().filter(|one| one.has_changed()) {
        if let Ok((compared, results)) = &one.found {
            let name = Markdown::code(one.package.name());
            page = page + "\n## " + name + "\n\n" + compared.to_markdown(results);
        }
    }
    page
}

fn print_json(reviews: &[Reviewed], failed: &[(String, Failure)]) -> Result<()> {
    let packages = reviews.iter().map(|one| match &one.found {
        Ok((compared, results)) => compared.document(&one.package, results),
        Err(failure) => json!({"path": one.package.name(), "problem": failure.message}),
    });
    let broken = failed.iter();
    let broken = broken.map(|(path, failure)| json!({"path": path, "problem": failure.message}));
    let packages: Vec<_> = packages.chain(broken).collect();
    let counts = total(reviews).into_iter();
    let counts: serde_json::Map<_, _> = counts
        .map(|(risk, count)| (risk.as_str().to_owned(), count.into()))
        .collect();
    print::json(&json!({"packages": packages, "counts": counts}))
}
