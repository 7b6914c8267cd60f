"""What a history does on real disks, stores and graphs beyond what the suite can ask."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from conformance.dict_backend import DictBackend
from limits import limited
from memoryware.backends import CompositeBackend, FilesystemBackend, StoreBackend
from memoryware.backends._actor import Actor, acting
from memoryware.backends.history import HistoryBackend
from memoryware.errors import (
    FileDenied,
    PathRefused,
    PatternRefused,
    SettingError,
    VersionMissing,
    WriteFailed,
)
from memoryware.settings import HistoryLimits

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(tmp_path, clock):
    def opened(**options):
        return HistoryBackend(FilesystemBackend(tmp_path), **{"clock": clock, **options})

    return opened


def stored(root):
    """The files of all versions, in order."""
    return sorted((root / ".memoryware" / "history").rglob("0*.json"), key=lambda one: one.name)


def numbers(backend, path="/a.md"):
    return [one.number for one in reversed(backend.log(path))]


# What is dropped.


@pytest.mark.slow
def test_of_a_thousand_versions_the_newest_stay_and_the_rest_is_told():
    store = InMemoryStore()
    backend = HistoryBackend(
        StoreBackend(store=store, namespace=("memory",)),
        keep=limited(HistoryLimits, versions=20, sweep_after=10_000),
    )
    for n in range(1000):
        assert backend.write("/a.md", f"text {n}").error is None

    versions = backend.log("/a.md")
    assert [one.number for one in versions] == [*range(1000, 980, -1)]
    assert [one.dropped for one in versions] == [0] * 19 + [980]
    assert len(versions_in(store, "memory")) == 21, "and their index"
    assert backend.undo("/a.md").restored == 999
    with pytest.raises(VersionMissing, match="from 982 to 1001 are kept"):
        backend.undo("/a.md", to=3)


def test_undo_ends_where_versions_were_dropped(opened):
    backend = opened(keep=HistoryLimits(versions=3))
    for n in range(5):
        backend.write("/a.md", f"text {n}")
    backend.undo("/a.md")
    with pytest.raises(VersionMissing, match="3 earlier versions were dropped"):
        backend.undo("/a.md")
    assert backend.read("/a.md").file_data["content"] == "text 3"


def test_an_old_version_stays_until_it_was_replaced_for_long(opened, clock):
    backend = opened(keep=HistoryLimits(age_days=30))
    backend.write("/a.md", "one")
    backend.write("/a.md", "two")
    clock.now += timedelta(days=400)
    backend.write("/a.md", "three")
    assert numbers(backend) == [2, 3], "version 2 was the text until a moment ago"
    backend.undo("/a.md")
    assert backend.read("/a.md").file_data["content"] == "two"
    clock.now += timedelta(days=31)
    backend.write("/a.md", "four")
    assert numbers(backend) == [4, 5]


def test_versions_of_one_file_take_no_more_than_their_bytes(opened):
    backend = opened(keep=limited(HistoryLimits, file_bytes=10_000))
    for n in range(9):
        backend.write("/a.md", f"{n}" * 3000)
    assert numbers(backend) == [7, 8, 9]
    backend.write("/a.md", "x" * 50_000)
    assert numbers(backend) == [9, 10], "the last change can always be undone"
    backend.undo("/a.md")
    assert backend.read("/a.md").file_data["content"] == "8" * 3000


def test_prune_holds_all_files_against_the_limits(opened, clock, caplog):
    backend = opened(keep=limited(HistoryLimits, age_days=30, total_bytes=8000, sweep_after=10**9))
    for name in ("a", "b", "gone"):
        for n in range(4):
            backend.write(f"/{name}.md", f"{n}" * 1000)
    backend.delete("/gone.md")
    assert backend.prune() == 4
    assert (numbers(backend, "/a.md"), numbers(backend, "/b.md")) == ([4], [2, 3, 4])
    clock.now += timedelta(days=31)
    with caplog.at_level(logging.INFO, "memoryware"):
        assert backend.prune() == 3 + 1
    assert "4 versions of files were dropped" in caplog.text
    assert [numbers(backend, f"/{one}.md") for one in ("a", "b", "gone")] == [[4], [3, 4], [4, 5]]


def test_as_files_change_all_of_them_are_held_against_the_limits(opened, tmp_path):
    backend = opened(keep=limited(HistoryLimits, total_bytes=5000, sweep_after=1))
    for n in range(40):
        backend.write(f"/{n % 8}.md", f"{n:02d}" * 250)
        kept = [json.loads(one.read_text()) for one in stored(tmp_path)]
        assert sum(len(one["content"]) for one in kept) <= 5000
    assert {one["path"] for one in kept} == {f"/{n}.md" for n in range(8)}
    assert len(kept) == 10


@pytest.mark.slow
def test_one_change_in_so_many_looks_at_all_files(opened, caplog):
    backend = opened(keep=limited(HistoryLimits, total_bytes=1, sweep_after=20))
    dropped = 0
    for n in range(300):
        with caplog.at_level(logging.INFO, "memoryware"):
            backend.write("/a.md", f"{n}")
        dropped += "dropped to keep to the limits" in caplog.text
        caplog.clear()
    assert 1 <= dropped <= 60


def test_a_very_large_text_is_described_but_not_kept(opened):
    backend = opened(keep=limited(HistoryLimits, text_bytes=1000))
    backend.write("/a.md", "small")
    backend.write("/a.md", "x" * 1001)
    backend.write("/a.md", "small again")
    assert [(one.size, one.kept) for one in backend.log("/a.md")] == [
        (11, True),
        (1001, False),
        (5, True),
    ]
    with pytest.raises(VersionMissing, match="too large to be stored"):
        backend.undo("/a.md")
    assert backend.read("/a.md").file_data["content"] == "small again"
    backend.undo("/a.md", to=1)
    assert backend.read("/a.md").file_data["content"] == "small"


# Files on disk.


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_who_may_not_read_a_file_may_not_read_its_versions(opened, tmp_path):
    (tmp_path / "a.md").write_text("private")
    (tmp_path / "a.md").chmod(0o600)
    (tmp_path / "b.md").write_text("open")
    (tmp_path / "b.md").chmod(0o644)
    backend = opened()
    for name in ("a", "b"):
        backend.append(f"/{name}.md", "more")
    modes = {json.loads(one.read_text())["path"]: one.stat().st_mode for one in stored(tmp_path)}
    assert {path: mode & 0o077 for path, mode in modes.items()} == {"/a.md": 0, "/b.md": 0o044}


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
@pytest.mark.parametrize("mounted", [False, True])
def test_a_private_file_that_was_deleted_comes_back_private(tmp_path, clock, mounted):
    disk = FilesystemBackend(tmp_path)
    inner = (
        CompositeBackend(disk, {"/other/": DictBackend({}, threading.RLock())}) if mounted else disk
    )
    backend = HistoryBackend(inner, clock=clock)
    for name, mode in (("a", 0o600), ("b", 0o644)):
        backend.write(f"/{name}.md", "one")
        (tmp_path / f"{name}.md").chmod(mode)
    for delete in (backend.delete, lambda path: (tmp_path / path[1:]).unlink()):
        for name in ("a", "b"):
            backend.append(f"/{name}.md", "more")
            delete(f"/{name}.md")
            backend.undo(f"/{name}.md")
        assert (tmp_path / "a.md").stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "b.md").stat().st_mode & 0o777 == 0o644
    private = [one for one in stored(tmp_path) if json.loads(one.read_text())["path"] == "/a.md"]
    later = [one.stat().st_mode & 0o077 for one in private[1:]]
    assert len(later) > 3
    assert not any(later)


def test_a_linked_file_has_one_history_under_both_names(opened, tmp_path):
    (tmp_path / "AGENTS.md").symlink_to("notes/real.md")
    backend = opened()
    backend.write("/AGENTS.md", "one")
    backend.append("/notes/real.md", "two")

    assert numbers(backend, "/AGENTS.md") == numbers(backend, "/notes/real.md") == [1, 2]
    assert backend.files() == ["/notes/real.md"]
    backend.undo("/AGENTS.md")
    assert (tmp_path / "notes" / "real.md").read_text() == "one"
    assert (tmp_path / "AGENTS.md").is_symlink()


def test_a_deleted_link_comes_back_as_a_file_and_the_real_one_stays(opened, tmp_path):
    (tmp_path / "real.md").write_text("text")
    (tmp_path / "AGENTS.md").symlink_to("real.md")
    backend = opened()
    assert backend.delete("/AGENTS.md").error is None
    assert (tmp_path / "real.md").read_text() == "text"
    assert not os.path.lexists(tmp_path / "AGENTS.md")
    backend.undo("/AGENTS.md")
    assert (tmp_path / "AGENTS.md").read_text() == "text"
    assert backend.log("/real.md") == []


def test_deleting_a_folder_follows_no_link(opened, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("stays")
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "b.md").write_text("goes")
    (tmp_path / "f" / "folder").symlink_to("../real")
    (tmp_path / "f" / "file.md").symlink_to("../real/a.md")
    backend = opened()
    assert backend.delete("/f").error is None
    assert (tmp_path / "real" / "a.md").read_text() == "stays"
    assert not (tmp_path / "f").exists()
    assert backend.files() == ["/f/b.md"]


def test_a_link_into_the_history_shows_nothing(opened, tmp_path):
    backend = opened()
    backend.write("/a.md", "needle")
    (tmp_path / "way").symlink_to(".memoryware/history")
    (tmp_path / "file.json").symlink_to(stored(tmp_path)[0])
    backend = opened()

    assert [one["path"] for one in backend.ls("/").entries] == ["/a.md"]
    assert [one["path"] for one in backend.glob("**").matches] == ["/a.md"]
    assert [one["path"] for one in backend.grep("needle").matches] == ["/a.md"]
    assert backend.ls("/way").error
    assert backend.read("/file.json").error
    assert backend.write("/file.json", "owned").error
    assert backend.write("/way/new.json", "owned").error
    assert len(stored(tmp_path)) == 1


def test_a_host_path_into_the_history_is_hidden_as_well(opened, tmp_path):
    backend = opened()
    backend.write("/a.md", "needle")
    host = stored(tmp_path)[0].as_posix()
    plain = HistoryBackend(FilesystemBackend(tmp_path, virtual_mode=False))
    for one in (backend, plain):
        assert one.read(host).error
        assert one.write(host, "owned").error
        assert one.delete(host).error
        assert one.download_files([host])[0].error == "file_not_found"


@pytest.mark.parametrize(
    "path",
    [
        "/" + "n" * 250,
        "/☕ und Tee/日本語.md",
        "/a b/#1&2=3+4@5!,;'.md",
        "/.env",
        "/con.md",
        "/%2e%2e/a.md",
        "/" + "/".join("d" * 60) + "/a.md",
        "/a.md.json",
        "/index.json",
    ],
)
def test_every_name_has_its_history(opened, path):
    backend = opened()
    backend.write(path, "one")
    backend.write(path, "two")
    backend.undo(path)
    assert backend.read(path).file_data["content"] == "one"
    assert (numbers(backend, path), backend.files()) == ([1, 2, 3], [path])


def test_files_that_differ_in_little_have_histories_of_their_own(opened):
    backend = opened()
    for path in ("/a_b.md", "/a b.md", "/x/a_b.md", "/A_b.md"):
        backend.write(path, path)
    assert all(numbers(backend, path) == [1] for path in backend.files())
    assert len(backend.files()) == 4


def test_pictures_are_left_alone_unless_they_are_watched(opened, tmp_path):
    data = b"\x89PNG\0\xff\xfe"
    backend = opened()
    assert backend.upload_files([("/a.png", data)])[0].error is None
    assert backend.log("/a.png") == []
    backend = opened(watch=["*.png"])
    backend.upload_files([("/a.png", data + b"more")])
    backend.undo("/a.png")
    assert (tmp_path / "a.png").read_bytes() == data


def test_a_history_that_would_lie_outside_is_refused_and_says_so(opened, tmp_path):
    (tmp_path / ".memoryware").symlink_to("/tmp")
    result = opened().write("/a.md", "text")
    assert "The history cannot be in '.memoryware/history'; choose another folder" in result.error
    assert not (tmp_path / "a.md").exists()


def test_what_somebody_says_may_be_any_text(opened):
    backend = opened()
    with acting(user="jäne \ud800", reason='half \ud800 "quoted"\n'):
        backend.write("/a.md", "text")
    (version,) = backend.log("/a.md")
    assert (version.actor.user, version.reason) == ("jäne \ud800", 'half \ud800 "quoted"\n')
    for wrong in ({"user": 7}, {"reason": b"x"}):
        with pytest.raises(SettingError), acting(**wrong):
            pass


# Which files.


def test_only_what_is_watched_has_a_history(opened, tmp_path):
    (tmp_path / "link.md").symlink_to("notes/behind.txt")
    backend = opened(watch=["AGENTS.md", "/notes/*.md", "/team/", "/link.md"])
    watched = ["/AGENTS.md", "/x/agents.md", "/notes/a.md", "/team/a/b", "/link.md"]
    others = ["/a.md", "/notes/a.txt", "/notes/x/a.md", "/teams/a"]
    for path in (*watched, *others):
        assert backend.write(path, "text").error is None
    assert backend.upload_files([(path, b"more") for path in (*others, *watched)])[8].error is None
    for path in watched:
        assert numbers(backend, path) == [1, 2], path
    assert all(backend.log(path) == [] for path in others)
    backend.append("/notes/behind.txt", "by its own name")
    assert numbers(backend, "/link.md") == [1, 2, 3]


def test_paths_as_only_a_disk_knows_them_can_be_watched(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    disk = FilesystemBackend(tmp_path, virtual_mode=False)
    backend = HistoryBackend(disk, watch=["~/AGENTS.md", "./AGENTS.md"])
    for path in ("~/AGENTS.md", "AGENTS.md", "~/other.md", "other.md"):
        assert backend.write(path, "text").error is None
    assert backend.files() == [f"{tmp_path}/AGENTS.md", f"{tmp_path}/home/AGENTS.md"]
    assert (tmp_path / ".memoryware" / "history").is_dir()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"watch": "AGENTS.md"}, SettingError),
        ({"watch": ["../*.md"]}, PatternRefused),
        ({"versions": "somewhere"}, SettingError),
        ({"folder": "/"}, SettingError),
        ({"folder": "../kept"}, PathRefused),
        ({"versions": lambda _: None}, SettingError),
    ],
)
def test_a_wrong_option_is_told_when_the_backend_is_made(tmp_path, options, error):
    with pytest.raises(error):
        HistoryBackend(FilesystemBackend(tmp_path), **options)


def test_only_a_backend_can_have_a_history():
    for wrong in (None, "AGENTS.md", lambda _: None):
        with pytest.raises(SettingError):
            HistoryBackend(wrong)


# What goes wrong.


def test_a_damaged_version_is_told_and_the_others_can_be_had(opened, tmp_path, caplog):
    backend = opened()
    for n in range(5):
        backend.write("/a.md", f"text {n}")
    files = stored(tmp_path)
    files[1].write_text("{")
    files[2].write_text(files[2].read_text().replace("text 2", "text ?"))
    (files[0].parent / "00000009.json").write_text("{}")
    (files[0].parent / "notes.txt").write_text("not ours")
    with caplog.at_level(logging.WARNING, "memoryware"):
        versions = backend.log("/a.md")

    assert [one.number for one in versions] == [5, 4, 3, 2, 1]
    assert [one.kept for one in versions] == [True, True, False, False, True]
    assert caplog.text.count("it is damaged") == 2
    assert "text ?" not in caplog.text
    for number in (2, 3):
        with pytest.raises(VersionMissing, match="cannot be read"):
            backend.undo("/a.md", to=number)
    backend.undo("/a.md", to=1)
    assert backend.read("/a.md").file_data["content"] == "text 0"
    assert backend.files() == ["/a.md"]


def test_without_its_versions_a_file_can_be_used_and_is_found_anew(opened, tmp_path):
    backend = opened()
    backend.write("/a.md", "one")
    for one in stored(tmp_path):
        one.unlink()
    backend.append("/a.md", "two")
    assert [one.kind for one in backend.log("/a.md")] == ["append", "found"]


LIMITED = """
import resource, sys
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.history import HistoryBackend

