"""Who may do what on LangGraph's server: the user of a token, and nothing but their own threads."""

from __future__ import annotations

import json
import os
from typing import Any

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
    """Return whose token this is. Ask your sign-in here; `TOKENS` is for trying it out.

    memoryware reads `identity` as the user, and `group_id` and `tenant` as such. Always return
    the group: a client may choose any group that nobody else says.
    """
    users = json.loads(os.environ.get("TOKENS", "{}"))  # {"secret": {"group_id": ..., ...}}
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or token not in users:
        raise Auth.exceptions.HTTPException(status_code=401, detail="unknown token")
    return {"identity": users[token]["user_id"], "group_id": users[token]["group_id"]}


@auth.on
async def refuse(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Refuse what no handler below allows.

    The store among it: over HTTP a client could else read and write the memory of everybody.
    """
    del ctx, value
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str]:
    """Let people make threads, and see and run their own."""
    value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.assistants.read
@auth.on.assistants.search
async def any_assistant(ctx: Auth.types.AuthContext, value: Any) -> bool:
    del ctx, value
    return True
