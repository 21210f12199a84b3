//! The results of a merge, grouped by file.

use std::collections::BTreeSet;

use super::MergeOptions;
use crate::decided::{DecidedBy, RulesOf};
use crate::fields::{ConflictKind, Guarded, Policy};
use crate::text::{MOST_LINES, PartConflict};
use crate::{Conflict, ConflictRules, Decision, Findings, PartsOf, Side, Versions};
use krm_core::resource::Resource;
use krm_core::results::{
    FunctionResult, Mark, MergeConflict, MergeDetail, Message, QuotedValue, Reason, ResourceRef,
    Results, Severity, cut_values,
};
use krm_yaml::Value;
use krm_yaml::interner::Interner;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) updated: usize,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) moved: usize,
    /// Conflicts that no rule decided, or that a rule made an error.
    conflicts: usize,
    decided: usize,
}

const VERSIONS: [&str; 3] = ["original", "local", "upstream"];
/// The tag with the value that the file has, if it is that of no version.
const MERGED: &str = "merged";

/// The maximum length of a value in a tag, in bytes. `SHORT` is the same for a message.
const LONG: usize = 256;
const SHORT: usize = 60;

/// The results of a merge so far.
pub(super) struct Report<'r> {
    options: MergeOptions,
    pub(super) rules: &'r ConflictRules,
    results: Results,
    pub(super) counts: Counts,
    /// How many lines of texts may still be compared.
    pub(super) lines_left: usize,
}

impl<'r> Report<'r> {
    pub(super) fn new(options: MergeOptions, rules: &'r ConflictRules) -> Self {
        Self {
            options,
            rules,
            results: Results::default(),
            counts: Counts::default(),
            lines_left: MOST_LINES,
        }
    }

    /// The side that wins if no rule matches.
    pub(super) fn winner(&self) -> Side {
        self.options.on_conflict.winner()
    }

