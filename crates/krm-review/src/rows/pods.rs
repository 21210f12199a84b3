//! What pods may do, and what runs in them.

use std::collections::{HashMap, HashSet};

use crate::report::shortened;
use crate::row::{CONTAINERS, FieldChange, PlaceFinding};
use crate::walk::{given, is_false, is_true, items, strings, text};
use krm_merge::image_parts;
use krm_yaml::{NodeRef, PathElement};

/// The capabilities that a container may add under the Baseline level of the Pod Security Standards.
const HARMLESS: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

pub(super) fn adds_capabilities(change: &FieldChange<'_, '_>) -> Option<String> {
    let before: HashSet<&str> = strings(change.before()).into_iter().collect();
    let mut new = strings(change.after());
    new.retain(|name| {
        !before.contains(name) && !before.contains("ALL") && !HARMLESS.contains(name)
    });
    (!new.is_empty()).then(|| format!("the container gets capabilities: {}", new.join(", ")))
}

pub(super) fn mounts_node(change: &FieldChange<'_, '_>) -> Option<String> {
    let path = text(change.after())?;
    Some(format!("the pod mounts `{path}` from the node"))
}

pub(super) fn leaves_claims(change: &FieldChange<'_, '_>) -> Option<String> {
    let claims = |volumes| texts(volumes, &["persistentVolumeClaim", "claimName"]);
    let mut left = claims(change.before());
    let claims: HashSet<&str> = claims(change.after()).into_iter().collect();
    left.retain(|claim| !claims.contains(claim));
    let is_left = change.place.owner_remains && !left.is_empty();
    is_left.then(|| {
        format!(
            "the pods no longer see the data of the claim `{}`",
            left.join("`, `")
        )
    })
}

/// Findings about the containers for which `holds` is true before the change and false after it, each at the field that
/// caused it: one of `fields` below the security context of the container, or else of the pod. New and removed containers
/// do not count. `holds` gets a container and its pod spec.
fn lost<'n>(
    change: &FieldChange<'_, 'n>,
    fields: &[&[&str]],
    holds: impl Fn(NodeRef<'n>, NodeRef<'n>) -> bool,
    message: &str,
) -> Vec<PlaceFinding<'n>> {
    let Some((before, after)) = change.both() else {
        return Vec::new();
    };
    let mut others: HashMap<&str, NodeRef<'n>> = HashMap::new();
    for (_, name, container) in placed_containers(before) {
        others.entry(name).or_insert(container);
    }
    let mut found: Vec<PlaceFinding<'n>> = Vec::new();
    for (place, name, container) in placed_containers(after) {
        let Some(was) = others.get(name).copied() else {
            continue;
        };
        if !holds(was, before) || holds(container, after) {
            continue;
        }
        let of_container = changed_field([was, container], fields);
        let of_pod = || changed_field([before, after], fields);
        let (mut below, field, values) = match of_container {
            Some((field, values)) => (place.to_vec(), field, values),
            None => match of_pod() {
                Some((field, values)) => (Vec::new(), field, values),
                None => (place.to_vec(), Vec::new(), [None, None]),
            },
        };
        below.extend(field);
        match found.iter_mut().find(|found| found.below == below) {
            Some(found) => found.message += &format!(", {name}"),
            None => found.push(PlaceFinding {
                below,
                message: format!("{message}: {name}"),
                values: Some(values),
                is_whole: false,
            }),
        }
    }
    found
}

/// The first of some fields below a security context that changes, with its values.
fn changed_field<'n>(
    sides: [NodeRef<'n>; 2],
    fields: &[&[&str]],
) -> Option<(Vec<PathElement>, [Option<NodeRef<'n>>; 2])> {
    fields.iter().find_map(|names| {
        let path = [&[SECURITY_CONTEXT], *names].concat();
        let values = sides.map(|node| given(node.get_path(&path)));
        let differs = !NodeRef::same(values[0], values[1]);
        differs.then(|| (path.into_iter().map(field).collect(), values))
    })
}

const SECURITY_CONTEXT: &str = "securityContext";

/// The containers of a pod, with the way to each and its name.
fn placed_containers<'n>(
    pod: NodeRef<'n>,
) -> impl Iterator<Item = ([PathElement; 2], &'n str, NodeRef<'n>)> {
    CONTAINERS.into_iter().flat_map(move |list| {
        let items = items(pod.get(list)).enumerate();
        items.filter_map(move |(index, container)| {
            let place = [field(list), PathElement::Index(index)];
            Some((place, text(container.get("name"))?, container))
        })
    })
}

