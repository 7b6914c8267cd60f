"""mem0 as a library: its own Qdrant in a folder, and no language model (`infer=False`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from memoryware.bench.speed.made import BEST, DIMENSION, Made, Question, looked_up
from memoryware.bench.speed.sides import HYBRID, PROMOTE, VECTORS, Absent, Ask, Place, Put, Side

_EVERYBODY: Final = "everybody"
_QUIET: Final = {"MEM0_TELEMETRY": "False", "POSTHOG_DISABLED": "1"}


class Mem0(Side):
    """`mem0.Memory`; a user for each group, and one agent for all of them."""

    name: ClassVar[str] = "mem0"
    most: ClassVar[int] = 2000
    too_many: ClassVar[str] = "it keeps them one by one, and slower the more there are"
    packages = ("mem0ai", "qdrant-client")

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        os.environ.update({"MEM0_DIR": str(place.folder / "own"), **_QUIET})
        try:
            from mem0 import Memory
        except ImportError as error:
            raise Absent(f"no {error.name}: pip install mem0ai") from error
        place.folder.mkdir(parents=True, exist_ok=True)
        store = {"path": str(place.folder / "qdrant"), "embedding_model_dims": DIMENSION}
        model = {"model": looked_up(made), "embedding_dims": DIMENSION}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
                "embedder": {"provider": "langchain", "config": model},
                "llm": {"provider": "openai", "config": {"api_key": "none is asked"}},
                "history_db_path": str(place.folder / "history.db"),
            }
        )

    def load(self, numbers: range) -> None:
        for number in numbers:
            self._add(number)

    def asks(self) -> Mapping[str, Ask]:
        return {
            HYBRID: lambda question, whole: self._search(question, question.text, whole),
            VECTORS: lambda question, whole: self._search(question, question.wordless, whole),
        }

    def puts(self) -> Mapping[str, Put]:
        return {PROMOTE: self._add}

    def numbers(self, answer: Any) -> list[int]:
        return [self.made.number_of(one["memory"]) for one in answer["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()
        self._memory.close()

    def _add(self, number: int) -> None:
        user = f"g{self.made.group_of(number)}"
        text = self.made.texts[number]
        self._memory.add(text, user_id=user, agent_id=_EVERYBODY, infer=False)

    def _search(self, question: Question, text: str, whole: bool) -> Any:
        who = {"agent_id": _EVERYBODY} if whole else {"user_id": f"g{question.group}"}
        return self._memory.search(text, top_k=BEST, filters=who, threshold=0.0)