backend = HistoryBackend(FilesystemBackend(sys.argv[1]))
backend.write("/a.md", "old\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for result in (
    backend.edit("/a.md", "old", "n" * 3990),
    backend.write("/a.md", "x" * 20_000),
    backend.write("/new/b.md", "x" * 20_000),
):
    print(result.error)
print(backend.upload_files([("/a.md", b"x" * 3990)])[0].error)
print(backend.write("/a.md", "fits").error, len(backend.log("/a.md")))
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_where_no_version_can_be_kept_nothing_is_written(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    *refused, uploaded, last = done.stdout.splitlines()

    assert len(refused) == 3
    assert all("its version could not be stored" in one for one in refused), refused
    assert "File too large" in refused[0]
    assert (uploaded, last) == ("write_failed", "None 2")
    assert sorted(one.name for one in tmp_path.iterdir()) == [".memoryware", "a.md"]


def test_a_delete_is_refused_where_its_version_cannot_be_kept(opened, tmp_path):
    backend = opened()
    backend.write("/f/a.md", "text")
    root = tmp_path / ".memoryware"
    (tmp_path / "aside").mkdir()
    root.rename(tmp_path / "aside" / "kept")
    root.write_text("a file is in the way")
    assert "cannot be listed" in backend.delete("/f/a.md").error
    assert "was not deleted, or not all of it" in backend.delete("/f").error
    assert (tmp_path / "f" / "a.md").read_text() == "text"


def test_a_folder_with_the_history_in_it_is_emptied_around_it(tmp_path):
    disk = FilesystemBackend(tmp_path)
    backend = HistoryBackend(disk, folder="/memories/.memoryware/history")
    backend.write("/memories/a.md", "one")
    backend.write("/memories/f/b.md", "two")
    assert backend.delete("/memories").error is None
    assert [one.name for one in (tmp_path / "memories").iterdir()] == [".memoryware"]
    assert backend.ls("/memories").entries == []
    backend.undo("/memories/f/b.md")
    assert (tmp_path / "memories" / "f" / "b.md").read_text() == "two"


def test_a_file_that_something_else_deleted_comes_back(opened, tmp_path):
    backend = opened()
    backend.write("/new.md", "one")
    backend.write("/old.md", "one")
    backend.append("/old.md", "two")
    for name in ("new", "old"):
        text = (tmp_path / f"{name}.md").read_text()
        (tmp_path / f"{name}.md").unlink()
        backend.undo(f"/{name}.md")
        assert (tmp_path / f"{name}.md").read_text() == text
    assert [one.kind for one in backend.log("/new.md")] == ["undo", "write"]
    assert [one.kind for one in backend.log("/old.md")] == ["undo", "outside", "append", "write"]


class Moody(DictBackend):
    """A backend that at times cannot list its files, or cannot delete."""

    lists = deletes = True

    async def _ls(self, runner, path):
        if not self.lists:
            raise FileDenied(path, "the connection is gone")
        return await super()._ls(runner, path)

    async def _delete(self, runner, path):
        if not self.deletes:
            raise ConnectionError("gone")
        return await super()._delete(runner, path)


def test_where_versions_cannot_be_listed_nothing_is_written_or_told():
    inner = Moody({}, threading.RLock())
    backend = HistoryBackend(inner)
    backend.write("/a.md", "one")
    inner.lists = False
    assert "cannot be listed: the connection is gone" in backend.write("/a.md", "two").error
    with pytest.raises(WriteFailed):
        backend.log("/a.md")
    inner.lists = True
    backend.write("/a.md", "two")
    assert numbers(backend) == [1, 2]


def test_a_change_has_happened_even_if_old_versions_cannot_be_dropped(caplog):
    inner = Moody({}, threading.RLock())
    backend = HistoryBackend(inner, keep=limited(HistoryLimits, versions=2, sweep_after=1))
    for n in range(3):
        inner.deletes = n < 2
        with caplog.at_level(logging.WARNING, "memoryware"):
            assert backend.write("/a.md", f"{n}").error is None
    assert "was not dropped" in caplog.text
    assert numbers(backend) == [1, 2, 3]
    inner.deletes = True
    backend.write("/a.md", "last")
    assert numbers(backend) == [3, 4]


# Stores.


def versions_in(store, *namespace):
    return [one.key for one in store.search(namespace, limit=1000) if "/.memoryware/" in one.key]


def test_two_users_of_one_backend_have_histories_of_their_own():
    store, who = InMemoryStore(), ["ann"]
    backend = HistoryBackend(StoreBackend(store=store, namespace=lambda _: ("memory", who[0])))
    backend.write("/a.md", "one")
    backend.write("/a.md", "of ann")
    who[0] = "bo"
    assert (backend.log("/a.md"), backend.files()) == ([], [])
    backend.write("/a.md", "of bo")
    assert numbers(backend) == [1]
    with pytest.raises(VersionMissing):
        backend.show("/a.md", 2)
    who[0] = "ann"
    assert [backend.show("/a.md", n) for n in (1, 2)] == ["one", "of ann"]
    backend.undo("/a.md")
    who[0] = "bo"
    assert backend.read("/a.md").file_data["content"] == "of bo"


def test_the_versions_of_a_store_may_have_a_namespace_of_their_own():
    store = InMemoryStore()
    backend = HistoryBackend(
        StoreBackend(store=store, namespace=("memory", "ann")),
        versions=StoreBackend(store=store, namespace=("history", "ann")),
    )
    backend.write("/a.md", "one")
    backend.delete("/a.md")
    backend.undo("/a.md")
    assert [one.key for one in store.search(("memory", "ann"))] == ["/a.md"]
    assert len(versions_in(store, "history", "ann")) == 4  # and their index


class OfALoop(BaseStore):
    """A store that lives on an event loop: blocking calls are refused."""

    def __init__(self):
        self.inner = InMemoryStore()

    def batch(self, ops):
        raise RuntimeError("blocking call on an async store")

    async def abatch(self, ops):
        return await self.inner.abatch(ops)


async def test_a_store_of_an_event_loop_is_asked_by_its_async_half(tmp_path):
    kept = StoreBackend(store=OfALoop(), namespace=("memory",))
    backend = HistoryBackend(kept)
    await backend.awrite("/a.md", "one")
    await backend.aappend("/a.md", "two")
    await backend.adelete("/a.md")
    await backend.aundo("/a.md")
    assert [one.number for one in await backend.alog("/a.md")] == [4, 3, 2, 1]

    on_disk = HistoryBackend(FilesystemBackend(tmp_path), versions=kept)
    refused = await on_disk.awrite("/b.md", "one")
    assert "cannot be listed" in refused.error
    assert "RuntimeError" in refused.error
    assert not (tmp_path / "b.md").exists()


class Counting(InMemoryStore):
    searches = 0

    def batch(self, ops):
        ops = list(ops)
        self.searches += sum(type(one).__name__ == "SearchOp" for one in ops)
        return super().batch(ops)


def test_a_change_in_a_store_lists_nothing():
    store = Counting()
    keep = limited(HistoryLimits, sweep_after=10_000)
    backend = HistoryBackend(StoreBackend(store=store, namespace=("memory",)), keep=keep)
    backend.write("/a.md", "0")
    before = store.searches
    for n in range(1, 50):
        backend.write("/a.md", f"{n}")
        backend.append("/a.md", "more")
    assert store.searches == before
    assert numbers(backend) == [*range(1, 100)]


@pytest.mark.parametrize("damage", ["{", '["x", 1]', "[]", '["00000001.json"]', None])
def test_a_damaged_or_lost_index_is_made_anew(damage):
    store = InMemoryStore()
    backend = HistoryBackend(StoreBackend(store=store, namespace=("memory",)))
    backend.write("/a.md", "one")
    backend.write("/a.md", "two")
    (index,) = [key for key in versions_in(store, "memory") if key.endswith("index.json")]
    if damage is None:
        store.delete(("memory",), index)
    else:
        store.put(("memory",), index, {"content": damage, "encoding": "utf-8"})
    backend.write("/a.md", "three")
    backend.write("/a.md", "four")
    texts = {backend.show("/a.md", one) for one in backend.log("/a.md")}
    assert texts == {"one", "two", "three", "four"}
    assert backend.log("/a.md")[0].current


def test_names_that_share_a_lock_do_not_wait_for_each_other(monkeypatch):
    """The lock of the file is held while its version is stored; all names share one here."""
    monkeypatch.setattr("memoryware.backends._locks.LOCK_FILES", 1)
    store = InMemoryStore()
    parts = {"/b/": StoreBackend(store=store, namespace=("b",))}
    whole = CompositeBackend(DictBackend({}, threading.RLock()), parts)
    for backend in (StoreBackend(store=store, namespace=("a",)), whole):
        history = HistoryBackend(backend, keep=limited(HistoryLimits, versions=2, sweep_after=3))
        for n in range(8):
            assert history.write("/a.md", f"{n}").error is None
            assert history.write("/b/c.md", f"{n}").error is None
        history.undo("/b/c.md")
        assert history.delete("/b/c.md").error is None


# Who.


def test_the_default_actor_stands_in_where_nobody_is_known(opened):
    backend = opened(actor=Actor(agent="nightly"))
    backend.write("/a.md", "one")
    assert backend.log("/a.md")[0].actor == Actor(agent="nightly")


def test_time_and_ids_are_those_that_were_given(opened):
    ids = iter(f"id-{n}" for n in range(9))
    backend = opened(new_id=lambda: next(ids))
    backend.write("/a.md", "one")
    (version,) = backend.log("/a.md")
    assert (version.id, version.time) == ("id-0", NOON + timedelta(seconds=1))


def test_an_id_that_is_no_file_name_is_replaced(opened):
    backend = opened(new_id=lambda: "../../x y")
    backend.write("/a.md", "one")
    assert backend.log("/a.md")[0].id.isalnum()
    assert backend.show("/a.md", 1) == "one"


# What must not be kept.


def test_what_redact_takes_out_is_not_kept_and_not_written_back(opened, tmp_path):
    redact = lambda path, text: text.replace("hunter2", "***")
    backend = opened(redact=redact)
    (tmp_path / "a.md").write_text("password hunter2\nother\n")
    backend.edit("/a.md", "other", "more")
    assert "hunter2" not in "".join(one.read_text() for one in stored(tmp_path))
    assert [one.redacted for one in backend.log("/a.md")] == [True, True]
    assert backend.show("/a.md", 1) == "password ***\nother\n"
    assert "hunter2" not in backend.diff("/a.md", 1)
    backend.undo("/a.md")
    assert Path(tmp_path / "a.md").read_text() == "password hunter2\nother\n"


# Differences.


async def test_a_diff_is_of_the_last_change_or_of_what_a_version_changed(opened, tmp_path):
    backend = opened()
    for text in ("one\n", "two\n", "three\n"):
        backend.write("/a.md", text) if text == "one\n" else backend.upload_files(
            [("/a.md", text.encode())]
        )
    for b, expected in ((1, "+one"), (2, "+two"), (3, "+three")):
        told = backend.diff("/a.md", b=b)
        assert told.splitlines()[-1] == expected
        assert await backend.adiff("/a.md", b=b) == told
    assert backend.diff("/a.md", b=1).startswith("--- (no file)\n+++ /a.md@1\n")
    assert backend.diff("/a.md") == backend.diff("/a.md", 2) == await backend.adiff("/a.md")
    (tmp_path / "a.md").write_text("by hand\n")  # the last change is that of somebody else
    assert backend.diff("/a.md").splitlines()[-2:] == ["-three", "+by hand"]
    with pytest.raises(VersionMissing):
        backend.diff("/never.md")


def test_a_diff_needs_what_was_there_before(opened, tmp_path):
    (tmp_path / "a.md").write_text("first\n")
    backend = opened()
    backend.edit("/a.md", "first", "second")
    assert backend.diff("/a.md").splitlines()[-2:] == ["-first", "+second"]
    backend.undo("/a.md")
    assert backend.diff("/a.md").splitlines()[-2:] == ["-second", "+first"]
    with pytest.raises(VersionMissing, match="nothing to compare"):
        backend.diff("/a.md", b=1)  # it was there when it was first seen
