"""`TieredMemoryMiddleware`: records what an agent says, and recalls what its group knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    TracePolicy,
    omit_payload,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from memoryware import _langchain
from memoryware._twins import blocking, finish, native
from memoryware.middleware import _tiered_options as options_of
from memoryware.middleware._options import check_name
from memoryware.middleware._tiered_hooks import TieredHooks
from memoryware.middleware._tiered_options import Options, Placement, Record, Retrieve
from memoryware.middleware._tiered_state import Keys, state_schema_for
from memoryware.middleware._tiered_tools import RECALL, REMEMBER, tool_name
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers.records import Role
from memoryware.tiers.service import TieredMemory
