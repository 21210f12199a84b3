//! Roles that grant more, and bindings for more subjects.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::row::FieldChange;
use crate::walk::{is_true, items, strings, text};
use krm_core::results::and_more;
use krm_yaml::NodeRef;

/// What a rule of a role grants.
#[derive(PartialEq, Eq, Hash)]
struct Grant<'n> {
    groups: Vec<&'n str>,
    resources: Vec<&'n str>,
    names: Vec<&'n str>,
    urls: Vec<&'n str>,
    verbs: Vec<&'n str>,
}

impl<'n> Grant<'n> {
    fn all(rules: Option<NodeRef<'n>>) -> Vec<Self> {
        let grants = items(rules).map(|rule| {
            let list = |name: &str| strings(rule.get(name));
            Self {
                groups: list("apiGroups"),
                resources: list("resources"),
                names: list("resourceNames"),
                urls: list("nonResourceURLs"),
                verbs: list("verbs"),
            }
        });
        grants.collect()
    }

    /// Each pair of a resource or URL and a verb.
    fn each(&self) -> impl Iterator<Item = (AccessTarget<'n>, &'n str)> {
        let names: Vec<Option<&str>> = match self.names.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(*name)).collect(),
        };
        let mut targets: Vec<AccessTarget<'n>> =
            self.urls.iter().map(|url| AccessTarget::Url(url)).collect();
        for group in &self.groups {
            for resource in &self.resources {
                let of = |name: &Option<&'n str>| AccessTarget::Resource {
                    group,
                    resource,
                    name: *name,
                };
                targets.extend(names.iter().map(of));
            }
        }
        let verbs = self.verbs.clone();
        targets
            .into_iter()
            .flat_map(move |target| verbs.clone().into_iter().map(move |verb| (target, verb)))
    }

    /// How many pairs [`Self::each`] returns.
    fn count(&self) -> usize {
        let resources = self.groups.len().saturating_mul(self.resources.len());
        let resources = resources.saturating_mul(self.names.len().max(1));
        let targets = resources.saturating_add(self.urls.len());
        targets.saturating_mul(self.verbs.len())
    }
}

/// Limit of the pairs of a resource or URL and a verb that are compared. A rule can have a list of groups, of
/// resources, of names and of verbs, and grants all combinations of them.
const MOST_PAIRS: usize = 250_000;

/// Everything that a list of rules grants.
#[derive(Default)]
struct Granted<'n> {
    pairs: HashSet<(AccessTarget<'n>, &'n str)>,
    /// The beginnings of URLs that end with `*`, with their verbs.
    beginnings: HashSet<(&'n str, &'n str)>,
    /// The lengths of these beginnings.
    lengths: BTreeSet<usize>,
}

