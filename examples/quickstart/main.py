"""The demo: an agent that keeps what it learns in the AGENTS.md of a project.

For everybody who wants to see what this library does before reading about it. Nothing
is needed but the library: the model plays a written part. With
`MEMORYWARE_MODEL=provider:name` in the environment a real one takes its place.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
)

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the model that the examples share

from scripted import ScriptedModel, call, memory_block, system_prompt
from stage import Stage

import tiers

PROJECT = Path(__file__).with_name("project")
LAST_RULE = "- Run the tests before you say that something is done."
NOTE_FOR_PEOPLE = "Note for people"
PASSWORD = "kettle-4711-Blue"


def play(messages: Sequence[BaseMessage]) -> str | AIMessage:
    """Answer as the scripted model does: from its memory block, and from nothing else."""
    knows = "pnpm" in memory_block(system_prompt(messages))
    newest = messages[-1]
    if isinstance(newest, ToolMessage):
        if newest.status == "error":
            return "That was not saved."
        return "Noted in AGENTS.md: this project uses pnpm."
    if "password" in newest.text:
        line = f"- The wifi password is {PASSWORD}."
        return call("append_file", file_path="/AGENTS.md", text=line)
    if "tidy up" in newest.text:
        return call("write_file", file_path="/AGENTS.md", content="# Shop\n")
    if "remember" in newest.text and not knows:
        added = f"{LAST_RULE}\n- Use pnpm for packages, never npm."
        return call("edit_file", file_path="/AGENTS.md", old_string=LAST_RULE, new_string=added)
    return "Run `pnpm test`." if knows else "Run `npm test`."


class Witness(BaseCallbackHandler):
    """Keeps the system prompt of every model call, as the model got it."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **_: Any
    ) -> None:
        del serialized
        self.prompts.append(system_prompt(messages[0]))


class Conversation:
    """An agent on a project folder, and what was seen of it."""

    def __init__(self, model: BaseChatModel, project: Path, stage: Stage) -> None:
        backend = HistoryBackend(FilesystemBackend(root_dir=project))
        self.history = backend
        self.saver = InMemorySaver()
        self.agent = create_agent(
            model,
            middleware=[
                MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
                FileToolsMiddleware(backend=backend),
            ],
            checkpointer=self.saver,
        )
        self.stage = stage
        self.witness = Witness()

    def ask(self, text: str, *, thread: str) -> str:
        """Say something on a thread, print what happens, and return the answer."""
        self.stage.say("you", text)
        config: Any = {"configurable": {"thread_id": thread}, "callbacks": [self.witness]}
        ran: Any = self.agent.invoke({"messages": [{"role": "user", "content": text}]}, config)
        if waiting := ran.get("__interrupt__"):
            ran = self.agent.invoke(self.reject(waiting[0].value), config)
        new = list(ran["messages"])
        new = new[max(n for n, one in enumerate(new) if one.type == "human") + 1 :]
        for message in new:
            for wanted in getattr(message, "tool_calls", ()):
                path = wanted["args"].get("file_path", "")
                self.stage.say("agent", f"calls {wanted['name']} {path}".rstrip())
        answer = str(new[-1].text)
        self.stage.say("agent", answer)
        return answer

    def reject(self, request: Any) -> Command[Any]:
        """Show what a run waits for, and say no."""
        (action,) = request["action_requests"]
        self.stage.say("agent", f"wants {action['name']} {action['args']['file_path']}")
        question = action["description"].partition("\n")[0]
        self.stage.say("memory", f"asks you first: {question}")
        self.stage.say("you", "No.")
        return Command(resume={"decisions": [{"type": "reject"}]})

    @property
    def prompt(self) -> str:
        """The system prompt of the newest model call."""
        return self.witness.prompts[-1]

    def checkpoints(self) -> str:
        """Return what the checkpointer keeps of all threads, apart from the conversation."""
        kept: list[Any] = []
        for one in self.saver.list(None):
            kept += one.checkpoint["channel_values"].items()
            kept += [write[1:] for write in one.pending_writes or ()]
        return repr([value for channel, value in kept if channel != "messages"])


def main() -> int:
    """Play the demo; 0 if everything is as it claims."""
    logging.getLogger("memoryware").setLevel(logging.ERROR)  # what is refused is shown here
    name = os.environ.get("MEMORYWARE_MODEL", "")
    try:
        model = init_chat_model(name) if name else ScriptedModel(play)
    except (ImportError, ValueError) as error:
        print(f"MEMORYWARE_MODEL={name}: {error}", file=sys.stderr)
        return 2
    stage = Stage()
    second = init_chat_model(name) if name else ScriptedModel(tiers.play)
    played = f"The model is {name}." if name else "The model is scripted: no key, no network."
    stage.part("memoryware: an agent that keeps what it learns")
    stage.tell(f"{played} The project is a copy of examples/quickstart/project.")
    with tempfile.TemporaryDirectory(prefix="memoryware-demo-") as folder:
        project = Path(folder, "shop")
        shutil.copytree(PROJECT, project)
        perform(Conversation(model, project, stage), project / "AGENTS.md", stage)
        stage.part("Part two: three tiers, from what an agent says to what a team knows")
        tiers.perform(second, f"sqlite:///{folder}/memory.db", stage)
    stage.part("Where to go next")
    stage.rows(
        {
            "MEMORYWARE_MODEL=provider:name make demo": "the same with a real model",
            "docs/quickstart.md": "build this in five minutes",
            "examples/README.md": "one short script per use",
        }
    )
    print()
    return 1 if stage.failed else 0


