"""`memoryware completion`: complete commands, options and their values in a shell.

The script of a shell runs the words that are typed so far, with `_MEMORYWARE_COMPLETE` set; the
command prints the candidates for the last of them, each with its help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, StrEnum
from typing import Annotated, Any, Final

import typer


class Shell(StrEnum):
    """Shells that complete commands."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS: Final = {
    Shell.BASH: r"""
_memoryware() {
  local IFS=$'\n'
  COMPREPLY=($(_MEMORYWARE_COMPLETE=bash "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
}
complete -o default -F _memoryware memoryware
""",
    Shell.ZSH: r"""
#compdef memoryware
_memoryware() {
  local -a candidates
  candidates=("${(@f)$(_MEMORYWARE_COMPLETE=zsh "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${candidates[1]}" ]]; then
    _describe memoryware candidates
  else
    _files
  fi
}
compdef _memoryware memoryware
""",
    Shell.FISH: r"""
function __memoryware_complete
  set -l found (env _MEMORYWARE_COMPLETE=fish (commandline -opc) (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c memoryware -f -a "(__memoryware_complete)"
""",
}


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.")],
) -> None:
    """Print the script that completes commands and options in a shell.

    bash: memoryware completion bash >> ~/.bashrc. zsh: memoryware completion zsh >> ~/.zshrc,
    after compinit. fish: memoryware completion fish > ~/.config/fish/completions/memoryware.fish.

    Exit codes: 0 done, 2 usage error.
    """
    typer.echo(_SCRIPTS[shell].strip())


def format_candidates(command: Any, words: Sequence[str], shell: str) -> str:
    """Return the candidates for the last word of a command line as a shell reads them.

    Args:
        command: The command with its groups.
        words: The words after its name; the last one is incomplete, perhaps "".
        shell: "bash", "zsh" or "fish".

    Returns:
        A candidate on each line, with its help where the shell shows that.
    """
    begin = words[-1] if words else ""
    candidates = sorted(
        (name, " ".join(text.split()))
        for name, text in _candidates(command, words[:-1], begin)
        if name.startswith(begin)
    )
    if shell == Shell.FISH:
        return "\n".join(f"{name}\t{text}" for name, text in candidates)
    if shell == Shell.ZSH:
        escaped = ((name.replace(":", r"\:"), text) for name, text in candidates)
        return "\n".join(f"{name}:{text}" for name, text in escaped)
    return "\n".join(name for name, _ in candidates)


def _candidates(command: Any, words: Sequence[str], begin: str) -> Iterator[tuple[str, str]]:
    """Yield what may follow some words, each with its help."""
    previous = ""
    for word in words:
        commands = getattr(command, "commands", {})
        if word in commands:
            command = commands[word]
        previous = word
    options = [parameter for parameter in command.params if parameter.opts[0].startswith("-")]
    option = next((option for option in options if previous in option.opts), None)
    if option is not None and not getattr(option, "is_flag", False):
        yield from ((value, "") for value in _choices(option))
        return
    if begin.startswith("-"):
        for option in options:
            if not option.hidden:
                names = (*option.opts, *option.secondary_opts)
                yield from ((name, option.help or "") for name in names)
        return
    for name, subcommand in getattr(command, "commands", {}).items():
        yield name, subcommand.get_short_help_str(100)
    for parameter in command.params:
        if parameter not in options:
            yield from ((value, "") for value in _choices(parameter))


def _choices(parameter: Any) -> list[str]:
    """Return what a parameter may be; releases of typer keep that in two ways."""
    if hasattr(parameter, "type"):
        return [*map(str, getattr(parameter.type, "choices", ()))]
    annotation = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(member.value) for member in annotation]
    return []
