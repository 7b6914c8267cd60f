"""The suite of file backends: the contract of `BackendProtocol` and of the optional protocols."""

from __future__ import annotations

import random
from typing import ClassVar

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends.protocol import Appends, Fingerprints, Names
from memoryware.testing._backend import (
    BackendProxy,
    BackendSuite,
    BackendTraits,
    OpenBackend,
    run_workers,
    twin_differences,
)
from memoryware.testing._file_concurrency import (
    EACH,
    WORKERS,
    ConcurrencyConformance,
    RandomStepsConformance,
    SyncAsyncConformance,
)
from memoryware.testing._file_content import (
    BatchConformance,
    EditConformance,
    ReadConformance,
    WriteConformance,
)
from memoryware.testing._file_paths import SPELLINGS, PathsConformance
from memoryware.testing._file_search import GlobConformance, GrepConformance, ListConformance
from memoryware.testing._suite import Mode

# Optional protocols.

APPENDS: tuple[tuple[bytes | None, str, bytes], ...] = (
    # stored (None: no such file), the line, stored afterwards
    (b"one\n", "two", b"one\ntwo\n"),
    (b"one\n", "two\n", b"one\ntwo\n"),
    (b"one", "two", b"one\ntwo\n"),
    (b"", "one", b"one\n"),
    (None, "one", b"one\n"),
    (b"one\r\n", "two", b"one\r\ntwo\r\n"),
    (b"one\r\ntwo", "three", b"one\r\ntwo\r\nthree\r\n"),
    (b"one\r", "two", b"one\rtwo\r"),
    (b"one\n", "two\nthree", b"one\ntwo\nthree\n"),
    (b"one\r\n", "two\nthree\n", b"one\r\ntwo\r\nthree\r\n"),
    (b"one\n\n", "two", b"one\n\ntwo\n"),
    (b"\xef\xbb\xbfone\r\n", "two", b"\xef\xbb\xbfone\r\ntwo\r\n"),
    ("Grüße\n".encode(), "☕", "Grüße\n☕\n".encode()),
)


