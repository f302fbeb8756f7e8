"""The driver of one browser: its capabilities over one instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anydevice.driver import Driver
from anydevice_schemas import Device, DeviceRef

from .alerts import WebAlerts
from .apps import WebApps
from .elements import WebElements
from .instance import Instance
from .keys import WebKeys
from .links import WebLinks
from .navigation import WebNavigation
from .pointer import WebPointer
from .power import WebPower
from .screen import WebScreen
from .tabs import Tabs
from .touch import WebTouch


class WebDriver(Driver):
    """Drives one browser. The browser itself belongs to the backend and outlives this driver."""

    def __init__(self, device: Device, instance: Instance) -> None:
        self.device = device
        self.instance = instance
        self.screen = WebScreen(instance)
        self.elements = WebElements(instance)
        self.pointer = WebPointer(instance)
        self.touch = WebTouch(instance)
        self.keys = WebKeys(instance)
        self.apps = WebApps(instance)
        self.links = WebLinks(instance)
        self.navigation = WebNavigation(instance)
        self.alerts = WebAlerts(instance)
        self.tabs = Tabs(instance, self.apps)
        self.power = WebPower(instance)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: the id the browser told when it was connected, from its own command line."""
        return self.instance.identity()

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        if self.instance.plan.url is not None:
            return {"power": "an endpoint is started and stopped by whoever owns it"}
        return {}

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """See `Driver.losses`."""
        return self.instance.take_losses()

    async def aclose(self) -> None:
        """See `Driver.aclose`: an endpoint is let go of; a browser we booted runs until it is shut down."""
        await self.instance.release()
