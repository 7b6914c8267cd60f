"""Configuration files: `config.json` of an agent, and `memoryware.json` of the command line.

`config.json` says which memory files, which folders, which prompt and model:

    {
      "memory_files": ["/memories/AGENTS.md"],
      "memories_dir": "memories",
      "skills_dir": "skills",
      "react_prompt": "You are a careful assistant.",
      "model": {"name": "provider:model"}
    }

`memoryware.json` says which memory the command works on:

    {
      "store": "sqlite:///memory.db",
      "embeddings": "local",
      "scope": {"tenant": "acme", "group_id": "shop", "user_id": "ann", "agent_id": "helper"},
      "root": ".",
      "sources": ["/AGENTS.md"],
      "by": "ann",
      "policy": {"approval": true, "four_eyes": true, "min_trust": "user"},
      "mcp": {"notes_per_hour": 20, "call_timeout": 10}
    }

Every key may be left out. Folders are taken from the folder of the file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memoryware import _checking
from memoryware._home import expand_home
from memoryware._json_reading import JsonInvalid, parse_json
from memoryware.errors import ConfigError, SettingError

logger: Final = logging.getLogger("memoryware")

DEFAULT_MEMORY_FILES: Final = ("/memories/AGENTS.md",)
PROMPT_VARIABLE: Final = "DEEPAGENTS_REACT_PROMPT"
"""Environment variable that gives the system prompt when the file does not."""
MODEL_VARIABLE: Final = "MEMORYWARE_MODEL"
"""Environment variable that names the model, as `provider:name`, when nothing else does."""
COMMAND_FILE: Final = "memoryware.json"
"""The configuration of the command line, in a folder or in one above it."""
SCOPE_KEYS: Final = ("tenant", "group_id", "user_id", "agent_id")
"""The parts of a scope that a configuration may fix."""
POLICY_KEYS: Final = (
    "recipe",
    "after_days",
    "corroboration",
    "approval",
    "four_eyes",
    "min_trust",
    "similarity",
)
"""The settings of a `PromotionPolicy` that a configuration may have: the name of a ready-made one,
the days that a text waits, and its attributes."""
MCP_KEYS: Final = (
    "recalled",
    "most_recalled",
    "note_chars",
    "notes_per_hour",
    "call_timeout",
    "head_seconds",
)  # fmt: skip
"""The limits of `McpLimits` that a configuration may set."""
_COMMAND_KEYS: Final = ("store", "embeddings", "scope", "root", "sources", "by", "policy", "mcp")
_SQLITE: Final = "sqlite:///"
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
    """The configuration of an agent, with every folder absolute.

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

    def __post_init__(self) -> None:
        _checking.check_texts(
            "memory_files", self.memory_files, "/memories/AGENTS.md", or_none=False
        )
        for option in ("memories_dir", "skills_dir"):
            value = getattr(self, option)
            if value is None and option == "skills_dir":
                continue
            _checking.check_path(option, value)
            object.__setattr__(self, option, expand_home(value, option))
        _checking.check_text("system_prompt", self.system_prompt, or_none=True)
        _checking.check_text("model", self.model, or_none=True)
        if self.response_format is not None and not isinstance(self.response_format, Mapping):
            raise _checking.wrong("response_format", self.response_format, "a JSON schema, a dict")


