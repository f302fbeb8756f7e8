"""The same backend on trio: launch, read, act, dialog, crash, shutdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice.kit.pids import group_alive
from anydevice_schemas.errors import AppCrashed, DialogOpen

from .loops import run_on
from .site import Site
from .web import Web, connect, key_of, one, running_backend

pytestmark = pytest.mark.chromium


def test_a_browser_is_driven_on_trio_from_boot_to_shutdown(shared_site: Site, tmp_path: Path) -> None:
    run_on("trio", drive, shared_site, tmp_path)


async def drive(shared_site: Site, tmp_path: Path) -> None:
    async with running_backend(tmp_path) as backend:
        driver = await connect(backend)
        await driver.power.boot(headless=True, deadline=30)
        web = Web(backend, driver, shared_site)
        far = shared_site.other(shared_site.page("<button onclick=\"tell('far')\">far</button>"))
        tree = await web.show(f"<input id=t><button onclick='alert(1)'>ask</button><iframe src='{far}'></iframe>")
        shared_site.told.clear()
        assert (await driver.elements.set_text(key_of(one(tree, id="t")), "trio")).verified is True
        await web.click(one(tree, "far"))
        assert shared_site.kinds() == ["far"]
        assert [h.kind for h in (await web.click(one(tree, "ask"))).happenings] == ["dialog"]
        with pytest.raises(DialogOpen):
            await web.tree()
        await driver.alerts.accept()
        assert (await driver.screen.image()).width == 1280
        await web.crash()
        with pytest.raises(AppCrashed):
            await web.tree()
        await web.show("<p>back</p>")
        running = driver.instance.running
        assert running is not None
        assert running.child is not None
        await driver.power.shutdown(deadline=10)
        assert not group_alive(running.child.pid)
