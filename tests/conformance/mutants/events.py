"""Mutants of the cases about links and app events."""

from __future__ import annotations

import re

import pytest

from anydevice.commands import events, lifecycle
from anydevice.driver import Acted, AppEvent
from anydevice.testing import ReferenceBackend, driver

from . import Mutant


def cuts_links_at_the_ampersand(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link goes through a shell unquoted."""
    sound = driver._Links.open_url

    async def open_url(self: driver._Links, url: str, *, app: str | None = None) -> Acted:
        return await sound(self, url.partition("&")[0], app=app)

    monkeypatch.setattr(driver._Links, "open_url", open_url)


def delivers_twice(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event that is not acknowledged at once is sent again."""
    sound = driver._Links.deliver_event

    async def deliver_event(self: driver._Links, event: AppEvent) -> Acted:
        acted = await sound(self, event)
        return acted if acted.data.get("acknowledged") else await sound(self, event)

    monkeypatch.setattr(driver._Links, "deliver_event", deliver_event)


def acknowledges_for_the_app(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent counts as acknowledged."""
    sound = driver._Links.deliver_event

    async def deliver_event(self: driver._Links, event: AppEvent) -> Acted:
        return Acted((await sound(self, event)).method, data={"acknowledged": True})

    monkeypatch.setattr(driver._Links, "deliver_event", deliver_event)


def makes_a_template_up(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a template some example of one is used."""
    monkeypatch.setattr(events, "_template", lambda ctx, words: (events.TEMPLATE_EXAMPLE, "default"))


def takes_any_template(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates are not looked at when they are given."""
    monkeypatch.setattr(lifecycle, "check_template", lambda template, origin: template)


def takes_any_name(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is fine when it begins like one."""
    monkeypatch.setattr(events, "EVENT_NAME", re.compile(r"[A-Za-z0-9_.:-]{1,64}(?s:.*)"))


def sends_any_length(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Payloads have no limit."""
    monkeypatch.setattr(events, "PAYLOAD_MOST", 1_000_000)
    monkeypatch.setattr(events, "URL_MOST", 1_000_000)


def opens_any_address(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses are handed on as they are."""
    monkeypatch.setattr(lifecycle, "check_url", lambda url: url)


MUTANTS: dict[str, Mutant] = {
    "events.a-deep-link-arrives": cuts_links_at_the_ampersand,
    "events.an-event-arrives-once-with-its-payload": delivers_twice,
    "events.acknowledged-only-where-the-app-said-so": acknowledges_for_the_app,
    "events.without-a-template-it-says-how": makes_a_template_up,
    "events.an-unusable-template-is-refused": takes_any_template,
    "events.bad-names-are-refused-before-anything-is-sent": takes_any_name,
    "events.overlong-payloads-are-refused-before-anything-is-sent": sends_any_length,
    "events.scripts-and-files-are-never-opened": opens_any_address,
}
