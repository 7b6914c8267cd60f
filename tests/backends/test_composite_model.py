"""A composite answers as one backend would that holds every file which is not hidden."""

from __future__ import annotations

from hypothesis import strategies as st

from backends.shelf import Shelf, paths
from doors import for_all
from memoryware.backends.composite import CompositeBackend

NAMES = ["a", "b", ".c", "ab", "a.md"]
names = st.sampled_from(NAMES)
folders = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
piece = st.sampled_from(
    [*NAMES, "*", "**", "?", ".*", "[ab]", "{a,b}", "*.md", "{*,.c}", "a*", "[!a]"]
)
patterns = st.tuples(st.sampled_from(["", "/"]), st.lists(piece, min_size=1, max_size=4)).map(
    lambda parts: parts[0] + "/".join(parts[1])
)


@st.composite
def trees(draw):
    """Draw mounts, and files in each part whose texts say which part they are in."""
    mounts = draw(st.lists(folders, max_size=4, unique=True))
    parts = {mount: Shelf() for mount in ["", *mounts]}
    for mount, part in parts.items():
        drawn = draw(st.lists(folders, max_size=5))
        # no backend has a file and a folder of one name
        leaves = [one for one in drawn if not any(a != one and is_in(a, one) for a in drawn)]
        for path in leaves:
            part.files[path] = f"hit {mount}\n" * draw(st.integers(1, 3))
    return parts


def one_backend(parts):
    """Put every file that no mount hides into one backend."""
    whole = Shelf()
    for mount, part in parts.items():
        for path, text in part.files.items():
            full = mount + path
            nearest = max((one for one in parts if is_in(full, one)), key=len)
            leads_to_a_mount = any(is_in(one, full) for one in parts if one)
            if nearest == mount and not leads_to_a_mount:
                whole.files[full] = text
    return whole


def all_files(parts):
    return [
        (mount + path, text) for mount, part in parts.items() for path, text in part.files.items()
    ]


def is_in(path, folder):
    return path == folder or path.startswith(folder + "/")


def composite_of(parts):
    routes = {mount: part for mount, part in parts.items() if mount}
    return CompositeBackend(parts[""], routes)


@for_all(
    trees(), patterns, st.one_of(st.none(), st.just("/"), folders), examples=100, slow_examples=400
)
def test_glob_and_grep_find_what_one_backend_would(parts, pattern, path):
    composite, whole = composite_of(parts), one_backend(parts)
    if path and any(is_in(path, mount) for mount in parts if mount):
        repeated = path[1:] + "/"
        if pattern.lstrip("/").startswith(repeated):
            return  # then a second reading counts, which is tested elsewhere
    found = composite.glob(pattern, path)
    assert found.error is None
    assert paths(found) == paths(whole.glob(pattern, path))
    lines = composite.grep("hit", path, pattern)
    assert lines.error is None
    expected = [] if path in whole.files else whole.grep("hit", path, pattern).matches
    if path not in whole.files:
        assert lines.matches == sorted(expected, key=lambda one: (one["path"], one["line"]))


@for_all(trees(), st.integers(1, 12), examples=50, slow_examples=200)
def test_a_limited_grep_gives_the_first_lines_of_all(parts, most):
    every = composite_of(parts).grep("hit").matches
    told = composite_of(parts).grep("hit", max_count=most)
    assert told.matches == every[:most]
    assert told.truncated or len(every) <= most
    if one_backend(parts).files == dict(all_files(parts)):  # nothing is hidden
        assert told.truncated == (len(every) > most)


@for_all(trees(), st.one_of(st.just("/"), folders), examples=75, slow_examples=300)
def test_a_listing_shows_files_folders_and_mounts_once(parts, path):
    composite, whole = composite_of(parts), one_backend(parts)
    base = path.rstrip("/") + "/"
    inside = {one[len(base) :] for one in whole.files if one.startswith(base)}
    expected = {base + one.split("/")[0] + ("/" if "/" in one else "") for one in inside}
    expected |= {
        base + one[len(base) :].split("/")[0] + "/" for one in parts if one.startswith(base)
    }
    hidden = {one.rstrip("/") for one in expected if one.endswith("/")}
    listed = composite.ls(path)
    shown = [one for one in paths(listed) if one.endswith("/") or one not in hidden]
    assert shown == sorted(one for one in expected if one.endswith("/") or one not in hidden)
    assert len(set(paths(listed))) == len(paths(listed))


@for_all(trees(), st.lists(folders, max_size=6), examples=50, slow_examples=200)
def test_a_batch_reads_what_one_backend_would(parts, wanted):
    got = composite_of(parts).download_files(wanted)
    expected = one_backend(parts).download_files(wanted)
    assert [(one.path, one.content) for one in got] == [(one.path, one.content) for one in expected]