    /// Whether the winner also wins where a merge would keep what one side added or changed; see
    /// [`MergeOptions`](super::MergeOptions).
    /// How the fields of one document are merged: at most `most` conflicts are listed.
    pub(super) fn policy(&self, rules: RulesOf<'r>, most: usize, lines_left: usize) -> Policy<'r> {
        Policy {
            winner: self.winner(),
            decides_all: self.options.decides_all,
            rules,
            combine: self.options.combine,
            most,
            lines_left,
        }
    }

    /// The side that wins a conflict over a whole resource or file if no rule matches. Usually this is local.
    fn keeper(&self) -> Side {
        if self.options.decides_all {
            self.winner()
        } else {
            Side::Local
        }
    }

    /// Whether upstream may not change some place in a resource.
    pub(super) fn is_guarded(&self, resource: &Resource) -> bool {
        self.rules.of(resource).has_guards()
    }

    pub(super) fn push(&mut self, result: FunctionResult) {
        self.results.push(result);
    }

    /// A conflict result that does not name a resource or file yet.
    fn conflict(&mut self, what: &str, decision: Decision, values: &Shown) -> FunctionResult {
        self.conflict_as(decision, "version", values, None, |outcome| {
            format!("{what}: {outcome}").into()
        })
    }

    /// A conflict result with the versions in its message.
    fn versions_conflict(
        &mut self,
        what: String,
        versions: &Shown,
        decision: Decision,
        values: &Shown,
        within: Option<&str>,
    ) -> FunctionResult {
        let message = |outcome: &str| Message::of_conflict(what, &listed(versions), outcome);
        self.conflict_as(decision, "value", values, within, message)
    }

    fn conflict_as(
        &mut self,
        decision: Decision,
        kept: &str,
        values: &Shown,
        within: Option<&str>,
        message: impl FnOnce(&str) -> Message,
    ) -> FunctionResult {
        let (severity, winner, outcome) = self.outcome(decision, kept);
        let result = FunctionResult::new(severity, message(&outcome));
        let result = result.tag("reason", Reason::MergeConflict.as_str());
        let values = cut(values, LONG);
        let mut result = with_versions(result, &values).tag("winner", winner);
        let rule = decision.rule.map(|rule| rule.index);
        if let Some(index) = rule {
            result = result.tag("rule", format!("conflicts[{index}]"));
        }
        if let Some(within) = within {
            result = result.tag("within", within);
        }
        let detail = MergeDetail::Conflict(MergeConflict {
            versions: values.into_array(),
            within: within.map(str::to_owned),
            rule,
        });
        with_detail(result, detail)
    }

    /// The severity of a conflict, the winner, and the text about it for a message.
    fn outcome(&mut self, decision: Decision, what: &str) -> (Severity, &'static str, String) {
        let side = decision.side.as_str();
        self.count(decision, 1);
        let owner = match decision.side {
            Side::Local => "your",
            Side::Upstream => "upstream's",
        };
        let kept = format!("kept {owner} {what}");
        let by = |rule: DecidedBy| format!(" because of `conflicts[{}]`", rule.index);
        let unchanged = "left unchanged".to_owned();
        match (decision.rule, self.options.on_conflict.side()) {
            (Some(rule), _) if rule.is_error => (Severity::Error, "none", unchanged + &by(rule)),
            (Some(rule), _) => (Severity::Info, side, kept + &by(rule)),
            (None, None) => (Severity::Error, "none", unchanged),
            (None, Some(_)) => (Severity::Warning, side, kept),
        }
    }

    fn count(&mut self, decision: Decision, number: usize) {
        match decision.rule.filter(|rule| !rule.is_error) {
            Some(_) => self.counts.decided += number,
            None => self.counts.conflicts += number,
        }
    }

    /// Reports a conflict over a whole resource. The version of [`Self::keeper`] is kept unless a rule decides
    /// otherwise. Returns the side that wins.
    pub(super) fn resource(
        &mut self,
        message: &str,
        resource: &Resource,
        values: Versions<Option<Value>>,
    ) -> Side {
        let mark = Mark::of_resource(&resource.kind);
        let shown = values.map(|value| Some(QuotedValue::of(mark, &value?)));
        let decision = self.rules.of(resource).decide_whole(self.keeper());
        let result = self.conflict(message, decision, &shown);
        self.results.push(result.with_resource(resource));
        decision.side
    }

    /// Reports a resource that local deleted and upstream changed. It stays deleted unless a rule decides otherwise,
    /// because a deletion is a decision.
    pub(super) fn deleted_resource(
        &mut self,
        message: &str,
        resource: &Resource,
        values: impl FnOnce() -> Versions<Option<Value>>,
    ) -> Side {
        let decision = self.rules.of(resource).decide_whole(Side::Local);
        if decision.rule.is_some() || self.options.asks_about_deletions {
            return self.resource(message, resource, values());
        }
        self.results
            .push(stays_deleted(message).with_resource(resource));
        Side::Local
    }

    /// Like [`Self::deleted_resource`], for a file that is not KRM.
    pub(super) fn deleted_file(&mut self, message: &str, path: &str, values: Shown) -> Side {
        let decision = self.rules.of_files().decide_whole(Side::Local);
        if decision.rule.is_some() {
            return self.file(message, path, values);
        }
        self.results.push(stays_deleted(message).in_file(path));
        Side::Local
    }

    /// Reports a resource that a side has under another identity. `of` is the resource that the result is about.
    pub(super) fn renamed(&mut self, side: Side, from: &Resource, to: &Resource, of: &Resource) {
        let side = side.as_str();
        let [old, new] = [from, to].map(described);
        let message = format!("{side} renamed the resource from `{old}` to `{new}`");
        let result = FunctionResult::info(message)
            .tag("reason", Reason::Renamed.as_str())
            .tag("side", side)
            .tag("from", old)
            .tag("to", new);
        self.results.push(result.with_resource(of));
    }

    /// Reports a resource that both sides moved.
    pub(super) fn moved(&mut self, resource: &Resource, paths: Versions<Option<&str>>) -> Side {
        let plain = paths.map(|path| Some(QuotedValue::name(Mark::OWN, path?)));
        let what = "local and upstream both moved the resource".to_owned();
        let values = paths.map(|path| Some(QuotedValue::of(Mark::OWN, &Value::from(path?))));
        let decision = self.rules.of(resource).decide_whole(self.keeper());
        let result = self.versions_conflict(what, &plain, decision, &values, None);
        self.results.push(result.with_resource(resource));
        decision.side
    }

    /// Reports a conflict over a file that is not KRM, or over a sub-package. The version of [`Self::keeper`] is kept
    /// unless a rule decides otherwise. Returns the side that wins.
    pub(super) fn file(&mut self, message: &str, path: &str, values: Shown) -> Side {
        let decision = self.rules.of_files().decide_whole(self.keeper());
        let result = self.conflict(message, decision, &values);
        self.results.push(result.in_file(path));
        decision.side
    }

    /// Reports a conflict over a file that must keep local's version. No rule can decide for upstream.
    pub(super) fn kept_file(&mut self, message: &str, path: &str, values: Shown) -> Side {
        let mut decision = self.rules.of_files().decide_whole(Side::Local);
        if decision.side == Side::Upstream {
            decision = Decision::by_default(Side::Local);
        }
        let result = self.conflict(message, decision, &values);
        self.results.push(result.in_file(path));
        decision.side
    }

    /// Whether files that are not KRM merge by parts of a kind.
    pub(super) fn combines_files(&self, kind: PartsOf) -> bool {
        self.options.combine.has(kind) && self.rules.of_files().combine_whole()
    }

    /// Reports a file that has the changes of both sides, if both made some.
    pub(super) fn combined_file(
        &mut self,
        path: &str,
        kind: PartsOf,
        mark: Mark,
        local: Option<Value>,
        upstream: Option<Value>,
    ) {
        if let (Some(local), Some(upstream)) = (local, upstream) {
            let values = [local, upstream].map(|value| QuotedValue::of(mark, &value));
            self.results.push(combined(kind, values).in_file(path));
        }
    }

    /// Reports a conflict over lines of a file.
    pub(super) fn lines(
        &mut self,
        path: &str,
        decision: Decision,
        found: &PartConflict,
        mark: Mark,
    ) {
        let values = found.values.as_ref();
        let values = values.map(|lines| Some(QuotedValue::of(mark, lines.as_ref()?)));
        let versions = cut(&values, SHORT);
        let what = format!("local and upstream both changed {}", found.within);
        let within = Some(&*found.within);
        let result = self.versions_conflict(what, &versions, decision, &values, within);
        self.results.push(result.in_file(path));
    }

    /// Reports the findings within a resource, or within a file that is not one.
    pub(super) fn findings(&mut self, resource: &Resource, findings: &Findings) {
        let listed = findings.conflicts.iter().map(|found| (found, 0));
        let others = findings.others.iter().map(|(first, more)| (first, *more));
        for (found, more) in listed.chain(others) {
            let values = found.values.as_ref();
            let values = values.map(|value| Some(QuotedValue::of(found.mark, value.as_ref()?)));
            let decision = found.decision();
            let versions = cut(&values, SHORT);
            let within = match &found.kind {
                ConflictKind::Part(within) => Some(within.as_str()),
                _ => None,
            };
            let what = what(found);
            let mut result = self.versions_conflict(what, &versions, decision, &values, within);
            let combined = found.merged.as_ref();
            if let Some(merged) = combined.filter(|_| result.severity != Severity::Error) {
                let shown = Versions::new(None, None, Some(QuotedValue::of(found.mark, merged)));
                let text = |most: usize| {
                    let shown = cut(&shown, most).upstream;
                    shown.map(String::from).unwrap_or_default()
                };
                result.message += &format!("; the file has {}", text(SHORT));
                result = result.tag(MERGED, text(LONG));
            }
            if let Some(lost) = lost_functions(found).filter(|_| result.severity != Severity::Error)
            {
                result.message += &lost;
            }
            let resource = found.resource.as_ref().unwrap_or(resource);
            let result = about(result, resource).with_field(&found.path);
            self.count(decision, more);
            let rule_path = Some(found.rule_path.to_string().into());
            self.results.push(FunctionResult {
                more,
                rule_path,
                ..result
            });
        }
        for found in &findings.combined {
            let values = [&found.local, &found.upstream];
            let values = values.map(|value| QuotedValue::of(found.mark, value));
            let resource = found.resource.as_ref().unwrap_or(resource);
            let result = about(combined(found.kind, values), resource).with_field(&found.path);
            let more = found.more;
            self.results.push(FunctionResult { more, ..result });
        }
        self.guarded(resource, &findings.guarded);
        for path in &findings.duplicates {
            let message = "two elements have the same keys: they were matched by their position";
            let result = FunctionResult::warning(Reason::DuplicateKey, message);
            self.results.push(about(result, resource).with_field(path));
        }
    }

    /// Reports what guards kept out.
    fn guarded(&mut self, resource: &Resource, guarded: &[Guarded]) {
        for found in guarded {
            let values = found.values.as_ref();
            let values = values.map(|value| Some(QuotedValue::of(found.mark, value.as_ref()?)));
            let versions = listed(&cut(&values, SHORT));
            let mut message =
                format!("upstream changed a guarded value ({versions}): kept your value");
            if let Some(reason) = &found.by.reason {
                message = format!("{message}: {reason}");
            }
            let result = FunctionResult::warning(Reason::Guarded, message);
            let rule = format!("guards[{}]", found.by.index);
            let values = cut(&values, LONG);
            let resource = found.resource.as_ref().unwrap_or(resource);
            let result = about(with_versions(result, &values).tag("rule", rule), resource);
            let (result, more) = (result.with_field(&found.path), found.more);
            self.results.push(FunctionResult { more, ..result });
        }
    }

    /// The result for a local change that the strategy overwrites.
    pub(super) fn overwritten(&mut self) -> FunctionResult {
        let strategy = self.options.strategy.as_str();
        let message = format!("`{strategy}` overwrites local changes");
        FunctionResult::warning(Reason::LocalChanges, message)
    }

    /// Adds all results, grouped by file, and then the summary, if anything was counted.
    pub(super) fn finish(mut self, results: &mut Results) {
        let found = std::mem::take(&mut self.results);
        results.extend(found.by_file());
        if let Some(summary) = self.counts.summary(results.has_errors()) {
            let summary = FunctionResult::info(summary);
            results.push(with_detail(summary, MergeDetail::Summary));
        }
    }
}

fn with_detail(result: FunctionResult, detail: MergeDetail) -> FunctionResult {
    let merge = Some(Box::new(detail));
    FunctionResult { merge, ..result }
}

impl Counts {
    fn summary(&self, failed: bool) -> Option<String> {
        let Self {
            updated,
            added,
            removed,
            moved,
            conflicts,
            decided,
        } = *self;
        let counts = [updated, added, removed, moved, conflicts, decided];
        if counts.iter().all(|count| *count == 0) {
            return None;
        }
        let begin = if failed {
            format!("not merged: {updated} would change, {added} would be added")
        } else {
            format!("merged: {updated} changed, {added} added")
        };
        let conflicts = match conflicts {
            1 => "1 conflict".to_owned(),
            count => format!("{count} conflicts"),
        };
        let decided = match decided {
            0 => String::new(),
            count => format!(", {count} decided by rules"),
        };
        Some(format!(
            "{begin}, {removed} removed, {moved} moved, {conflicts}{decided}"
        ))
    }
}

/// The API group, kind, namespace and name of a resource.
pub(super) fn described(resource: &Resource) -> String {
    let identity = ResourceRef::from(resource);
    match resource.group() {
        "" => identity.to_string(),
        group => format!("{group}/{identity}"),
    }
}

/// A value that has the changes of both sides. What they brought is shown from its beginning: these are no two versions of
/// one value, which would be cut to where they differ.
fn combined(kind: PartsOf, brought: [QuotedValue; 2]) -> FunctionResult {
    let up_to = |limit| {
        brought.each_ref().map(|value| {
            let [beginning, ..] = cut_values([Some(value), None, None], limit);
            beginning.unwrap_or_else(|| value.clone())
        })
    };
    let [local, upstream] = up_to(SHORT).map(String::from);
    let message = format!("combined local's {local} with upstream's {upstream}");
    let [local, upstream] = up_to(LONG);
    let kind = kind.as_str();
    let result = FunctionResult::info(message)
        .tag("reason", Reason::Combined.as_str())
        .tag("kind", kind)
        .tag("local", local.as_str())
        .tag("upstream", upstream.as_str());
    let detail = MergeDetail::Combined {
        kind,
        local,
        upstream,
    };
    with_detail(result, detail)
}

/// A result with a tag for each version that has a value.
fn with_versions(result: FunctionResult, values: &Shown) -> FunctionResult {
    let versions = VERSIONS.into_iter().zip(values.as_ref());
    versions.fold(result, |result, (name, value)| match value {
        Some(value) => result.tag(name, value.as_str()),
        None => result,
    })
}

/// Names the resource in a result, or only the file of a document that is not a resource.
fn about(result: FunctionResult, resource: &Resource) -> FunctionResult {
    match &resource.origin.path {
        Some(path) if resource.kind.is_empty() => result.in_file(path.clone()),
        _ => result.with_resource(resource),
    }
}

fn stays_deleted(message: &str) -> FunctionResult {
    let result = FunctionResult::info(format!("{message}: it stays deleted"));
    result.tag("reason", Reason::StaysDeleted.as_str())
}

/// What both sides did to a place: `upstream removed the element, local changed it within `app``.
fn what(found: &Conflict) -> String {
    let values = found.values.as_ref().into_array();
    let present = values.map(Option::is_some);
    let is = |is: fn(&Value) -> bool| values.into_iter().flatten().any(is);
    let thing = match &found.kind {
        ConflictKind::Part(_) => "the value",
        ConflictKind::Order => "the order of the elements",
        ConflictKind::Functions => "the list",
        ConflictKind::Element => "the element",
        ConflictKind::Value if is(|value| matches!(value, Value::Sequence(_))) => "the list",
        ConflictKind::Value if is(|value| matches!(value, Value::Mapping(_))) => "the map",
        ConflictKind::Value => "the value",
    };
    let name = found.element.as_ref();
    let thing = match &found.kind {
        ConflictKind::Part(within) => format!("`{within}` of {thing}"),
        _ => thing.to_owned(),
    };
    let thing = match (&found.kind, name) {
        (ConflictKind::Element, Some(name)) => format!("{thing} `{name}`"),
        (_, Some(name)) => format!("{thing} within `{name}`"),
        (_, None) => thing,
    };
    match present {
        _ if found.kind == ConflictKind::Order => {
            format!("local and upstream both changed {thing}")
        }
        [true, false, true] => format!("local removed {thing}, upstream changed it"),
        [true, true, false] => format!("upstream removed {thing}, local changed it"),
        [false, true, true] => format!("local and upstream both added {thing}"),
        [false, false, true] => format!("local removed the parent of {thing}, upstream added it"),
        [false, true, false] => format!("upstream removed the parent of {thing}, local added it"),
        _ => format!("local and upstream both changed {thing}"),
    }
}

/// The functions that one side added or changed and that are lost, since a list of functions is one value:
/// `, without local's `set-labels:v0.2``.
fn lost_functions(found: &Conflict) -> Option<String> {
    if found.kind != ConflictKind::Functions {
        return None;
    }
    let lists = found.values.as_ref();
    let values = lists.map(|list| list.as_ref().map_or(&[][..], Value::items));
    let (kept, given_up) = (found.winner.of(values), found.winner.other().of(values));
    let name = |function: &Value| {
        let mut names = ["name", "image", "exec"].into_iter();
        let name = names.find_map(|key| function.get(key)?.as_str());
        name.map_or_else(
            || QuotedValue::of(found.mark, function),
            |name| QuotedValue::name(found.mark, name),
        )
    };
    let mut interner = Interner::default();
    let [old, kept, lost] = [values.base, kept, given_up].map(|list| interner.number(list).numbers);
    let known: BTreeSet<u32> = old.into_iter().chain(kept).collect();
    let lost = given_up.iter().zip(lost);
    let lost = lost.filter(|(_, number)| !known.contains(number));
    let lost: Vec<String> = lost.map(|(one, _)| format!("`{}`", name(one))).collect();
    let loser = found.winner.other().as_str();
    (!lost.is_empty()).then(|| format!(", without {loser}'s {}", lost.join(", ")))
}

/// The versions of a value as results show them.
type Shown = Versions<Option<QuotedValue>>;

fn cut(values: &Shown, limit: usize) -> Shown {
    let values = values.as_ref().map(Option::as_ref);
    cut_values(values.into_array(), limit).into()
}

/// `original 1, local 5, upstream none`
fn listed(values: &Shown) -> String {
    let pairs = VERSIONS.iter().zip(values.as_ref());
    let pairs: Vec<String> = pairs
        .map(|(name, value)| {
            format!(
                "{name} {}",
                value.as_ref().map_or("none", QuotedValue::as_str)
            )
        })
        .collect();
    pairs.join(", ")
}
