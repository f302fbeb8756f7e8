"""What a driver offers is what it implements, not what its base classes refuse."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from anydevice.driver import Acted, Driver, Elements
from anydevice.testing import ReferenceBackend, call, fake_router
from anydevice_schemas import DeviceRef

pytestmark = pytest.mark.anyio


class Plain(Elements):
    async def activate(self, key: str) -> Acted:
        return Acted("accessibility")


class PlainDriver(Driver):
    def __init__(self, down: Mapping[str, str] | None = None) -> None:
        self.elements = Plain()
        self.down = down or {}

    async def identify(self) -> DeviceRef:
        raise NotImplementedError

    def unavailable(self) -> Mapping[str, str]:
        return self.down

    async def aclose(self) -> None:
        return None


def test_a_body_that_only_refuses_is_not_offered() -> None:
    driver = PlainDriver()
    assert driver.has("elements.activate")
    assert not driver.has("elements.probe")
    assert not driver.has("touch.tap")
    assert not PlainDriver({"elements": "out of order"}).has("elements.activate")


async def test_a_device_that_can_only_read_and_activate_is_pressed() -> None:
    backend = ReferenceBackend(classes=("tablet",))
    few = ("screen.tree", "elements.activate", "apps.open", "apps.state", "keys.press")
    operations = {name: limits for name, limits in backend.manifest.operations.items() if name in few}
    backend.manifest = backend.manifest.model_copy(update={"operations": operations})
    async with fake_router(backend) as (router, _):
        opened = await router.call(call("open", app="practice", device="tablet-1"))
        assert opened.ok, opened.error
        pressed = await router.call(call("press", target="Increment", device="tablet-1"))
        assert pressed.ok, pressed.error
        assert backend.practice("tablet-1").text("Count") == "1"
        refused = await router.call(call("press", target="Incremint", timeoutMs=0, device="tablet-1"))
        assert refused.error is not None and refused.error.code == "element_not_found"
