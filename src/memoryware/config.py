"""`config.json`: which memory files, which folders, which prompt and model.

    {
      "memory_files": ["/memories/AGENTS.md"],
      "memories_dir": "memories",
      "skills_dir": "skills",
      "react_prompt": "You are a careful assistant.",
      "model": {"name": "provider:model"}
    }

Every key may be left out. Folders are taken from the folder of the file.

`memoryware.json` is what the command line reads: which memory, whose, and who acts.

    {
      "store": "sqlite:///memory.db",
      "scope": {"group_id": "shop"},
      "embeddings": "local",
      "policy": {"approval": true}
    }
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memoryware.errors import ConfigError

logger: Final = logging.getLogger("memoryware")

DEFAULT_MEMORY_FILES: Final = ("/memories/AGENTS.md",)
PROMPT_VARIABLE: Final = "DEEPAGENTS_REACT_PROMPT"
"""Environment variable that gives the system prompt when the file does not."""
MODEL_VARIABLE: Final = "MEMORYWARE_MODEL"
"""Environment variable that names the model, as `provider:name`, when nothing else does."""
_KEYS: Final = frozenset(
    {
        "memory_files",
        "memories_dir",
        "skills_dir",
        "react_prompt",
        "model",
        "response_format",
        "env",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """What a configuration file says, checked, with every folder absolute.

    Attributes:
        memory_files: Virtual paths of the memory sources.
        memories_dir: Folder on disk that is mounted at `/memories/`.
        skills_dir: Folder on disk that is mounted at `/skills/`, or None if there is none.
        system_prompt: The base prompt, or None for none.
        model: Name for `init_chat_model`, or None.
        response_format: A JSON schema for structured answers, or None.
    """

    memory_files: tuple[str, ...] = DEFAULT_MEMORY_FILES
    memories_dir: Path = field(default_factory=lambda: Path.cwd() / "memories")
    skills_dir: Path | None = None
    system_prompt: str | None = None
    model: str | None = None
    response_format: dict[str, Any] | None = None


MEMORY_FILE: Final = "memoryware.json"
"""The name of the configuration file of the command line."""
DEFAULT_STORE: Final = "sqlite:///memory.db"
_SQLITE: Final = "sqlite:///"
_MEMORY_KEYS: Final = frozenset({"store", "embeddings", "scope", "sources", "root", "by", "policy"})
_SCOPE_KEYS: Final = ("tenant", "group_id", "user_id", "agent_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """What `memoryware.json` says, checked; where it says nothing, what is right without it.

    Attributes:
        file: The file; None if there is none.
        store: The address of tiered memory.
        embeddings: "local", "provider:model", or None: words alone find.
        scope: Whose memory is meant: parts of a `MemoryScope` by their names.
        sources: The memory files, or None to look for them.
        root: Where the memory files are: a folder, or the address of a store.
        by: Who acts; None if it does not say.
        policy: What a promotion needs, as `PromotionPolicy.of` takes it.
    """

    file: Path | None = None
    store: str = DEFAULT_STORE
    embeddings: str | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] | None = None
    root: str = "."
    by: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)


def find_memory_config(start: str | os.PathLike[str] = ".") -> Path | None:
    """Return the `memoryware.json` of a folder or of the nearest one above; None without one."""
    folder = Path(start).resolve()
    places = (one / MEMORY_FILE for one in (folder, *folder.parents))
    return next((one for one in places if one.is_file()), None)


def load_memory_config(path: str | os.PathLike[str] | None = None) -> MemoryConfig:
    """Read what the command line is to work on.

    Args:
        path: The file; by default the nearest `memoryware.json`, if there is one.

    Raises:
        ConfigError: If the file is not valid, with the line where it is known.
    """
    file = find_memory_config() if path is None else Path(path)
    if file is None:
        return MemoryConfig()
    raw = _read(file)
    base = file.resolve().parent
    try:
        return _memory_config(file, raw, base)
    except ConfigError as error:
        named = re.search(r": (\w+)", str(error).removeprefix(str(file)))
        line = _line_of(file, named[1]) if named else None
        if line is None:
            raise
        rest = str(error).removeprefix(str(file))
        raise ConfigError(f"{file}, line {line}{rest}") from None


def _memory_config(file: Path, raw: Mapping[str, Any], base: Path) -> MemoryConfig:
    for key in sorted(raw.keys() - _MEMORY_KEYS):
        known = ", ".join(sorted(_MEMORY_KEYS))
        raise ConfigError(f"{file}: {key} is no key of this file; there are {known}")
    sources = raw.get("sources")
    if sources is not None and not (
        isinstance(sources, list) and all(isinstance(one, str) and one for one in sources)
    ):
        raise ConfigError(f"{file}: sources must be a list of paths")
    root = _text(file, raw, "root", ".")
    return MemoryConfig(
        file=file,
        store=beside(_text(file, raw, "store", "") or DEFAULT_STORE, base),
        embeddings=_text(file, raw, "embeddings", "") or None,
        scope=_scope(file, raw),
        sources=None if sources is None else tuple(sources),
        root=root if root.startswith("store+") else str(base / Path(root).expanduser()),
        by=_text(file, raw, "by", "") or None,
        policy=_mapping(file, raw, "policy"),
    )


def _scope(file: Path, raw: Mapping[str, Any]) -> dict[str, str]:
    given = _mapping(file, raw, "scope")
    for key, value in given.items():
        if key not in _SCOPE_KEYS:
            raise ConfigError(f"{file}: scope has {key!r}; there are {', '.join(_SCOPE_KEYS)}")
        if not isinstance(value, str):
            raise ConfigError(f"{file}: {key} must be text, not {value!r}")
    return given


def beside(url: str, folder: Path) -> str:
    """Return the address of a store whose file is taken from a folder, not from the current one."""
    return " + ".join(_beside(one.strip(), folder) for one in url.split(" + "))


def _beside(url: str, folder: Path) -> str:
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(("/", "~", ":")):
        return url
    return f"{_SQLITE}{(folder / path).as_posix()}"


def _line_of(file: Path, key: str) -> int | None:
    """Return the first line of a file that has a key of JSON."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError:
        return None
    wanted = re.compile(rf'"{re.escape(key)}"\s*:')
    return next((number for number, line in enumerate(lines, 1) if wanted.search(line)), None)


