"""Who asks: the caller of a request, and which tools it is shown. The transport decides, never what is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anydevice_schemas import Caller

from .published import Shown

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

SEAT = "anydevice.seat"
"""Where an HTTP request carries its seat, among its own state."""


@dataclass(eq=False, slots=True)
class Seat:
    """One client's place: a connection, or over HTTP one request of an authenticated principal.

    Attributes:
        caller: In whose name calls are made.
        shown: Which tools are listed, under which schemas.
    """

    caller: Caller
    shown: Shown = field(default_factory=Shown)


def seat_of(ctx: ServerRequestContext[Any, Any]) -> Seat:
    """The seat a request comes from.

    Raises:
        LookupError: The transport set none; nothing is served then.
    """
    if isinstance(ctx.lifespan_context, Seat):
        return ctx.lifespan_context
    scope = getattr(ctx.request, "scope", None) or {}
    seat = scope.get("state", {}).get(SEAT)
    if not isinstance(seat, Seat):
        raise LookupError("a request without a seat")
    return seat
