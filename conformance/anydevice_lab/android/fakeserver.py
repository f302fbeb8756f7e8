"""A server that is none: it lists rows as an adb server would, for states that only a cable can bring about."""

from __future__ import annotations

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from .transport import GONE

VERSION = b"0029"


class FakeServer:
    """Answers `host:version`, `host:devices`, `host:devices-l`, and both of the endless lists; everything else fails.

    Args:
        rows: What it lists, as `adb devices -l` prints it.
    """

    def __init__(self, rows: str) -> None:
        self.rows = rows if rows.endswith("\n") or not rows else rows + "\n"
        self.port = 0

    async def run(self, *, task_status: TaskStatus[int]) -> None:
        """Serves until it is cancelled."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        self.port = listener.extra(SocketAttribute.local_port)
        task_status.started(self.port)
        await listener.serve(self._serve)

    async def _serve(self, stream: SocketStream) -> None:
        reader = BufferedByteReceiveStream(stream)
        try:
            async with stream:
                length = int(await reader.receive_exactly(4), 16)
                service = (await reader.receive_exactly(length)).decode("utf-8", "replace")
                await stream.send(self._answer(service))
                if service.startswith("host:track-devices"):
                    await reader.receive(1)  # nothing ever changes; it ends when the client has had enough
        except (*GONE, ValueError):
            return

    def _answer(self, service: str) -> bytes:
        if service == "host:version":
            return b"OKAY" + _block(VERSION)
        if service in ("host:devices-l", "host:track-devices-l"):
            return b"OKAY" + _block(self.rows.encode())
        if service in ("host:devices", "host:track-devices"):
            return b"OKAY" + _block(self._short().encode())
        if service.startswith("host:transport:"):
            return b"FAIL" + _block(f"device '{service[15:]}' not found".encode())
        return b"FAIL" + _block(b"unknown host service")

    def _short(self) -> str:
        rows = [line.split(maxsplit=1) for line in self.rows.splitlines()]
        return "".join(f"{row[0]}\t{row[1].split()[0] if len(row) > 1 else ''}\n" for row in rows if row)


def _block(data: bytes) -> bytes:
    return b"%04x" % len(data) + data