def perform(talk: Conversation, file: Path, stage: Stage) -> None:
    """Play the scenes, and prove at the end what they have shown."""
    before = file.read_text(encoding="utf-8")
    shown = learns(talk, file, stage)
    after = file.read_text(encoding="utf-8")
    threads = talk.checkpoints()
    seen = "".join(talk.witness.prompts)
    undone, redone = is_safe(talk, file, stage)

    stage.part("What this has shown")
    gone = [line for line in before.splitlines() if line not in after.splitlines()]
    for claim, holds in {
        "what was learned is in the file": "pnpm" in after,
        "every line that was there before is still there": not gone,
        "the same thread had it in its next prompt": "pnpm" in shown[0],
        "a new thread had it in its first prompt, and answered by it": "pnpm" in shown[1],
        "the comment for people was kept, and the model never saw it": NOTE_FOR_PEOPLE in after
        and NOTE_FOR_PEOPLE not in seen,
        "apart from the conversation, no checkpoint holds text of the file": "An online shop"
        in seen
        and "An online shop" not in threads,
        "the password is nowhere in the project": not holds_password(file.parent),
        "an undo brought back the very text of before": undone == before,
        "and another one what the agent had learned": redone == after,
    }.items():
        stage.check(claim, holds=holds)


def learns(talk: Conversation, file: Path, stage: Stage) -> tuple[str, str]:
    """Play how something is learned; return what two later prompts held, and the answer."""
    before = file.read_text(encoding="utf-8")
    stage.scene("A project has an AGENTS.md")
    stage.quote(before)

    stage.scene("The model gets it in front of every conversation")
    talk.ask("How do I run the tests?", thread="monday")
    print()
    show_prompt(talk.prompt, stage)

    stage.scene("Somebody says something worth keeping")
    talk.ask("We use pnpm here, never npm. Please remember it.", thread="monday")

    stage.scene("It is in the file, and nothing else has changed")
    stage.diff(before, file.read_text(encoding="utf-8"), "AGENTS.md")

    stage.scene("The next turn of the same thread knows it")
    talk.ask("So how do I run the tests?", thread="monday")
    same_thread = memory_block(talk.prompt)

    stage.scene("And so does a new thread that never heard of it")
    answer = talk.ask("How do I run the tests?", thread="tuesday")
    return same_thread, answer if "pnpm" in memory_block(talk.prompt) else ""


def is_safe(talk: Conversation, file: Path, stage: Stage) -> tuple[str, str]:
    """Play what cannot go wrong; return the text after an undo, and after undoing that."""
    stage.scene("A secret is not saved, whatever the model does")
    talk.ask("The wifi password is new, please remember it.", thread="tuesday")

    stage.scene("One confused call does not wipe the file")
    talk.ask("Please tidy up.", thread="tuesday")

    stage.scene("Every change can be seen, and taken back")
    versions = talk.history.log("/AGENTS.md")
    for version in reversed(versions):
        by = version.actor.thread or "you, before"
        stage.tell(f"version {version.number}: {version.kind} ({by}), {version.size} bytes")
    if not versions:
        return "", ""
    talk.history.undo("/AGENTS.md", reason="npm was right after all")
    stage.say("you", "undo")
    undone = file.read_text(encoding="utf-8")
    talk.history.undo("/AGENTS.md", to=versions[0])
    stage.say("you", "undo the undo")
    return undone, file.read_text(encoding="utf-8")


def holds_password(folder: Path) -> bool:
    """Say whether the password is in any file of a folder."""
    files = (one for one in folder.rglob("*") if one.is_file())
    return any(PASSWORD.encode() in one.read_bytes() for one in files)


def show_prompt(prompt: str, stage: Stage) -> None:
    """Print the memory block of a system prompt, and say how much follows it."""
    stage.quote(f"<agent_memory>\n{memory_block(prompt)}\n</agent_memory>")
    _, _, after = prompt.partition("<memory_guidelines>\n")
    guidelines = after.partition("\n</memory_guidelines>")[0]
    print()
    stage.tell(
        f"{len(guidelines):,} characters of guidelines follow: what to save, what not to,"
        " with which tool."
    )


if __name__ == "__main__":
    sys.exit(main())