/// A field of the security context of a container, or of its pod if the container does not have it.
fn context<'n>(container: NodeRef<'n>, pod: NodeRef<'n>, path: &[&str]) -> Option<NodeRef<'n>> {
    let of = |node: NodeRef<'n>| given(given(node.get("securityContext"))?.get_path(path));
    of(container).or_else(|| of(pod))
}

/// What a container uses and its pod lacks: the field in the container, and the name in it.
type Missing<'n> = (Vec<PathElement>, NodeRef<'n>);

/// What `missing` finds in the containers after the change, and not in those before it. It gets a container and its pod
/// spec. Containers without an image are left out: they belong to a patch, which does not have the rest of the pod.
fn newly_missing<'n>(
    change: &FieldChange<'_, 'n>,
    message: &str,
    known: impl Fn(NodeRef<'n>) -> HashSet<&'n str>,
    missing: impl Fn(NodeRef<'n>, &HashSet<&'n str>) -> Vec<Missing<'n>>,
) -> Vec<PlaceFinding<'n>> {
    let of_pod = |pod: NodeRef<'n>| -> Vec<_> {
        let whole = placed_containers(pod);
        let whole = whole.filter(|(.., container)| container.get("image").is_some());
        let known = known(pod);
        let missing = whole.flat_map(|(place, name, container)| {
            let found = missing(container, &known).into_iter();
            found.filter_map(move |(below, what)| {
                let key = (name, text(Some(what))?);
                Some((key, [&place[..], &below].concat(), what))
            })
        });
        missing.collect()
    };
    let before = change.before().map(&of_pod).unwrap_or_default();
    let before: HashSet<_> = before.into_iter().map(|(key, ..)| key).collect();
    let after = change.after().map(&of_pod).unwrap_or_default();
    let new = after.into_iter().filter(|(key, ..)| !before.contains(key));
    let findings = new.map(|((container, what), below, value)| PlaceFinding {
        below,
        message: format!("{message}: `{what}` of {container}"),
        values: Some([None, Some(value)]),
        is_whole: false,
    });
    findings.collect()
}

/// The texts at a path in the elements of a list.
fn texts<'n>(list: Option<NodeRef<'n>>, path: &[&str]) -> Vec<&'n str> {
    items(list)
        .filter_map(|item| text(item.get_path(path)))
        .collect()
}

pub(super) fn mounts_nothing<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let claims = change.of_root(&["spec", "volumeClaimTemplates"]);
    let claims = claims
        .map(|claims| texts(claims, &["metadata", "name"]))
        .concat();
    let volumes = |pod: NodeRef<'n>| -> HashSet<&'n str> {
        let volumes = texts(pod.get("volumes"), &["name"]).into_iter();
        volumes.chain(claims.iter().copied()).collect()
    };
    newly_missing(
        change,
        "the pod lacks a mounted volume",
        volumes,
        |container, volumes| {
            let lists = ["volumeMounts", "volumeDevices"].into_iter();
            let mounts = lists.flat_map(|list| {
                let mounts = items(container.get(list)).enumerate();
                mounts.filter_map(move |(index, mount)| {
                    let path = vec![field(list), PathElement::Index(index), field("name")];
                    Some((path, given(mount.get("name"))?))
                })
            });
            let is_missing =
                |name: NodeRef<'n>| text(Some(name)).is_some_and(|name| !volumes.contains(name));
            mounts.filter(|(_, name)| is_missing(*name)).collect()
        },
    )
}

fn field(name: &str) -> PathElement {
    PathElement::Field(name.to_owned())
}

pub(super) fn probes_nothing<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    newly_missing(
        change,
        "a probe uses a port that its container does not have",
        |_| HashSet::new(),
        |container, _| {
            let ports = texts(container.get("ports"), &["name"]);
            let ports: HashSet<&str> = ports.into_iter().collect();
            let probes = ["livenessProbe", "readinessProbe", "startupProbe"].into_iter();
            let asked = probes.flat_map(|probe| {
                ["httpGet", "tcpSocket"].map(|how| {
                    let path = [probe, how, "port"];
                    Some((path.map(field).to_vec(), given(container.get_path(&path))?))
                })
            });
            let is_missing = |port: NodeRef<'n>| {
                let named = text(Some(port)).filter(|port| port.parse::<u16>().is_err());
                named.is_some_and(|port| !ports.contains(port))
            };
            let missing = asked.flatten().filter(|(_, port)| is_missing(*port));
            missing.collect()
        },
    )
}

