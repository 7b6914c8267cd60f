"""The socket on which the inspector answers."""

from __future__ import annotations

import asyncio
import socket

from memoryware.inspector._app import _open_socket


async def test_a_small_answer_is_sent_at_once():
    told = asyncio.get_running_loop().create_future()

    def answer(_, writer):
        link = writer.get_extra_info("socket")
        told.set_result(link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with _open_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        async with await asyncio.start_server(answer, sock=listener):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                assert await asyncio.wait_for(told, 10)
            finally:
                writer.close()
