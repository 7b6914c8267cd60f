"""Receivers of traces, over HTTP: an OpenTelemetry collector, and a LangSmith."""

from __future__ import annotations

import contextlib
import email
import email.policy
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

# What LangSmith says of itself: runs come as parts of a form, not compressed.
_INFO = {
    "version": "0.10.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": 100,
        "size_limit_bytes": 20_000_000,
        "scale_up_nthreads_limit": 1,
        "scale_up_qsize_trigger": 1000,
        "scale_down_nempty_trigger": 4,
    },
}


class Receiver:
    """Keeps what is sent."""

    url: str

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.types: list[str] = []

    async def receive(self, request: Request) -> Response:
        if request.method == "GET":
            return JSONResponse(_INFO)
        self.bodies.append(await request.body())
        self.types.append(request.headers["content-type"])
        if request.url.path == "/v1/traces":
            return Response(b"", media_type="application/x-protobuf")
        return JSONResponse({}, status_code=202)

    @property
    def everything(self) -> str:
        return b"\n".join(self.bodies).decode(errors="replace")

    def spans(self) -> list[Any]:
        """Return the spans that an exporter has sent in protobuf."""
        return [
            span
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def runs(self) -> dict[str, dict[str, Any]]:
        """Return the runs that LangSmith's client has sent, by name."""
        parts: dict[str, dict[str, Any]] = {}
        for body, kind in zip(self.bodies, self.types, strict=True):
            head = f"Content-Type: {kind}\r\n\r\n".encode()
            form = email.message_from_bytes(head + body, policy=email.policy.HTTP)
            for part in form.iter_parts():
                name = part.get_param("name", header="content-disposition")
                _, run, *field = name.split(".")
                value = json.loads(part.get_payload(decode=True))
                update = {field[0]: value} if field else value
                parts.setdefault(run, {}).update(update)
        return {run["name"]: run for run in parts.values()}


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """Listen on a port of this machine until the end of the block."""
    received = Receiver()
    route = Route("/{path:path}", received.receive, methods=["GET", "POST", "PATCH"])
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        received.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(Starlette(routes=[route]), log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield received
        finally:
            server.should_exit = True
            thread.join(20)
