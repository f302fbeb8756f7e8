"""Commands on a page that works against them: what is said of a press, a toggle, a text is true."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.testing import caller, fake_router
from anydevice_schemas import Answer, Call, Manifest

from .site import Site
from .web import running_backend

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


class Driven:
    """Commands on one browser, as any caller gives them."""

    def __init__(self, router: Any, site: Site) -> None:
        self.router, self.site = router, site

    async def __call__(self, command: str, /, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(Call(name=command, arguments=arguments, caller=caller()))
        return answer

    async def show(self, html: str) -> None:
        """Opens a page made of this."""
        self.site.told.clear()
        assert (await self("open", device="chromium", url=self.site.page(html))).ok

    async def refused(self, command: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Code and details of the refusal."""
        error = (await self(command, **arguments)).error
        assert error is not None
        return error.code, dict(error.details)


@pytest.fixture(scope="module")
async def browser(
    anyio_backend: str, shared_site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Driven]:
    folder: Path = tmp_path_factory.mktemp("web")
    async with running_backend(folder) as backend:
        told = Manifest.from_toml((files("anydevice_web") / "backend.toml").read_text(encoding="utf-8"))
        backend.manifest = told  # type: ignore[attr-defined]
        async with fake_router(backend) as (router, _):  # type: ignore[arg-type]
            driven = Driven(router, shared_site)
            assert (await driven("boot", device="chromium")).ok
            yield driven


async def test_of_two_buttons_that_change_places_only_the_one_meant_is_ever_pressed(browser: Driven) -> None:
    await browser.show(
        "<style>.b{position:absolute;top:0;width:80px;height:30px}</style>"
        "<button id=a class=b onclick=\"tell('safe')\">Safe</button>"
        "<button id=b class=b onclick=\"tell('danger')\">Danger</button><script>let t = 0;"
        "setInterval(() => { t ^= 1; a.style.left = t ? '0' : '100px'; b.style.left = t ? '100px' : '0' }, 23)</script>"
    )
    said = [await browser("press", target="label=Safe role=button") for _ in range(20)]
    assert {answer.error.code for answer in said if answer.error is not None} <= {"element_covered"}
    pressed = sum(answer.ok for answer in said)
    with anyio.move_on_after(20.0):  # what the page tells of the last press may still be on its way
        while browser.site.kinds().count("safe") < pressed:
            await anyio.sleep(0.02)
    assert pressed == browser.site.kinds().count("safe") > 0
    assert "danger" not in browser.site.kinds()


async def test_a_press_that_was_kept_back_names_the_element_and_what_was_there_by_ref(browser: Driven) -> None:
    await browser.show(
        "<style>button{position:absolute;top:0;width:80px;height:30px}</style><button id=a style='left:0'>Safe</button>"
        "<button id=b style='left:200px' onclick=\"tell('danger')\">Danger</button>"
        "<script>addEventListener('mousemove', () => { [a.style.left, b.style.left] = [b.style.left, a.style.left] })"
        "</script>"
    )
    code, details = await browser.refused("press", target="label=Safe role=button")
    assert (code, details["element"]["name"], details["kept"]) == ("element_covered", "Safe", True)
    assert "cover_key" not in details
    assert browser.site.kinds() == []


@pytest.mark.parametrize(("handler", "kept"), [("", True), ("setTimeout(() => this.checked = false, 60)", False)])
async def test_a_toggle_counts_only_if_the_page_lets_it_be(browser: Driven, handler: str, kept: bool) -> None:
    await browser.show(f'<input type=checkbox aria-label=Agree onchange="{handler}">')
    assert (await browser("press", target="Agree")).verified is kept


async def test_a_toggle_behind_its_label_that_changed_is_a_change(browser: Driven) -> None:
    await browser.show(
        "<input id=c type=checkbox style='position:absolute;opacity:0;width:0;height:0'><label for=c>Agree</label>"
    )
    answer = await browser("press", target="label=Agree role=checkbox")
    assert (answer.verified, answer.data["changed"]) == (True, True)


@pytest.mark.parametrize("command", ["type", "fill"])
async def test_a_field_that_gives_the_focus_away_is_not_written_for(browser: Driven, command: str) -> None:
    await browser.show("<input aria-label=A onfocus='b.focus()'><input id=b aria-label=B oninput=\"tell('b')\">")
    code, _ = await browser.refused(command, target="A", text="secret")
    assert code == "focus_unavailable"
    assert browser.site.kinds() == []


async def test_a_field_that_leaves_with_the_page_is_told_as_done(browser: Driven) -> None:
    await browser.show(f"<input aria-label=N oninput=\"location = '{browser.site.page('next')}'\">")
    answer = await browser("fill", target="N", text="x")
    assert (answer.ok, answer.verified) == (True, False)
    assert [event["kind"] for event in answer.data["happened"]] == ["navigated"]


async def test_what_takes_no_text_is_named_by_ref(browser: Driven) -> None:
    await browser.show("<div role=combobox tabindex=0 aria-label=Colour>Red</div>")
    code, details = await browser.refused("fill", target="Colour", text="Blue")
    assert (code, details["element"]["name"]) == ("invalid_argument", "Colour")


async def test_a_ref_of_a_row_that_shows_another_one_is_stale(browser: Driven) -> None:
    await browser.show(
        "<ul><li><b id=n>Alice</b> <button onclick=\"tell('deleted', n.textContent)\">Delete</button></li></ul>"
        "<button onclick=\"n.textContent = 'Bob'\">Scroll</button>"
    )
    found = await browser("find", query="Delete")
    ref = found.data["matches"][0]["ref"]
    assert (await browser("press", target="Scroll")).ok
    code, details = await browser.refused("press", target=ref)
    assert code == "stale_ref"
    assert [near["name"] for near in details["nearest_matches"]][:1] == ["Delete"]
    assert browser.site.kinds() == []
    assert (await browser("press", target=details["nearest_matches"][0]["ref"])).ok
    assert browser.site.kinds() == ["deleted"]
