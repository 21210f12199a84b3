"""What a three-way merge of values has to hold: a plain reading of the rule, to judge merges by.

Local is kept where upstream changed nothing, upstream is taken where local changed nothing, and a place that both
changed to different ends is open. Maps are merged by key, lists by the key that all their elements have, by
what they hold (as sets) where they are of scalars, and else as a whole.
"""

import collections
import json

from values import document, is_resource, key_of, same

MISSING = object()
KEYS = ("name", "containerPort", "port", "mountPath", "type", "ip", "key", "uid", "topologyKey")


def equal(a, b):
    return a is b or (MISSING not in (a, b) and same(a, b))


def scalar(value):
    return not isinstance(value, (dict, list))


def list_key(lists):
    """The key that tells the elements of all these lists apart, if there is one."""
    for key in KEYS:
        def identities(items):
            return [repr(item[key]) for item in items if isinstance(item, dict) and key in item]
        if all(len(set(identities(items))) == len(items) for items in lists):
            return key
    return None


def judge(base, ours, theirs, merged, path=()):
    """Yields `(path, problem)`, with `[]` for an element: `open` where both sides changed it, `wrong` where the merge is not what it must be."""
    if equal(ours, theirs) or equal(base, theirs):
        if not equal(merged, ours):
            yield path, "wrong: not ours"
        return
    if equal(base, ours):
        if not equal(merged, theirs):
            yield path, "wrong: not theirs"
        return
    versions = [base, ours, theirs]
    if all(map(document, versions)):
        yield from judge(*map(document, versions), document(merged), (*path, "within"))
        return
    if all(isinstance(value, dict) for value in (ours, theirs)) and (base is MISSING or isinstance(base, dict)):
        maps = [{} if value is MISSING else value for value in versions]
        yield from below(maps, merged, path)
        return
    if all(isinstance(value, list) for value in (ours, theirs)) and (base is MISSING or isinstance(base, list)):
        lists = [[] if value is MISSING else value for value in versions]
        key = list_key(lists)
        if key and isinstance(merged, list):
            maps = [{repr(item[key]): item for item in items} for items in lists]
            if any(not isinstance(item, dict) or key not in item for item in merged):
                yield path, "wrong: an element without key"
                return
            found = {repr(item[key]): item for item in merged}
            if len(found) != len(merged):
                yield path, "wrong: an element appears twice"
                return
            yield from below(maps, found, path, "[]")
            yield from order(maps, found, path)
            return
        if isinstance(merged, list) and all(scalar(item) for items in (*lists, merged) for item in items):
            if is_union(*[set(map(repr, items)) for items in (*lists, merged)]):
                return
        if isinstance(merged, list) and has_both(*[collections.Counter(map(canonical, items)) for items in (*lists, merged)]):
            return
    yield path, "open"


def below(versions, merged, path, step=None):
    if not isinstance(merged, dict):
        yield path, "wrong: no map or list any more"
        return
    for key in dict.fromkeys(key for value in (*versions, merged) for key in value):
        inner = [value.get(key, MISSING) for value in (*versions, merged)]
        yield from judge(*inner, (*path, step or key))


def is_union(base, ours, theirs, merged):
    return merged == (ours | theirs) - (base - ours) - (base - theirs)


def has_both(base, ours, theirs, merged):
    """Whether the elements that each side added and removed, and no others, are added and removed in the merge."""
    wanted = {}
    for item in base | ours | theirs:
        was, here, there = base[item], ours[item], theirs[item]
        wanted[item] = there if here in (was, there) else here if there == was else max(here + there - was, 0)
    return merged == collections.Counter(wanted)


def canonical(value):
    return json.dumps(value, sort_keys=True, default=str)


def order(maps, merged, path):
    """What stands in one order in all versions that have both must do so in the merge."""
    places = [{key: at for at, key in enumerate(value)} for value in (*maps, merged)]
    keys = list(merged)
    for at, first in enumerate(keys):
        for second in keys[at + 1:]:
            held = [place for place in places[:3] if first in place and second in place]
            if held and all(place[first] > place[second] for place in held):
                yield path, f"wrong: {first} stands before {second}"
                return


def by_identity(files):
    """The documents of each file by group, kind, name and, where that does not tell them apart, namespace."""
    def short(value):
        group, kind, namespace, name = key_of(value)
        return group, kind, name

    resources = [[short(value) for value in file if is_resource(value)] for file in files]
    twice = {key for keys in resources for key in keys if keys.count(key) > 1}
    for file in files:
        found = {}
        for number, value in enumerate(file):
            key = ("document", number)
            if is_resource(value):
                key = short(value)
                if key in twice:
                    key += (key_of(value)[2],)
            while key in found:
                key += ("again",)
            found[key] = value
        yield found


def judge_files(base, ours, theirs, merged):
    """The same for the documents of a file: yields `(identity, path, problem)`."""
    files = list(by_identity([base, ours, theirs, merged]))
    for key in dict.fromkeys(key for file in files for key in file):
        for path, problem in judge(*[file.get(key, MISSING) for file in files]):
            yield key, path, problem
