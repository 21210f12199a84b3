//! Which elements of a list are the same in three versions.

use std::collections::BTreeSet;

use super::merge::{Elements, Versions};
use super::plain::Plain;

/// What tells an element from others: its keys, or its value if it has none of them.
pub(super) fn identity(keys: &[&str], element: &Plain) -> String {
    let default = |name: &str| if name == "protocol" { "\"TCP\"" } else { "-" };
    let key = |name: &&str| {
        element
            .get(name)
            .map_or_else(|| default(name).to_owned(), Plain::to_string)
    };
    if keys.iter().all(|name| element.get(name).is_none()) {
        return format!("value {element}");
    }
    let keys: Vec<String> = keys.iter().map(key).collect();
    format!("key {}", keys.join(" "))
}

/// Elements with what tells them apart; those that are equal in that by their number.
pub(super) fn numbered<'v>(list: Option<&'v Plain>, id: &dyn Fn(&Plain) -> String) -> Elements<'v> {
    let mut out: Elements<'v> = Vec::new();
    for element in list.map(Plain::elements).unwrap_or_default() {
        let id = id(element);
        let number = (0..)
            .find(|n| find(&out, &format!("{id} {n}")).is_none())
            .expect("a number");
        out.push((format!("{id} {number}"), element));
    }
    out
}

pub(super) fn find<'v>(source: &Elements<'v>, id: &str) -> Option<&'v Plain> {
    source
        .iter()
        .find(|(other, _)| other == id)
        .map(|(_, element)| *element)
}

pub(super) fn ids(sources: &[Elements<'_>; 3]) -> Vec<String> {
    let all: BTreeSet<&String> = sources.iter().flatten().map(|(id, _)| id).collect();
    all.into_iter().cloned().collect()
}

/// Where both sides took an element away and each put one in its place that keeps its name, but has another
/// key, that is one element that both changed. Names of ports occur once: there one side is enough, or two that
/// both added.
pub(super) fn replaced(is_ports: bool, sources: &mut [Elements<'_>; 3]) {
    let [base, local, upstream] = &*sources;
    let named = |source: &Elements<'_>, name: &Plain| {
        let with = source.iter().filter(|(_, e)| e.get("name") == Some(name));
        let with: Vec<String> = with.map(|(id, _)| id.clone()).collect();
        <[String; 1]>::try_from(with).ok().map(|[id]| id)
    };
    let mut found = Vec::new();
    for (_, element) in local {
        let Some(name) = element.get("name").filter(|name| name.text().is_some()) else {
            continue;
        };
        let (Some(ours), Some(theirs)) = (named(local, name), named(upstream, name)) else {
            continue;
        };
        let old = named(base, name);
        let is_new = |own: &Elements<'_>, now: &String, other: &Elements<'_>| {
            let is_gone = old.as_ref().is_none_or(|old| find(own, old).is_none());
            is_gone && find(base, now).is_none() && find(other, now).is_none()
        };
        let here = is_new(local, &ours, upstream);
        let there = is_new(upstream, &theirs, local);
        let is_one = match &old {
            Some(old) => {
                here && there || is_ports && (here && theirs == *old || there && ours == *old)
            }
            None => is_ports && here && there,
        };
        if ours != theirs && is_one {
            found.push([old, Some(ours), Some(theirs)]);
        }
    }
    for same in found {
        let name = format!("replaced {same:?}");
        for (source, id) in sources.iter_mut().zip(&same) {
            let at = source
                .iter()
                .position(|(other, _)| Some(other) == id.as_ref());
            if let Some(at) = at {
                source[at].0.clone_from(&name);
            }
        }
    }
}

/// Functions whose images differ in registry and path alone: of two versions, the only one that the other lacks.
pub(super) fn relocated(sources: &mut [Elements<'_>; 3]) {
    fn last(id: &str) -> Option<&str> {
        id.strip_prefix("image ")?.rsplit('/').next()
    }
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let alone = |here: usize, there: usize| -> Vec<String> {
            let lacks = |id: &&String| last(id).is_some() && find(&sources[there], id).is_none();
            let ids = sources[here].iter().map(|(id, _)| id);
            ids.filter(lacks).cloned().collect()
        };
        let (left, right) = (alone(one, other), alone(other, one));
        let mut same = Vec::new();
        for id in &left {
            let like = |ids: &[String]| -> Vec<String> {
                let like = ids.iter().filter(|other| last(other) == last(id));
                like.cloned().collect()
            };
            let [only] = <[String; 1]>::try_from(like(&right)).unwrap_or_default();
            let meet =
                |source: &Elements<'_>| find(source, id).is_some() && find(source, &only).is_some();
            if like(&left).len() == 1 && !only.is_empty() && !sources.iter().any(meet) {
                same.push((id.clone(), only));
            }
        }
        for (id, only) in same {
            for (other, _) in sources.iter_mut().flatten() {
                if *other == only {
                    other.clone_from(&id);
                }
            }
        }
    }
}

/// Whether a function comes from a PackageVariant: those pair by name always.
pub(super) fn is_prepended(function: &Plain) -> bool {
    function
        .get("name")
        .and_then(Plain::text)
        .is_some_and(|name| name.starts_with("PackageVariant."))
}

pub(super) fn are_functions(versions: Versions<'_>) -> bool {
    let lists = versions.into_iter().flatten();
    lists.flat_map(Plain::elements).all(Plain::is_map)
}

/// Whether functions are told apart by name (else by image); `None` if the list is one value.
pub(super) fn function_identity(versions: Versions<'_>) -> Option<bool> {
    let lists = versions.map(|list| {
        list.map(Plain::elements)
            .unwrap_or_default()
            .iter()
            .filter(|f| !is_prepended(f))
            .collect::<Vec<_>>()
    });
    if !are_functions(versions) {
        return None;
    }
    let named = |f: &&&Plain| f.get("name").and_then(Plain::text).is_some();
    let all = || lists.iter().flatten();
    if all().all(|f| named(&f)) {
        return Some(true);
    }
    let is_unique = |list: &Vec<&Plain>| {
        let ids: BTreeSet<String> = list.iter().map(|f| function_id(f, Some(false))).collect();
        ids.len() == list.len()
    };
    let has_image = |f: &&Plain| {
        f.get("image")
            .or(f.get("exec"))
            .and_then(Plain::text)
            .is_some()
    };
    (!all().any(|f| named(&f)) && all().all(has_image) && lists.iter().all(is_unique))
        .then_some(false)
}

/// By name, or by image without tag and digest, or by the first word of the command, or by value.
pub(super) fn function_id(function: &Plain, by_name: Option<bool>) -> String {
    let text = |name: &str| function.get(name).and_then(Plain::text);
    match by_name {
        _ if is_prepended(function) => format!("name {}", text("name").unwrap_or_default()),
        None => format!("value {function}"),
        Some(true) => format!("name {}", text("name").unwrap_or_default()),
        Some(false) => match text("image") {
            Some(image) => {
                let image = image.split('@').next().unwrap_or_default();
                let tag = image.rfind(':').filter(|at| !image[*at..].contains('/'));
                format!("image {}", &image[..tag.unwrap_or(image.len())])
            }
            None => {
                let command = text("exec").unwrap_or_default();
                format!(
                    "exec {}",
                    command.split_whitespace().next().unwrap_or_default()
                )
            }
        },
    }
}