impl<'n> Granted<'n> {
    /// `None` if the rules have too many combinations.
    fn by(grants: &[Grant<'n>]) -> Option<Self> {
        let counts = grants.iter().map(Grant::count);
        if counts.fold(0, usize::saturating_add) > MOST_PAIRS {
            return None;
        }
        let pairs: HashSet<_> = grants.iter().flat_map(Grant::each).collect();
        let mut granted = Self::default();
        for (target, verb) in &pairs {
            if let AccessTarget::Url(url) = target
                && let Some(beginning) = url.strip_suffix('*')
            {
                granted.beginnings.insert((beginning, verb));
                granted.lengths.insert(beginning.len());
            }
        }
        Some(Self { pairs, ..granted })
    }

    fn covers(&self, target: AccessTarget<'n>, verb: &'n str) -> bool {
        let verbs = [verb, "*"];
        match target {
            AccessTarget::Url(url) => {
                let has = |target| self.pairs.contains(&(target, verb));
                let mut lengths = self.lengths.range(..=url.len());
                has(target)
                    || lengths.any(|length| {
                        let beginning = url.get(..*length);
                        let known = |beginning| {
                            let mut verbs = verbs.iter();
                            verbs.any(|verb| self.beginnings.contains(&(beginning, *verb)))
                        };
                        beginning.is_some_and(known)
                    })
            }
            AccessTarget::Resource {
                group,
                resource,
                name,
            } => {
                let part = resource
                    .split_once('/')
                    .map(|(_, part)| format!("*/{part}"));
                let resources = [Some(resource), Some("*"), part.as_deref()];
                let names = [None, name];
                [group, "*"].into_iter().any(|group| {
                    resources.into_iter().flatten().any(|resource| {
                        names.into_iter().any(|name| {
                            let target = AccessTarget::Resource {
                                group,
                                resource,
                                name,
                            };
                            verbs
                                .iter()
                                .any(|verb| self.pairs.contains(&(target, *verb)))
                        })
                    })
                })
            }
        }
    }
}

/// A resource or URL to which a role grants access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum AccessTarget<'n> {
    Resource {
        group: &'n str,
        resource: &'n str,
        name: Option<&'n str>,
    },
    Url(&'n str),
}

impl std::fmt::Display for AccessTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::Resource {
                group,
                resource,
                name,
            } => {
                f.write_str(resource)?;
                if !group.is_empty() {
                    write!(f, ".{group}")?;
                }
                match name {
                    Some(name) => write!(f, " `{name}`"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The maximum number of resources, URLs or subjects that a message names.
const SHOWN: usize = 6;

pub(super) fn grants_more(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, mut after) = (Grant::all(change.before()), Grant::all(change.after()));
    {
        let known: HashSet<&Grant<'_>> = before.iter().collect();
        after.retain(|grant| !known.contains(grant));
    }
    let counts = after.iter().map(Grant::count);
    let count = counts.fold(0, usize::saturating_add);
    let Some(before) = Granted::by(&before).filter(|_| count <= MOST_PAIRS) else {
        let message = "may grant more: the rules have too many combinations of groups, resources, names and verbs to compare";
        return (count > 0).then(|| message.to_owned());
    };
    let mut new: BTreeMap<AccessTarget<'_>, BTreeSet<&str>> = BTreeMap::new();
    for (target, verb) in after.iter().flat_map(Grant::each) {
        if !before.covers(target, verb) {
            new.entry(target).or_default().insert(verb);
        }
    }
    if new.is_empty() {
        return None;
    }
    // Group the things by their verbs, the most dangerous groups first.
    let mut by_verbs: BTreeMap<Vec<&str>, Vec<AccessTarget<'_>>> = BTreeMap::new();
    for (target, verbs) in new {
        by_verbs
            .entry(verbs.into_iter().collect())
            .or_default()
            .push(target);
    }
    let mut groups: Vec<(Vec<&str>, Vec<AccessTarget<'_>>)> = by_verbs.into_iter().collect();
    groups.sort_by_key(|(verbs, targets)| !targets.iter().any(|target| is_grave(*target, verbs)));
    let total: usize = groups.iter().map(|(_, targets)| targets.len()).sum();
    let mut left = SHOWN;
    let mut parts = Vec::new();
    for (verbs, targets) in &groups {
        let mut targets = targets.clone();
        targets.sort_by_key(|target| !is_grave(*target, verbs));
        let shown: Vec<String> = targets.iter().take(left).map(ToString::to_string).collect();
        left -= shown.len();
        if !shown.is_empty() {
            parts.push(format!("{} {}", verbs.join(", "), shown.join(", ")));
        }
    }
    let more = match total.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!("grants more: {}{more}", parts.join("; ")))
}

/// Whether the grant can lead to more rights, or to secrets.
fn is_grave(target: AccessTarget<'_>, verbs: &[&str]) -> bool {
    let grave = ["*", "bind", "escalate", "impersonate"];
    let of_thing = match target {
        AccessTarget::Resource { resource, .. } => matches!(
            resource,
            "*" | "secrets" | "pods/exec" | "nodes/proxy" | "serviceaccounts/token"
        ),
        AccessTarget::Url(url) => url == "*",
    };
    of_thing || verbs.iter().any(|verb| grave.contains(verb))
}

pub(super) fn aggregates(change: &FieldChange<'_, '_>) -> Option<String> {
    let role = change
        .last_field()
        .strip_prefix("rbac.authorization.k8s.io/aggregate-to-")?;
    // The value of a label is a string, so it is quoted.
    let is = |node| text(node) == Some("true");
    (is(change.after()) && !is(change.before()))
        .then(|| format!("everyone with the role `{role}` gets what this role grants"))
}

pub(super) fn collects(change: &FieldChange<'_, '_>) -> bool {
    change.after().is_some()
}

pub(super) fn new_subjects(change: &FieldChange<'_, '_>) -> Option<String> {
    let subjects = |list: Option<NodeRef<'_>>| -> Vec<String> {
        let name = |item: NodeRef<'_>| {
            let namespace = text(item.get("namespace"));
            let namespace = namespace.map(|namespace| format!("{namespace}/"));
            let kind = text(item.get("kind")).unwrap_or_default();
            let name = text(item.get("name")).unwrap_or_default();
            format!("{kind} {}{name}", namespace.unwrap_or_default())
        };
        items(list).map(name).collect()
    };
    let before: HashSet<String> = subjects(change.before()).into_iter().collect();
    let mut new = subjects(change.after());
    new.retain(|subject| !before.contains(subject));
    if new.is_empty() {
        return None;
    }
    let [_, role] = change.of_root(&["roleRef", "name"]);
    let role = text(role).unwrap_or_default();
    let count = new.len();
    new.truncate(SHOWN);
    let more = and_more(count - new.len() + 1);
    Some(format!(
        "the role `{role}` is granted to {}{more}",
        new.join(", ")
    ))
}

/// The annotations that give the pods of a service account the rights of an account of a cloud.
const IDENTITIES: [&str; 3] = [
    "azure.workload.identity/client-id",
    "eks.amazonaws.com/role-arn",
    "iam.gke.io/gcp-service-account",
];

pub(super) fn gets_identity(change: &FieldChange<'_, '_>) -> Option<String> {
    let identity = text(change.after())?;
    let is_one = IDENTITIES.contains(&change.last_field());
    is_one.then(|| format!("the pods of the account get the rights of `{identity}`"))
}

/// What SecurityContextConstraints allow, and for whom.
pub(super) fn widens_constraints(change: &FieldChange<'_, '_>) -> Option<String> {
    let field = change.last_field();
    if matches!(
        field,
        "users" | "groups" | "allowedCapabilities" | "volumes"
    ) {
        let before: HashSet<&str> = strings(change.before()).into_iter().collect();
        let mut new = strings(change.after());
        new.retain(|word| !before.contains(word));
        return (!new.is_empty()).then(|| format!("the constraints also have {}", new.join(", ")));
    }
    let is_new = is_true(change.after()) && !is_true(change.before());
    let allows = field.starts_with("allow") && is_new;
    allows.then(|| format!("the constraints now have `{field}`"))
}