def load_config(
    path: str | os.PathLike[str], *, environ: Mapping[str, str] | None = None
) -> AgentConfig:
    """Read a configuration file.

    The file wins over the environment, which wins over the defaults. Variables of an `env`
    block are set where they are not set yet; keep keys and passwords out of the file.

    Args:
        path: The file.
        environ: The environment to look at; by default the process's own.

    Returns:
        The configuration, with absolute folders.

    Raises:
        ConfigError: If the file is missing or is not valid, with the line where it is known.
    """
    file = expand_home(path, "path")
    raw = _read(file)
    for key in sorted(raw.keys() - _KEYS):
        logger.warning("%s: the key %r is not known and is ignored", file, key)
    _apply_env(file, raw.get("env"))
    environ = os.environ if environ is None else environ
    return AgentConfig(
        memory_files=_memory_files(file, raw.get("memory_files")),
        memories_dir=_folder(file, raw, "memories_dir", "memories"),
        skills_dir=_skills_dir(file, _folder(file, raw, "skills_dir", "skills")),
        system_prompt=_text(file, raw, "react_prompt", "") or environ.get(PROMPT_VARIABLE) or None,
        model=_model(file, raw.get("model")) or environ.get(MODEL_VARIABLE) or None,
        response_format=_mapping(file, raw, "response_format") or None,
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        raw = parse_json(file.read_bytes())
    except JsonInvalid as error:
        raise ConfigError(f"{file}{', ' if error.line else ': '}{error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not valid UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{file}: must hold one JSON object, not a {type(raw).__name__}")
    return raw


def _memory_files(file: Path, entries: object) -> tuple[str, ...]:
    if not isinstance(entries, list):
        if entries is not None:
            logger.warning("%s: memory_files is not a list; the default is used", file)
        return DEFAULT_MEMORY_FILES
    for entry in entries:
        if not isinstance(entry, str) or not entry.startswith("/"):
            raise ConfigError(
                f"{file}: memory_files has {entry!r}; an entry is a virtual path that begins"
                " with '/', such as '/memories/AGENTS.md'"
            )
        # These are paths of a backend: `..` would leave its root, and it has no home for `~`.
        if ".." in entry.split("/") or "~" in entry.split("/"):
            raise ConfigError(
                f"{file}: memory_files has {entry!r}; '..' and '~' have no meaning in a virtual"
                " path, so write the path below '/', such as '/memories/AGENTS.md'"
            )
    return tuple(entries)


def _text(file: Path, raw: Mapping[str, Any], key: str, default: str) -> str:
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ConfigError(f"{file}: {key} must be text, not {value!r}")
    return value


def _folder(file: Path, raw: Mapping[str, Any], key: str, default: str) -> Path:
    """Return a folder of the configuration; a relative one lies beside the file."""
    return _beside_file(file, key, _text(file, raw, key, default))


def _beside_file(file: Path, key: str, path: str) -> Path:
    try:
        return file.resolve().parent / expand_home(path, key)
    except SettingError as error:
        raise ConfigError(f"{file}: {error}") from None


def _mapping(file: Path, raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: {key} must be an object, not {value!r}")
    return value


def _model(file: Path, model: object) -> str:
    name = model.get("name") if isinstance(model, dict) else model
    if name is not None and not isinstance(name, str):
        raise ConfigError(f'{file}: model must be {{"name": "provider:model"}}, not {model!r}')
    return name or ""


def _skills_dir(file: Path, folder: Path) -> Path | None:
    if folder.is_dir():
        return folder
    logger.warning("%s: there is no skills folder %s; going on without", file, folder)
    return None


def _apply_env(file: Path, block: object) -> None:
    if block is None:
        return
    if not isinstance(block, dict) or not all(isinstance(value, str) for value in block.values()):
        raise ConfigError(f"{file}: env must be an object of texts")
    logger.warning(
        "%s: an env block is read by everybody who can read the file; keep keys and passwords"
        " in the environment (%s)",
        file,
        ", ".join(sorted(block)),
    )
    # A variable that is set wins, so that a deployment can override the file.
    for name, value in block.items():
        os.environ.setdefault(name, value)


# The command line.


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandConfig:
    """The configuration of the command line; what the file leaves out is None or empty.

    Attributes:
        file: The file; None if there is none.
        store: The address of the store. A file in it stands in the folder of the configuration.
        embeddings: "local", "local:multilingual" or "provider:model".
        scope: Parts of the scope, by their names.
        root: Where memory files are.
        sources: Paths of memory files in the root.
        by: Who acts.
        policy: Settings of the `PromotionPolicy`, by their names.
        mcp: Limits of the MCP server, by their names.
    """

    file: Path | None = None
    store: str | None = None
    embeddings: str | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None
    sources: tuple[str, ...] | None = None
    by: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    mcp: Mapping[str, Any] = field(default_factory=dict)

    def error(self, key: str, problem: str) -> ConfigError:
        """Make the error for a key of this file.

        Args:
            key: The key.
            problem: What is wrong with it, and what to write instead.

        Returns:
            The error, whose message has the file and the line.
        """
        return _at(self.file or Path(COMMAND_FILE), key, problem)


def find_command_config(start: str | os.PathLike[str] = ".") -> Path | None:
    """Find `memoryware.json` in a folder or in the nearest one above it.

    Args:
        start: The folder.

    Returns:
        The path of the file; None if no folder has one.
    """
    folder = Path(start).resolve()
    files = (parent / COMMAND_FILE for parent in (folder, *folder.parents))
    return next((parent for parent in files if parent.is_file()), None)


def load_command_config(path: str | os.PathLike[str]) -> CommandConfig:
    """Read the configuration of the command line.

    Args:
        path: The file.

    Returns:
        The configuration; relative paths in it are resolved against the folder of the file.

    Raises:
        ConfigError: If the file cannot be read, or has an unknown key or a wrong value; the
            message names the line where it is known.
    """
    file = expand_home(path, "path")
    raw = _read(file)
    _refuse_unknown_keys(file, raw, _COMMAND_KEYS)
    texts = {name: _text_value(file, raw, name) for name in ("store", "embeddings", "root", "by")}
    return CommandConfig(
        file=file,
        store=_store_address(file, texts["store"]),
        embeddings=texts["embeddings"],
        scope=_scope(file, raw),
        root=_beside_file(file, "root", texts["root"]) if texts["root"] else None,
        sources=_sources(file, raw),
        by=texts["by"],
        policy=_object(file, raw, "policy", POLICY_KEYS),
        mcp=_object(file, raw, "mcp", MCP_KEYS),
    )


def _refuse_unknown_keys(file: Path, block: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in block:
        if key not in allowed:
            raise _at(file, key, f"unknown key {key!r}; known keys: {', '.join(allowed)}")


def _text_value(file: Path, raw: Mapping[str, Any], key: str) -> str | None:
    value = raw.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise _at(file, key, f"{key} must be text that is not blank")
    return value


def _object(
    file: Path, raw: Mapping[str, Any], key: str, allowed: Sequence[str]
) -> Mapping[str, Any]:
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _at(file, key, f"{key} must be an object with any of {', '.join(allowed)}")
    _refuse_unknown_keys(file, value, allowed)
    return value


def _scope(file: Path, raw: Mapping[str, Any]) -> Mapping[str, str]:
    parts = _object(file, raw, "scope", SCOPE_KEYS)
    return {name: text for name in parts if (text := _text_value(file, parts, name)) is not None}


def _sources(file: Path, raw: Mapping[str, Any]) -> tuple[str, ...] | None:
    paths = raw.get("sources")
    if paths is None:
        return None
    if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
        raise _at(file, "sources", "sources must be a list of paths, such as ['/AGENTS.md']")
    return tuple(paths)


def _store_address(file: Path, store: str | None) -> str | None:
    """Return an address whose file lies in the folder of the configuration if it is relative."""
    if store is None or not store.startswith(_SQLITE):
        return store
    path = store.removeprefix(_SQLITE)
    # An absolute path, `:memory:`, or nothing but a query has no place beside the file.
    if path.startswith(("/", ":", "?")):
        return store
    return f"{_SQLITE}{_beside_file(file, 'store', path)}"


def _at(file: Path, key: str, problem: str) -> ConfigError:
    """Return an error about a key, with its line if the file can still be read."""
    # The parsed object has no positions, so the line is searched in the text, which may begin with
    # the byte order mark of an editor on Windows.
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    named = (number for number, line in enumerate(lines, 1) if f'"{key}"' in line)
    line = next(named, None)
    return ConfigError(f"{file}{f', line {line}' if line else ''}: {problem}")