pub(super) fn may_run_as_root<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let is_not_root = |container: NodeRef<'_>, pod: NodeRef<'_>| {
        let user = text(context(container, pod, &["runAsUser"]));
        is_true(context(container, pod, &["runAsNonRoot"])) || user.is_some_and(|user| user != "0")
    };
    let fields: &[&[&str]] = &[&["runAsNonRoot"], &["runAsUser"]];
    lost(change, fields, is_not_root, "containers may run as root")
}

pub(super) fn may_escalate<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let is_bound = |container: NodeRef<'_>, _: NodeRef<'_>| {
        let path = ["securityContext", "allowPrivilegeEscalation"];
        is_false(container.get_path(&path))
    };
    lost(
        change,
        &[&["allowPrivilegeEscalation"]],
        is_bound,
        "processes may get more privileges than their parents",
    )
}

pub(super) fn loses_seccomp<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let is_confined = |container: NodeRef<'_>, pod: NodeRef<'_>| {
        text(context(container, pod, &["seccompProfile", "type"])).is_some()
    };
    lost(
        change,
        &[&["seccompProfile", "type"]],
        is_confined,
        "containers no longer have a seccomp profile",
    )
}

pub(super) fn keeps_capabilities<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let drops_all = |container: NodeRef<'_>, _: NodeRef<'_>| {
        let path = ["securityContext", "capabilities", "drop"];
        strings(container.get_path(&path)).contains(&"ALL")
    };
    lost(
        change,
        &[&["capabilities", "drop"]],
        drops_all,
        "containers no longer drop all capabilities",
    )
}

pub(super) fn may_write_root<'n>(change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
    let is_read_only = |container: NodeRef<'_>, _: NodeRef<'_>| {
        let path = ["securityContext", "readOnlyRootFilesystem"];
        is_true(container.get_path(&path))
    };
    lost(
        change,
        &[&["readOnlyRootFilesystem"]],
        is_read_only,
        "containers may write to their root file system",
    )
}

pub(super) fn arguments(change: &FieldChange<'_, '_>) -> Option<String> {
    let [before, after] = [strings(change.before()), strings(change.after())];
    if !change.place.owner_remains {
        return None;
    }
    let (removed, new) = (
        ArgumentsOfOneSide::of(&before, &after),
        ArgumentsOfOneSide::of(&after, &before),
    );
    let part = |word: &str, side: &ArgumentsOfOneSide| {
        let shown = side.shown.join(" ");
        match side.count - side.shown.len() {
            _ if side.count == 0 => String::new(),
            0 => format!(", {word} {shown}"),
            more => format!(", {word} {shown} and {more} more"),
        }
    };
    let message = format!(
        "other arguments{}{}",
        part("with", &new),
        part("without", &removed)
    );
    Some(match new.count + removed.count {
        0 => "the order of the arguments changes".to_owned(),
        _ => message,
    })
}

/// The arguments that only one side has: how many, and the first ones as they are shown.
struct ArgumentsOfOneSide {
    count: usize,
    shown: Vec<String>,
}

impl ArgumentsOfOneSide {
    const SHOWN: usize = 4;

    /// The arguments of one side that the other side does not have.
    fn of(one: &[&str], other: &[&str]) -> Self {
        let known: HashSet<&str> = other.iter().copied().collect();
        let lines: HashSet<&str> = other.iter().flat_map(|text| text.lines()).collect();
        let mut found = Self {
            count: 0,
            shown: Vec::new(),
        };
        for text in one.iter().filter(|text| !known.contains(*text)) {
            let line = if text.contains('\n') {
                let is_new = |line: &&str| !line.trim().is_empty() && !lines.contains(line);
                let Some(line) = text.lines().find(is_new) else {
                    continue;
                };
                Some(line)
            } else {
                None
            };
            found.count += 1;
            // A text is compared with all others to be shortened, so only those that are shown are.
            if found.shown.len() < Self::SHOWN {
                found.shown.push(match line {
                    Some(line) => argument(line.trim(), &[]),
                    None => argument(text, other),
                });
            }
        }
        found
    }
}

fn argument(text: &str, others: &[&str]) -> String {
    format!("`{}`", shortened(text, others, 60))
}

pub(super) fn environment(change: &FieldChange<'_, '_>) -> Option<String> {
    let node = change.after().or(change.before())?;
    let is_optional = |source: &str| {
        let path = ["valueFrom", source, "optional"];
        is_true(node.get_path(&path))
    };
    let verb = match (change.before(), change.after()) {
        (Some(_), Some(_)) => "changes",
        _ if !change.place.owner_remains => return None,
        // It has no value until someone sets its key.
        (None, _)
            if ["configMapKeyRef", "secretKeyRef"]
                .into_iter()
                .any(is_optional) =>
        {
            return None;
        }
        (None, _) => "is new",
        (_, None) => "is gone",
    };
    Some(match text(node.get("name")) {
        Some(name) => format!("the environment variable `{name}` {verb}"),
        None => format!("the source of environment variables {verb}"),
    })
}

