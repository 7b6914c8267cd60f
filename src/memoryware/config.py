"""`config.json`: which memory files, which folders, which prompt and model.

    {
      "memory_files": ["/memories/AGENTS.md"],
      "memories_dir": "memories",
      "skills_dir": "skills",
      "react_prompt": "You are a careful assistant.",
      "model": {"name": "provider:model"}
    }

Every key may be left out. Folders are taken from the folder of the file.
"""

from __future__ import annotations

import json
import logging
import os
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
