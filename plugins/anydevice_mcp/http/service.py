"""Listening for HTTP, as long as the daemon runs."""

from __future__ import annotations

import socket

import anyio
import structlog
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ..server import Household
from .choices import Choices
from .guard import PATH, Guard
from .listener import Connection, Listener
from .tokens import TokenError, Tokens

log = structlog.get_logger("anydevice.mcp.http")

SWEEP_SECONDS = 2.0
"""How long streams of a revoked token may still run."""
CLOSE_SECONDS = 2.0
"""What connections get to end once the daemon ends."""
HEAD_MOST = 64 * 1024
"""Bytes the head of a request may have."""
CONNECTIONS = 512


class Service:
    """The HTTP side of the facade.

    Args:
        household: Answers.
        choices: Where to listen, for whom.
        tokens: Who may come.
    """

    def __init__(self, household: Household, choices: Choices, tokens: Tokens) -> None:
        self._household, self._choices = household, choices
        self._tokens = tokens
        self._socket: socket.socket | None = None

    def listen(self) -> str:
        """Takes the port; returns the address of the server.

        Raises:
            OSError: It cannot be had.
        """
        family = socket.AF_INET6 if ":" in self._choices.host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((self._choices.host, self._choices.port))
            found.listen(128)
            found.setblocking(False)
        except OSError:
            found.close()
            raise
        self._socket = found
        host = f"[{self._choices.host}]" if family == socket.AF_INET6 else self._choices.host
        return f"http://{host}:{found.getsockname()[1]}{PATH}"

    async def serve(self) -> None:
        """Serves until it is cancelled."""
        assert self._socket is not None
        choices = self._choices
        manager = StreamableHTTPSessionManager(
            app=self._household.server(),
            json_response=False,  # with it neither progress nor cancellation reaches the other side
            stateless=False,
            max_request_body_size=choices.body,
            session_idle_timeout=choices.idle,
            max_sessions=choices.sessions,
        )
        sessions = self._household.router.services.sessions
        guard = Guard(manager.handle_request, choices, self._tokens, self._gone)
        config = uvicorn.Config(
            guard, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
            h11_max_incomplete_event_size=HEAD_MOST, limit_concurrency=CONNECTIONS, timeout_keep_alive=75,
            timeout_graceful_shutdown=int(CLOSE_SECONDS), ws="none", http=Connection, loop="none",
        )  # fmt: skip
        listener = Listener(config)
        try:
            async with manager.run(), anyio.create_task_group() as group:
                group.start_soon(self._sweep, guard)
                group.start_soon(_serve_shielded, listener, self._socket)
                try:
                    await anyio.sleep_forever()
                finally:
                    listener.should_exit = True
        finally:
            guard.end_all()
            for session in sessions.all():
                if session.transport == "http" and session.implicit:
                    sessions.end(session, "the server ended")

    def _gone(self, session: str) -> None:
        self._household.forget(session)
        self._household.router.services.sessions.end_connection(session)

    async def _sweep(self, guard: Guard) -> None:
        while True:
            await anyio.sleep(SWEEP_SECONDS)
            await guard.sweep()
            self._free_revoked()

    def _free_revoked(self) -> None:
        """What a revoked token still held by the names of its sessions (the newer era) is free again."""
        sessions = self._household.router.services.sessions
        held = [session for session in sessions.all() if session.transport == "http"]
        if not held:
            return
        try:
            known = {f"token:{token.name}" for token in self._tokens.all()}
        except TokenError:
            return  # nobody is let in meanwhile; who is, is said once the file can be read
        for session in held:
            if session.principal not in known:
                sessions.end(session, "its token was revoked")


async def _serve_shielded(listener: Listener, sock: socket.socket) -> None:
    """Runs the listener; where it is cancelled it ends its connections in order, within its time."""
    with anyio.CancelScope(shield=True):
        await listener.serve(sockets=[sock])
