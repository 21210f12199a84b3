"""Why kpt's result differs from ours: the classes of docs/kpt-differences.md, as patterns.

Each says what kpt does, so that a difference fits only where kpt's result is what the class says, and ours is what
the three versions ask for.
"""

from values import same

MISSING = object()


def name(item):
    return item.get("name") if isinstance(item, dict) else None


def names(items):
    found = [name(item) for item in items]
    return found if None not in found and len(set(map(str, found))) == len(found) else None


def part(value, key, is_list):
    if is_list:
        items = value if isinstance(value, list) else []
        return next((item for item in items if name(item) == key), MISSING)
    return value.get(key, MISSING) if isinstance(value, dict) else MISSING


def differences(ours, kpts, versions, path=""):
    """Yields `(path, class)` of each difference; the class is None where there is none for it."""
    if ours is kpts or (MISSING not in (ours, kpts) and same(ours, kpts)):
        return
    found = class_of(ours, kpts, versions)
    if not found and path == ".spec.ports" and not ports_pair(versions):
        found = "other-keys-than-kpts"
    if found:
        yield path, found
        return
    is_list = isinstance(ours, list) and isinstance(kpts, list)
    if is_list:
        mine, theirs = names(ours), names(kpts)
        if mine is None or theirs is None:
            yield path, None
            return
        common = [key for key in theirs if key in mine]
        if [key for key in mine if key in theirs] != common:
            local = versions[1] if isinstance(versions[1], list) else []
            kept = [key for key in map(name, local) if key in theirs]
            yield path, "order-is-merged" if theirs[: len(kept)] == kept else None
        keys = mine + [key for key in theirs if key not in mine]
    elif isinstance(ours, dict) and isinstance(kpts, dict):
        keys = list(ours) + [key for key in kpts if key not in ours]
    else:
        yield path, None
        return
    for key in keys:
        inner = [part(version, key, is_list) for version in versions]
        below = f"{path}[{key}]" if is_list else f"{path}.{key}"
        yield from differences(part(ours, key, is_list), part(kpts, key, is_list), inner, below)


def class_of(ours, kpts, versions):
    base, local, upstream = versions
    if ours is MISSING and kpts is not MISSING and is_hull(kpts, base):
        return "empty-left-behind"
    if None in [value for value in (ours, local, upstream) if value is None] and kpts is MISSING:
        return "null-is-a-value"
    if isinstance(ours, list) and isinstance(base, list):
        old = [name(item) for item in base]
        if upstream is MISSING and kpts is MISSING and all(name(item) not in old for item in ours):
            return "added-to-a-removed-list"
    # Local removed it, and upstream changed it: of it there is what changed alone.
    if local is MISSING and base is not MISSING and ours is not MISSING and same_or_missing(ours, upstream):
        if kpts is MISSING or is_part(kpts, upstream):
            return "removed-and-changed"
    if MISSING not in versions and any(a == b for a, b in texts(versions)):
        stands = local if text(upstream) == text(base) else upstream
        if kpts is not MISSING and text(kpts) == text(stands):
            return "equal-by-value"
    return None


def ports_pair(versions):
    """Whether a port has one name in all versions, and a name one port."""
    ports = [
        (item.get("name"), item.get("port"))
        for version in versions if isinstance(version, list)
        for item in version if isinstance(item, dict)
    ]
    # Within a version each is there once.
    once = all(
        len({item.get(key) for item in version if isinstance(item, dict)}) == len(version)
        for version in versions if isinstance(version, list)
        for key in ("name", "port")
    )
    return once and all((a[0] == b[0]) == (a[1] == b[1]) for a in ports for b in ports)


def same_or_missing(a, b):
    return a is b or (MISSING not in (a, b) and same(a, b))


def text(value):
    if isinstance(value, (dict, list)):
        return MISSING
    return str(value).lower() if isinstance(value, bool) else str(value)


def texts(versions):
    """Pairs of versions that differ, as texts."""
    for first, a in enumerate(versions):
        for b in versions[first + 1:]:
            if not same(a, b) and text(a) is not MISSING:
                yield text(a), text(b)


def is_part(value, whole):
    return (
        isinstance(value, dict)
        and isinstance(whole, dict)
        and all(key in whole and (same(inner, whole[key]) or is_part(inner, whole[key])) for key, inner in value.items())
    )


def is_hull(value, base):
    """Whether nothing is left of a map or list but the maps and lists in it, and the names of elements."""
    if isinstance(value, dict) and isinstance(base, dict):
        return all(
            key in base and (is_hull(inner, base[key]) or (key == "name" and inner == base[key]))
            for key, inner in value.items()
        )
    if isinstance(value, list) and isinstance(base, list):
        return all(
            name(item) is not None and is_hull(item, part(base, name(item), True)) for item in value
        )
    return False


def compare(ours, kpts, versions):
    """The differences of two packages, given as their resources: `(place, class)`."""
    for key in sorted(ours.keys() | kpts.keys(), key=str):
        at = [package.get(key, MISSING) for package in (ours, kpts, *versions)]
        for path, found in differences(at[0], at[1], at[2:]):
            yield f"{' '.join(map(str, key))}{path}", found