/// Whether a namespace admits more under the Pod Security Standards.
pub(super) fn lowers_level(change: &FieldChange<'_, '_>) -> bool {
    const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];
    let level = |node| LEVELS.iter().position(|level| Some(*level) == text(node));
    change.last_field() == "pod-security.kubernetes.io/enforce"
        && level(change.after()).unwrap_or(0) < level(change.before()).unwrap_or(0)
}

pub(super) fn account(change: &FieldChange<'_, '_>) -> bool {
    change.place.owner_remains && change.roots.iter().all(Option::is_some)
}

/// The parts of an image's name.
struct ContainerImage<'i> {
    repository: &'i str,
    tag: Option<&'i str>,
    digest: Option<&'i str>,
}

impl<'i> ContainerImage<'i> {
    fn read(name: &'i str) -> Self {
        let (repository, tag, digest) = image_parts(name);
        Self {
            repository,
            tag,
            digest,
        }
    }

    /// The version that the tag begins with. A date is not a version.
    fn version(&self) -> Option<[u64; 3]> {
        let tag = self.tag?;
        let tag = tag.strip_prefix('v').unwrap_or(tag);
        let (core, rest) = tag.split_once(['-', '+', '_']).unwrap_or((tag, ""));
        if !core.contains('.') && (core.len() > 4 || rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            return None;
        }
        let mut parts = core.split('.').map(str::parse);
        let mut next = || parts.next().transpose().ok();
        let major = next()??;
        Some([major, next()?.unwrap_or(0), next()?.unwrap_or(0)])
    }
}

/// How an image changes: `from 1.2.0 up to 1.3.0 (minor)`.
pub(super) fn image(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = match (change.before(), change.after()) {
        (Some(before), Some(after)) => (text(Some(before))?, text(Some(after))?),
        // The finding about the whole resource says enough.
        _ if change.roots.iter().any(Option::is_none) => return None,
        (None, after) => return Some(format!("the image `{}` is new", text(after)?)),
        (before, None) => return Some(format!("the image `{}` is gone", text(before)?)),
    };
    let [old, new] = [before, after].map(ContainerImage::read);
    if old.repository != new.repository {
        let message = format!("the image comes from `{}`", new.repository);
        return Some(match step(&old, &new) {
            Some(step) => format!("{message}, and its version goes {step}"),
            None => message,
        });
    }
    Some(match step(&old, &new) {
        Some(step) => format!("the image version goes {step}"),
        None if old.tag == new.tag && old.digest != new.digest => {
            "the image has a different digest under the same tag".to_owned()
        }
        None => "the image changes".to_owned(),
    })
}

fn step(old: &ContainerImage<'_>, new: &ContainerImage<'_>) -> Option<String> {
    let (was, is) = (old.version()?, new.version()?);
    let names = ["major", "minor", "patch"];
    let part = (0..3).find(|part| was[*part] != is[*part]);
    let direction = if is < was { "down" } else { "up" };
    let (from, to) = (old.tag?, new.tag?);
    match part {
        Some(part) => Some(format!("{direction} from {from} to {to} ({})", names[part])),
        None if from != to => Some(format!("from {from} to {to}")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ContainerImage, step};

    #[test]
    fn images_go_up_and_down() {
        for (old, new, expected) in [
            (
                "a:1.2.3",
                "a:v1.3.0",
                Some("up from 1.2.3 to v1.3.0 (minor)"),
            ),
            (
                "r:5000/a:v2",
                "r:5000/a:v1.9",
                Some("down from v2 to v1.9 (major)"),
            ),
            (
                "a:1.2.3",
                "a:1.2.4-alpine",
                Some("up from 1.2.3 to 1.2.4-alpine (patch)"),
            ),
            ("a:1.2", "a:1.2@sha256:0", None),
            ("a:1.2", "a:1.2-alpine", Some("from 1.2 to 1.2-alpine")),
            ("r:5000/a", "r:5000/a:1", None),
            ("a:latest", "a:1", None),
            (
                "a:14-alpine",
                "a:15",
                Some("up from 14-alpine to 15 (major)"),
            ),
            ("a:20-04-07_56b2", "a:3.15.2", None),
            ("a:v20231226-1a71", "a:v1.5.0", None),
        ] {
            let found = step(&ContainerImage::read(old), &ContainerImage::read(new));
            assert_eq!(found.as_deref(), expected, "{old} {new}");
        }
    }
}