class AppendsConformance(BackendSuite):
    """What `append` does."""

    offers: ClassVar = Appends

    async def test_lines_are_added_at_the_end(self, backend: BackendProxy) -> None:
        stored = [
            (f"/f/{n}.md", data) for n, (data, _, _) in enumerate(APPENDS) if data is not None
        ]
        await backend.fill(dict(stored))
        got = []
        for n, (data, line, _) in enumerate(APPENDS):
            result = await backend.append(f"/f/{n}.md", line)
            got.append((data, line, result.error or await backend.bytes_of(f"/f/{n}.md")))
            assert result.occurrences == 1

        assert got == [*APPENDS]

    async def test_a_line_that_cannot_be_added_is_an_error(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/a.md": "one\n"})

        assert (await backend.append("/f/a.md", "half \ud800")).error
        assert (await backend.append("/new.md", "half \ud800")).error
        assert (await backend.append("/", "line")).error
        for attack in ("../a.md", "/f/../a.md", "/a\0.md", "C:\\a.md"):
            with pytest.raises(ValueError):
                await backend.append(attack, "owned")
        assert await backend.text_of("/f/a.md") == "one\n"
        assert await backend.files() == ["/f/a.md"]

    async def test_lines_added_by_eight_at_once_are_all_there(self, backend: BackendProxy) -> None:
        async def work(me: int, mine: BackendProxy) -> None:
            for n in range(EACH):
                assert (await mine.append("/log/a.md", f"{me}-{n}")).error is None

        await run_workers(self.workers(backend, WORKERS), work)
        rows = str(await backend.text_of("/log/a.md")).splitlines()
        assert sorted(rows) == sorted(f"{me}-{n}" for me in range(WORKERS) for n in range(EACH))
        for me in range(WORKERS):
            assert [row for row in rows if row.startswith(f"{me}-")] == [
                f"{me}-{n}" for n in range(EACH)
            ]

    async def test_append_and_its_twin_have_one_signature(self, open_backend: OpenBackend) -> None:
        assert twin_differences(type(open_backend()), Appends) == []

    async def test_an_async_append_leaves_the_event_loop_free(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        if "native" in self.modes:
            backend = BackendProxy(open_backend, "native", traits)
            await backend.put(a="one\n")
            with blockbuster_ctx():
                assert (await backend.append("/a.md", "two")).error is None


class FingerprintsConformance(BackendSuite):
    """The contract of `SupportsFingerprints`."""

    offers: ClassVar = Fingerprints

    async def test_a_token_stays_while_the_file_does(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": "one", "/f/b.md": "two"})
        paths = ["/a.md", "/f/b.md", "/missing.md"]
        before = await backend.fingerprint(paths)
        await backend.read("/a.md")
        await backend.ls("/")
        await backend.put(other="x")

        assert None not in before
        assert await backend.fingerprint(paths) == before
        assert await backend.fingerprint([*reversed(paths)]) == [*reversed(before)]
        assert await backend.fingerprint(["a.md", "./f/b.md", "//missing.md"]) == before
        if self.persistent:
            assert await backend.again().fingerprint(paths) == before

    async def test_a_token_changes_with_every_change(self, backend: BackendProxy) -> None:
        tokens = [await self._token(backend)]
        await backend.write("/a.md", "one")
        tokens.append(await self._token(backend))
        for text in ("two", "eno", "one and more", ""):
            await backend.write("/a.md", text)
            tokens.append(await self._token(backend))
        await backend.edit("/a.md", "", "six")
        tokens.append(await self._token(backend))
        await backend.edit("/a.md", "six", "xis")
        tokens.append(await self._token(backend))
        await backend.upload_files([("/a.md", b"isx")])
        tokens.append(await self._token(backend))
        await backend.upload_files([("/a.md", b"\0\xff\xfe" if self.stores_binary else b"sxi")])
        tokens.append(await self._token(backend))

        assert len({*tokens}) == len(tokens), "two different contents have one token"
        if self.deletes:
            last = tokens[-1]
            await backend.delete("/a.md")
            assert await self._token(backend) not in (None, last)

    async def _token(self, backend: BackendProxy) -> str:
        (token,) = await backend.fingerprint(["/a.md"])
        assert token is not None
        return token

    async def test_quick_changes_of_one_size_are_told_apart(self, backend: BackendProxy) -> None:
        tokens = []
        for n in range(30):
            await backend.write("/a.md", f"{n:04d}")
            tokens.append(await self._token(backend))

        assert len({*tokens}) == 30

    async def test_two_files_never_share_a_token(self, backend: BackendProxy) -> None:
        await backend.fill({f"/{n}.md": "the same text" for n in range(5)})
        paths = [*(f"/{n}.md" for n in range(5)), "/missing.md", "/missing-too.md", "/f/missing.md"]

        tokens = await backend.fingerprint(paths)
        assert len({*tokens}) == len(paths)

    async def test_a_missing_file_has_a_token_until_it_is_there(
        self, backend: BackendProxy
    ) -> None:
        before = await self._token(backend)
        assert await self._token(backend) == before
        await backend.write("/a.md", "")

        assert await self._token(backend) != before

    async def test_a_refused_path_has_no_token_and_harms_no_other(
        self, backend: BackendProxy
    ) -> None:
        await backend.put(a="one")
        expected = await backend.fingerprint(["/a.md"])

        tokens = await backend.fingerprint(["../x.md", "/a.md", "/b\0.md"])
        assert tokens == [None, *expected, None]
        assert await backend.fingerprint([]) == []

    async def test_equal_tokens_mean_equal_bytes(self, backend: BackendProxy) -> None:
        dice = random.Random(7)  # noqa: S311 - dice, not a secret
        data_of_token: dict[str, bytes | None] = {}
        for _ in range(40):
            match dice.choice(["write", "edit", "upload", "delete"]):
                case "write":
                    await backend.write("/a.md", dice.choice(["ab", "ba", "abc", ""]))
                case "edit":
                    await backend.edit("/a.md", "a", dice.choice(["b", "c"]))
                case "upload":
                    await backend.upload_files([("/a.md", dice.choice([b"ab", b"cc"]))])
                case "delete" if self.deletes:
                    await backend.delete("/a.md")
            token, data = await self._token(backend), await backend.bytes_of("/a.md")
            assert data_of_token.setdefault(token, data) == data

    async def test_fingerprint_and_its_twin_have_one_signature(
        self, open_backend: OpenBackend
    ) -> None:
        assert twin_differences(type(open_backend()), Fingerprints) == []

    async def test_an_async_fingerprint_leaves_the_event_loop_free(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        if "native" in self.modes:
            backend = BackendProxy(open_backend, "native", traits)
            await backend.put(a="one")
            with blockbuster_ctx():
                assert None not in await backend.fingerprint(["/a.md", "/b.md"])


class NamesConformance(BackendSuite):
    """The contract of `SupportsNames`."""

    offers: ClassVar = Names

    async def test_every_spelling_has_one_first_name(self, backend: BackendProxy) -> None:
        await backend.fill({"/folder/a.md": "text"})

        names = await backend.names([*SPELLINGS])
        assert {path_names[0] for path_names in names} == {"/folder/a.md"}
        assert len({*names}) == 1

    async def test_what_is_not_there_has_a_name_as_well(self, backend: BackendProxy) -> None:
        await backend.fill({"/folder/a.md": "text"})
        paths = ["/b.md", "/folder/b.md", "/other/b.md", "/folder", "/"]

        assert [path_names[0] for path_names in await backend.names(paths)] == paths

    async def test_a_refused_path_has_no_name_and_harms_no_other(
        self, backend: BackendProxy
    ) -> None:
        names = await backend.names(["../x.md", "/a.md", "/b\0.md", "/f/../a.md"])

        assert [path_names[:1] for path_names in names] == [(), ("/a.md",), (), ()]
        assert await backend.names([]) == []

    async def test_names_and_its_twin_have_one_signature(self, open_backend: OpenBackend) -> None:
        assert twin_differences(type(open_backend()), Names) == []

    async def test_async_names_leave_the_event_loop_free(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        if "native" in self.modes:
            backend = BackendProxy(open_backend, "native", traits)
            await backend.put(a="one")
            with blockbuster_ctx():
                assert [path_names[0] for path_names in await backend.names(["/a.md"])] == ["/a.md"]


# The whole contract.

BOTH: tuple[Mode, ...] = ("blocking", "native")


class FileBackendConformance(
    PathsConformance,
    ReadConformance,
    WriteConformance,
    EditConformance,
    ListConformance,
    GlobConformance,
    GrepConformance,
    BatchConformance,
    ConcurrencyConformance,
    SyncAsyncConformance,
    RandomStepsConformance,
):
    """The contract of a file backend.

    Derive a class, override the fixture `open_backend`, and set the class attributes of
    `BackendSuite` that differ for the backend. Derive from `AppendsConformance`,
    `FingerprintsConformance` and `NamesConformance` as well if the backend offers those.
    """

    async def test_what_a_backend_offers_is_tested(self, open_backend: OpenBackend) -> None:
        target = open_backend()
        for suite in (AppendsConformance, FingerprintsConformance, NamesConformance):
            assert isinstance(target, suite.offers) == issubclass(type(self), suite), (
                f"{type(self).__name__} must derive from {suite.__name__} exactly when"
                f" {type(target).__name__} offers {suite.offers.__name__}"
            )

    async def test_a_door_that_is_not_tested_is_closed(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        for mode in BOTH:
            if mode not in self.modes:
                with pytest.raises(Exception):  # noqa: B017 - what it says is its own affair
                    await BackendProxy(open_backend, mode, traits).read("/a.md")
