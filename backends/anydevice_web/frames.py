"""Documents of a page, each with its isolated world: where the program in the page is asked things.

A page is a tree of documents. Those of one origin in one process are walked together, from the outermost. Where
another document begins that its parent cannot touch (another origin, a sandbox, another process), a `Frame` of
its own begins. Frames of another process have a protocol session of their own; the others share their parent's.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from anydevice_schemas.errors import BackendBroken, StaleRef

from . import inpage
from .cdp import CALL_DEADLINE, Gone, ProtocolError, Session

if TYPE_CHECKING:
    from .page import Page

_LOST_WORLD = (
    "context",
    "object with given id",
    "navigated or closed",
    "no frame",
    "target closed",
    "not attached",
    "collected",
)


class WorldLost(Exception):
    """The document that was asked is gone; a new one may be there by now."""


class World:
    """The program installed in one document. `drawn`: the document was seen drawn."""

    __slots__ = ("document", "drawn", "object")

    def __init__(self, document: str, object_id: str) -> None:
        self.document = document
        self.object = object_id
        self.drawn = False


class Frame:
    """A document its parent cannot look into (or the page's own), and the session it is reached through.

    Attributes:
        id: The browser's id of the frame.
        parent: The frame around it; None for the page's own.
        owner: Number of the frame element in the parent's document.
    """

    def __init__(self, page: Page, frame_id: str, session: Session, parent: Frame | None, owner: int) -> None:
        self.page = page
        self.id = frame_id
        self.session = session
        self.parent = parent
        self.owner = owner
        self.world: World | None = None
        self._inner: dict[int, str] = {}

    def forget_document(self) -> None:
        """The document was replaced: its world, and every key of it, is gone."""
        if self.world is not None:
            self.page.documents.pop(self.world.document, None)
        self.world = None
        self._inner.clear()

    async def ask(
        self, method: str, options: Any = None, *, document: str | None = None, deadline: float = CALL_DEADLINE
    ) -> Any:
        """Calls a function of the program in this document.

        Args:
            document: Only this document is meant; another one is never asked in its place.

        Raises:
            WorldLost: The document is gone (only where `document` is None).
            StaleRef: The document meant is gone.
            AnydeviceError: A dialog, a crash, a lost browser, a deadline.
        """
        try:
            world = await self._installed(deadline)
            if document is not None and world.document != document:
                raise WorldLost
            answer = await self.page.call(self.session, *_call(world, method, options), deadline=deadline)
            return self._value(answer, method)
        except (WorldLost, Gone) as error:
            if document is not None:
                raise stale(document, "the page it was on is gone") from error
            raise WorldLost from error
        except ProtocolError as error:
            if not any(sign in error.text.lower() for sign in _LOST_WORLD):
                raise
            self.forget_document()
            if document is not None:
                raise stale(document, "the page it was on is gone") from error
            raise WorldLost from error

    def call_of(self, method: str, options: Any) -> tuple[str, dict[str, Any]]:
        """The protocol call behind `ask`, for those who send several together. The world must be installed."""
        assert self.world is not None
        return _call(self.world, method, options)

    def _value(self, answer: dict[str, Any], method: str) -> Any:
        trouble = answer.get("exceptionDetails")
        if trouble is not None:
            text = trouble.get("exception", {}).get("description", trouble.get("text", ""))
            raise BackendBroken("The program in the page failed.", backend="web", reason=f"{method}: {str(text)[:300]}")
        return answer["result"].get("value")

    async def _installed(self, deadline: float) -> World:
        if self.world is not None:
            return self.world
        context = await self.page.call(
            self.session,
            "Page.createIsolatedWorld",
            {"frameId": self.id, "worldName": inpage.WORLD},
            deadline=deadline,
        )
        answer = await self.page.call(
            self.session,
            "Runtime.evaluate",
            {
                "contextId": context["executionContextId"],
                "expression": inpage.program(uuid.uuid4().hex[:12]),
                "generatePreview": True,
            },
            deadline=deadline,
        )
        self._value(answer, "install")
        face = answer["result"]
        document = next(entry["value"] for entry in face["preview"]["properties"] if entry["name"] == "documentId")
        self.world = World(document, face["objectId"])
        self.page.documents[document] = self
        return self.world

    async def inner(self, number: int) -> Frame | None:
        """The frame whose element has this number in this document; None when it is gone or not loaded yet."""
        known = self._inner.get(number)
        if known is not None and known in self.page.frames:
            return self.page.frames[known]
        if self.world is None:
            return None
        handle = await self.page.call(self.session, *_call(self.world, "element", {"n": number}, by_value=False))
        element = handle["result"].get("objectId")
        if element is None:
            return None
        described = await self.page.call(self.session, "DOM.describeNode", {"objectId": element})
        await self.page.call(self.session, "Runtime.releaseObject", {"objectId": element})
        frame_id = described["node"].get("frameId")
        if frame_id is None:
            return None
        self._inner[number] = frame_id
        session = self.page.session_of(frame_id) or self.session
        frame = self.page.frames.get(frame_id)
        if frame is None or frame.session is not session:
            frame = self.page.frames[frame_id] = Frame(self.page, frame_id, session, self, number)
        frame.parent, frame.owner = self, number
        return frame


def _call(world: World, method: str, options: Any, *, by_value: bool = True) -> tuple[str, dict[str, Any]]:
    return "Runtime.callFunctionOn", {
        "objectId": world.object,
        "functionDeclaration": inpage.CALL,
        "arguments": [{"value": method}, {"value": options}],
        "returnByValue": by_value,
        "awaitPromise": True,
    }


def stale(ref: str, reason: str) -> StaleRef:
    """The error for a key whose element is gone. `reason` is ours, never a page's text."""
    return StaleRef(f"The element is gone: {reason}.", ref=ref, reason=reason, nearest_matches=[])


def split_key(key: str) -> tuple[str, int]:
    """Document and number of a key.

    Raises:
        StaleRef: It is no key of this backend.
    """
    document, _, number = key.rpartition(":")
    if not document or not number.isdigit():
        raise stale(key, "no such element")
    return document, int(number)


def decode(text: str) -> dict[str, Any]:
    """A packed answer, which travels as one string (an order of magnitude faster than a tree of values)."""
    answer: dict[str, Any] = json.loads(text)
    return answer
