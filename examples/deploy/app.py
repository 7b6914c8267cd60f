"""For a web service: FastAPI streams the answers of an agent; memory is opened once.

    uvicorn app:app

Who asks comes from the token of the request, never from its body. The answer comes as
server-sent events: `token` for each piece, `done` at the end, `error` if the run fails.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.sse import EventSourceResponse, ServerSentEvent
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from offline import chat_model
from pydantic import BaseModel, Field

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware

log = logging.getLogger("app")


@dataclass
class Caller:
    """Whose memory a run reads and writes."""

    group_id: str
    user_id: str


class Question(BaseModel):
    text: str = Field(min_length=1, max_length=10_000)
    thread: str = Field("1", max_length=100)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open memory before the first request, and close it after the last one."""
    address = os.environ.get("MEMORY_URL", "sqlite:///memory.db")
    async with await TieredMemory.aopen(address) as memory:
        app.state.memory = memory
        app.state.agent = create_agent(
            chat_model(),
            middleware=[TieredMemoryMiddleware(memory)],
            context_schema=Caller,
            checkpointer=InMemorySaver(),  # with several processes: AsyncPostgresSaver
            name="assistant",
        )
        yield


app = FastAPI(lifespan=lifespan)


def caller(token: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> Caller:
    """Return whose token this is. Ask your sign-in here; `TOKENS` is for trying it out."""
    users = json.loads(os.environ.get("TOKENS", "{}"))  # {"secret": {"group_id": ..., ...}}
    if token.credentials not in users:
        raise HTTPException(401, "unknown token", {"WWW-Authenticate": "Bearer"})
    return Caller(**users[token.credentials])


SignedIn = Annotated[Caller, Depends(caller)]


@app.post("/chat", response_class=EventSourceResponse)
async def chat(question: Question, who: SignedIn, request: Request) -> AsyncIterator[Any]:
    """Answer a question, piece by piece."""
    # The user is a part of the thread's id: nobody continues the conversation of somebody else.
    config: RunnableConfig = {
        "configurable": {"thread_id": json.dumps([who.group_id, who.user_id, question.thread])}
    }
    messages = {"messages": [("user", question.text)]}
    try:
        async for chunk, _ in request.app.state.agent.astream(
            messages, config, context=who, stream_mode="messages"
        ):
            if isinstance(chunk, AIMessageChunk) and chunk.text:
                yield ServerSentEvent(event="token", data=chunk.text)
    except Exception:
        log.exception("a run failed")  # the client gets no details
        yield ServerSentEvent(event="error", data="the answer could not be finished")
    else:
        yield ServerSentEvent(event="done", data="")


@app.delete("/me")
async def forget_me(who: SignedIn, request: Request) -> dict[str, int]:
    """Delete everything of the user who asks, in all groups, for good."""
    memory: TieredMemory = request.app.state.memory
    receipt = await memory.aforget(MemoryScope(user_id=who.user_id), by=who.user_id)
    return {"deleted": receipt.total}


@app.get("/healthz")
async def healthz(request: Request) -> dict[str, bool]:
    """Answer if the store answers: 200, else 500, for the health check of a container."""
    await request.app.state.memory.aspaces()
    return {"ok": True}
