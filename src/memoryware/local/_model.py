"""The files of `LocalEmbeddings`: each has a known hash, and is loaded once per process."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import clear_frames
from typing import Any, Final, Protocol

from memoryware._install import install_command
from memoryware.errors import EmbeddingFailed, SettingError

Vectors = list[list[float]]
_TOKENS_AT_ONCE: Final = 1024
"""Tokens per call of the model; the memory of a call grows with them."""
_FORK_TIMEOUT: Final = 30.0
"""Seconds that a fork waits while another thread loads the model."""
_EXIT_TIMEOUT: Final = 30.0
"""Seconds that the exit of the process waits for calls of the model in daemon threads."""


class Encoder(Protocol):
    """A loaded model."""

    def tokens_of(self, text: str) -> list[int]:
        """Return the tokens of a text, with those of start and end."""

    def encode(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Return a vector of length 1 for each row of tokens."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that is a file of an installed package, of which nothing is imported.

    Attributes:
        name: The name of the model; stores name the embedding space after it.
        dimensions: The size of a vector.
        package: The package by the name of its import.
        requirement: The package with its version, as pip is asked for it.
        path: The path of the file in the package.
        size: Bytes of the file.
        sha256: Its hash.
        load: Makes an encoder of the bytes of the file.
        then: A command that installs what the extra `local` does not.
    """

    name: str
    dimensions: int
    package: str
    requirement: str
    path: str
    size: int
    sha256: str
    load: Callable[[bytes], Encoder]
    then: str = ""

    @property
    def install(self) -> str:
        """The commands that install everything."""
        extra = f"`{install_command('local')}`"
        return f"{extra}, then `{self.then}`" if self.then else extra

    def find(self, path: str | os.PathLike[str] | None) -> Path:
        """Find the file, without reading or importing anything.

        Args:
            path: Where it is; by default in the installed package.

        Returns:
            The absolute path.

        Raises:
            SettingError: If it is missing or has another size, or a package is missing.
        """
        missing = [name for name in ("onnxruntime", "numpy") if not _package_folder(name)]
        folder = _package_folder(self.package)
        if path is None and folder is None:
            missing.append(self.requirement.partition("==")[0])
        if missing:
            raise SettingError(
                f"the embedding model {self.name} needs what is not installed"
                f" ({', '.join(missing)}): run {self.install}"
            )
        file = Path(folder or "", self.path) if path is None else Path(path)
        try:
            is_model = file.is_file() and file.stat().st_size == self.size
        except (OSError, ValueError):  # not accessible, or not a path
            is_model = False
        if not is_model:
            raise SettingError(self.describe_mismatch(file))
        return file.absolute()

    def read_verified(self, file: Path) -> bytes:
        """Read the file and verify its hash; the same bytes are loaded, so that none can change.

        Args:
            file: The path of the file.

        Returns:
            Its bytes.

        Raises:
            EmbeddingFailed: If it cannot be read, or has another hash.
        """
        try:
            with file.open("rb") as opened:
                data = opened.read(self.size + 1)
        except OSError as error:
            raise EmbeddingFailed(f"{file} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != self.sha256:
            del data  # the traceback of the error would keep the whole file
            raise EmbeddingFailed(self.describe_mismatch(file))
        return data

    def describe_mismatch(self, file: Path) -> str:
        """Return the message for a file that is not this one."""
        return (
            f"{file} is not the {Path(self.path).name} of {self.requirement.replace('==', ' ')}"
            f" (sha256 {self.sha256[:8]}…), and no other is loaded: run"
            f" `pip install --force-reinstall --no-deps {self.requirement}`"
        )


def _package_folder(package: str) -> str | None:
    """Return the folder of an installed package, without importing it."""
    try:
        spec = find_spec(package)
    except ValueError:
        return None
    return next(iter(spec.submodule_search_locations or ()), None) if spec else None


class _LoadedModels:
    """The loaded models of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.encoders: dict[tuple[str, Path], Encoder] = {}
        # More concurrent calls than processors need more memory and are not faster.
        self.most = os.cpu_count() or 1
        self.calls = threading.BoundedSemaphore(self.most)
        self.abandoned: frozenset[threading.Thread] = frozenset()

    def encoder(self, model: ModelFile, file: Path) -> Encoder:
        key = (model.name, file)
        if key not in self.encoders:
            with self.lock:
                self.go_on()
                if key not in self.encoders:
                    self.encoders[key] = _loaded(model, file)
        return self.encoders[key]

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


def _loaded(model: ModelFile, file: Path) -> Encoder:
    try:
        return model.load(model.read_verified(file))
    except EmbeddingFailed:
        raise
    except Exception as error:
        clear_frames(error.__traceback__)  # they have the whole file
        raise EmbeddingFailed(
            f"the embedding model {model.name} cannot be loaded ({type(error).__name__}):"
            f" run {model.install}"
        ) from error


def session_of(data: bytes) -> Any:
    """Load a model into a session that runs in the calling thread only.

    Args:
        data: A serialized ONNX model.

    Returns:
        The `InferenceSession` of onnxruntime.
    """
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # it would keep memory for each shape
    options.log_severity_level = 3
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


class _ProcessState:
    """Fork handlers: a fork waits for a load in progress; the child loads its own model.

    The child neither uses nor frees the inherited model, because threads of the parent may have
    been in it.
    """

    def __init__(self) -> None:
        self.now = _LoadedModels()
        self._left: list[_LoadedModels] = []
        self._mine = threading.local()

    def before(self) -> None:
        self._mine.locked = self.now.lock.acquire(timeout=_FORK_TIMEOUT)

    def in_parent(self) -> None:
        if self._mine.locked:
            self.now.lock.release()

    def in_child(self) -> None:
        self._left.append(self.now)
        self.now = _LoadedModels()

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
    model: ModelFile,
    file: Path,
    texts: Sequence[str],
    batch: int,
    is_wanted: Callable[[], bool],
) -> Vectors:
    """Embed texts.

    Args:
        model: The model.
        file: Its file.
        texts: The texts.
        batch: Texts in one call of the model.
        is_wanted: Whether the caller still waits; asked before each call of the model.

    Returns:
        A vector for each text.

    Raises:
        EmbeddingFailed: If the file has another hash, or cannot be loaded; if the call was
            cancelled.
    """
    loaded = _process.now
    encoder = loaded.encoder(model, file)
    rows = [encoder.tokens_of(text) for text in texts]
    results: Vectors = [[]] * len(rows)
    for indexes in _batches(rows, batch):
        with loaded.calls:
            loaded.go_on()
            if not is_wanted():
                raise EmbeddingFailed("The call was cancelled")
            vectors = encoder.encode([rows[index] for index in indexes])
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
