"""For LangGraph's server: an agent whose memory is in the store of the platform.

    langgraph dev

Two memories in one store: `/AGENTS.md`, a file of each user, and the tiers of their group. Who
asks is the user whom `auth.py` has let in, whatever the client writes into its request.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from langchain.agents import create_agent
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph_sdk.runtime import ServerRuntime
from offline import chat_model

from memoryware import MemoryMiddleware, StoreBackend, TieredMemory, TieredMemoryMiddleware
from memoryware.stores import langgraph_stores

MODEL = chat_model()


def namespace(runtime: Runtime) -> tuple[str, ...]:
    """Return where the files of the user are who has signed in."""
    return ("files", runtime.server_info.user.identity)


FILES = MemoryMiddleware(backend=StoreBackend(namespace=namespace), sources=["/AGENTS.md"])


@lru_cache(maxsize=16)
def memory_in(store: BaseStore) -> TieredMemory:
    """Return the memory in a store: the server asks for a graph in each run."""
    return TieredMemory(langgraph_stores(store))


def make_graph(runtime: ServerRuntime) -> Any:
    tiers = TieredMemoryMiddleware(memory_in(runtime.store))
    return create_agent(MODEL, middleware=[FILES, tiers])
