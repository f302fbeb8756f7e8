"""Acting on one element by its key."""

from __future__ import annotations

from typing import Any

import anyio

from anydevice.driver import Acted, Elements, Probe
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import ElementDisabled, InvalidArgument, StaleRef

from .acting import INPUT_DEADLINE, act
from .frames import Frame, WorldLost, stale
from .guarding import Spot
from .instance import Instance
from .page import Page
from .snapshot import Placement, single
from .walker import ask_main, locate, place

ASK_DEADLINE = 5.0
REVEAL_PATIENCE = 0.5
"""Seconds the pages around a frame of another process may take to scroll it into view."""
ENTER = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
BACKSPACE = {"key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8}


class WebElements(Elements):
    """Elements of the current page, by key."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """See `Elements.probe`. The hit test covers every document around the element's own."""
        page = await self._instance.page()
        frame, document, number = locate(page, key)
        placement = await place(frame)
        options: dict[str, Any] = {"n": number}
        if at is not None:
            options["x"], options["y"] = placement.inward(at.x, at.y)
        elif placement.clip is not None:
            clip = placement.clip
            left, top = placement.inward(clip.x, clip.y)
            right, bottom = placement.inward(clip.x + clip.width, clip.y + clip.height)
            options["view"] = [left, top, right, bottom]
        found = await ask_element(frame, document, "probe", options, key)
        node = single(found, document, placement)
        if found["point"] is None:
            return Probe(node, None)
        where = placement.outward(*found["point"])
        point = Point(*where) if at is not None else Spot(*where, key)
        cover, holder = found["cover"], document
        if cover is None and frame.parent is not None:
            cover, holder = await _cover_outside(frame, point)
        if cover is None:
            return Probe(node, point)
        return Probe(node, point, cover["text"], f"{holder}:{cover['key']}")

    async def at(self, point: Point) -> Node | None:
        """See `Elements.at`."""
        page = await self._instance.page()
        found = await ask_main(page, "at", {"x": point.x, "y": point.y})
        frame, placement = page.main, Placement()
        while found is not None and "frame" in found:
            inner = await frame.inner(found["frame"])
            if inner is None:
                break
            x, y = found["x"], found["y"]
            try:
                deeper = await inner.ask("at", {"x": x, "y": y}, deadline=ASK_DEADLINE)
                inner_placement = await place(inner)
            except WorldLost:
                break
            if deeper is None:
                break
            frame, placement, found = inner, inner_placement, deeper
        if found is None or frame.world is None:
            return None
        return single(found, frame.world.document, placement)

    async def focus(self, key: str) -> Acted:
        """See `Elements.focus`; verified by reading the focus back."""
        page = await self._instance.page()
        frame, document, number = locate(page, key)

        async def work() -> dict[str, Any]:
            answer = await ask_element(frame, document, "focus", {"n": number}, key)
            return {"verified": answer["focused"]}

        return await act(page, "script-focus", work)

    async def reveal(self, key: str) -> Acted:
        """See `Elements.reveal`; verified by finding some of it in view."""
        page = await self._instance.page()
        frame, document, number = locate(page, key)

        async def work() -> dict[str, Any]:
            answer = await ask_element(frame, document, "reveal", {"n": number}, key)
            shown = answer["shown"]
            if shown and frame.parent is not None:
                shown = await self._shown_through(frame, document, number, key)
            return {"verified": shown, "scrolled": answer["scrolled"]}

        return await act(page, "scroll-into-view", work, follow=False)

    async def _shown_through(self, frame: Frame, document: str, number: int, key: str) -> bool:
        """Whether an element shows through the frames around it; their processes scroll a moment later."""
        end = anyio.current_time() + REVEAL_PATIENCE
        while True:
            placement = await place(frame)
            found = await ask_element(frame, document, "probe", {"n": number}, key)
            rect = single(found, document, placement).rect
            if rect is not None and (placement.clip is None or rect.intersect(placement.clip)):
                return True
            if anyio.current_time() > end:
                return False
            await anyio.sleep(0.02)

    async def set_text(self, key: str, text: str) -> Acted:
        """See `Elements.set_text`.

        Text fields and editable regions take the text as input (so `beforeinput` and `input` fire); paragraphs
        of editable regions are made with Enter. Dates, colours and ranges take it as their value, in the
        browser's own form (`2026-05-01`, `#aabbcc`, `40`). A select takes the label or value of an option,
        several lines where several may be chosen. The field is read back in the page; what a secure field
        holds is compared there and never leaves it.

        Raises:
            InvalidArgument: The element takes no text, or has no such option (details list the options).
            ElementDisabled: It is disabled or read-only.
        """
        page = await self._instance.page()
        frame, document, number = locate(page, key)
        state: dict[str, Any] = {}

        async def prepare() -> None:
            state.update(await ask_element(frame, document, "ready", {"n": number}, key))
            refuse_unfit(state, key)

        road = {"select": "select-option", "native": "set-value"}

        async def work() -> dict[str, Any]:
            await prepare()
            kind = state["kind"]
            if kind == "select":
                found = await ask_element(frame, document, "choose", {"n": number, "text": text}, key)
                refuse_option(found)
            elif kind == "native":
                found = await ask_element(frame, document, "put", {"n": number, "text": text}, key)
            else:
                await _insert(page, text, rich=kind == "rich", empty=state["empty"])
                try:
                    found = await ask_element(frame, document, "rests", {"n": number, "text": text}, key)
                except StaleRef:  # the page took the text and then the field away: nobody can read it back
                    return {"field": state["type"], "gone": True}
            answer = {"verified": found["same"], "field": state["type"]}
            if found.get("gone"):
                answer["gone"] = True
            if "value" in found and not found["same"]:
                answer["actual"] = found["value"]
            return answer

        acted = await act(page, "insert-text", work, into=key)
        return Acted(road.get(state.get("kind", ""), acted.method), acted.happenings, acted.verified, acted.data)


async def ask_element(frame: Frame, document: str, method: str, options: dict[str, Any], key: str) -> dict[str, Any]:
    """Asks a document about one of its elements.

    Raises:
        StaleRef: The element or its document is gone.
    """
    answer: dict[str, Any] = await frame.ask(method, options, document=document, deadline=ASK_DEADLINE)
    if "stale" in answer:
        raise stale(key, answer["stale"])
    return answer


def refuse_unfit(state: dict[str, Any], key: str) -> None:
    """Refuses elements that take no text.

    Raises:
        InvalidArgument, ElementDisabled
    """
    if state["kind"] == "none":
        raise InvalidArgument(
            "This element takes no text.",
            hint="Use press on it; for a file field there is an upload, not a text.",
            param="target",
            expected="a text field, editable region, select, date, colour or range",
            element=key,
            field=state["type"],
        )
    if state["disabled"] or state["readonly"]:
        word = "disabled" if state["disabled"] else "read-only"
        raise ElementDisabled(f"The field is {word}.", element=key, reason=word)


def refuse_option(found: dict[str, Any]) -> None:
    """Refuses an option a select does not offer.

    Raises:
        InvalidArgument, ElementDisabled
    """
    if found.get("missing"):
        raise InvalidArgument(
            "The select has no such option.",
            hint="Take one of the options listed in details.",
            param="text",
            expected="the label or value of one of its options",
            options=found["options"],
        )
    if found.get("closed"):
        raise ElementDisabled("The option is disabled.", element="option", reason="disabled")


async def _cover_outside(frame: Frame, point: Point) -> tuple[dict[str, Any] | None, str]:
    """What lies over the frames around a document at a point of the page, innermost first."""
    at = frame
    while at.parent is not None:
        parent = at.parent
        outer = await place(parent)
        x, y = outer.inward(point.x, point.y)
        document = parent.world.document if parent.world is not None else ""
        view = await ask_element(parent, document, "frameView", {"n": at.owner, "x": x, "y": y}, at.id)
        if view["cover"] is not None:
            return view["cover"], document
        at = parent
    return None, ""


async def _insert(page: Page, text: str, *, rich: bool, empty: bool) -> None:
    """Replaces what is selected by a text, as typing would."""
    if text == "":
        if not empty:
            await page.send(_press(BACKSPACE), deadline=INPUT_DEADLINE)
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if rich else [text]
    for count, line in enumerate(lines):
        if count:
            await page.send(_press({**ENTER, "text": "\r"}), deadline=INPUT_DEADLINE)
        if line:
            await page.send([("Input.insertText", {"text": line})], deadline=INPUT_DEADLINE)
        elif count == 0 and not empty:
            await page.send(_press(BACKSPACE), deadline=INPUT_DEADLINE)


def _press(key: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    down = "keyDown" if "text" in key else "rawKeyDown"
    return [("Input.dispatchKeyEvent", {"type": down, **key}), ("Input.dispatchKeyEvent", {"type": "keyUp", **key})]