def load_config(
    path: str | os.PathLike[str], *, environ: Mapping[str, str] | None = None
) -> AgentConfig:
    """Read a configuration file.

    The file wins over the environment, which wins over the defaults. Variables of an `env`
    block are set where they are not set yet; keep keys and passwords out of the file.

    Args:
        path: The file.
        environ: The environment to look at; by default the process's own.

    Raises:
        ConfigError: If the file is missing or is not valid, with the line where it is known.
    """
    file = Path(path)
    raw = _read(file)
    for key in sorted(raw.keys() - _KEYS):
        logger.warning("%s: the key %r is not known and is ignored", file, key)
    _apply_env(file, raw.get("env"))
    environ = os.environ if environ is None else environ
    base = file.resolve().parent
    return AgentConfig(
        memory_files=_memory_files(file, raw.get("memory_files")),
        memories_dir=base / _text(file, raw, "memories_dir", "memories"),
        skills_dir=_skills_dir(file, base / _text(file, raw, "skills_dir", "skills")),
        system_prompt=_text(file, raw, "react_prompt", "") or environ.get(PROMPT_VARIABLE) or None,
        model=_model(file, raw.get("model")) or environ.get(MODEL_VARIABLE) or None,
        response_format=_mapping(file, raw, "response_format") or None,
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{file}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg})"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not valid UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{file}: must hold one JSON object, not a {type(raw).__name__}")
    return raw


def _memory_files(file: Path, given: object) -> tuple[str, ...]:
    if not isinstance(given, list):
        if given is not None:
            logger.warning("%s: memory_files is not a list; the default is used", file)
        return DEFAULT_MEMORY_FILES
    for entry in given:
        if not isinstance(entry, str) or not entry.startswith("/"):
            raise ConfigError(
                f"{file}: memory_files has {entry!r}; an entry is a virtual path that begins"
                " with '/', such as '/memories/AGENTS.md'"
            )
    return tuple(given)


def _text(file: Path, raw: Mapping[str, Any], key: str, default: str) -> str:
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ConfigError(f"{file}: {key} must be text, not {value!r}")
    return value


def _mapping(file: Path, raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: {key} must be an object, not {value!r}")
    return value


def _model(file: Path, given: object) -> str:
    name = given.get("name") if isinstance(given, dict) else given
    if name is not None and not isinstance(name, str):
        raise ConfigError(f'{file}: model must be {{"name": "provider:model"}}, not {given!r}')
    return name or ""


def _skills_dir(file: Path, folder: Path) -> Path | None:
    if folder.is_dir():
        return folder
    logger.warning("%s: there is no skills folder %s; going on without", file, folder)
    return None


def _apply_env(file: Path, block: object) -> None:
    if block is None:
        return
    if not isinstance(block, dict) or not all(isinstance(one, str) for one in block.values()):
        raise ConfigError(f"{file}: env must be an object of texts")
    logger.warning(
        "%s: an env block is read by everybody who can read the file; keep keys and passwords"
        " in the environment (%s)",
        file,
        ", ".join(sorted(block)),
    )
    for name, value in block.items():
        os.environ.setdefault(name, value)
