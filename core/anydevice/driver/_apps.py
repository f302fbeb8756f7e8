"""Apps, links into them, and the power of the device itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Capability, undeclared
from ._data import Acted, App, AppEvent, OpenRequest


class Apps(Capability):
    """Apps (on the web: tabs and pages)."""

    name = "apps"

    async def list(self) -> Sequence[App]:
        """Installed and running apps."""
        raise undeclared("apps", "list")

    async def open(self, request: OpenRequest) -> Acted:
        """Opens an app or a URL and waits until it is up; says where it really ended up in `Acted.data`."""
        raise undeclared("apps", "open")

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """Closes an app (None = the session's) and sees it gone."""
        raise undeclared("apps", "close")

    async def state(self) -> Mapping[str, Any]:
        """What is in the foreground: app, title, location; untrusted text."""
        raise undeclared("apps", "state")

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs a package from a file (or folder) of the host, or updates the app it holds.

        `Acted.data["app"]` is the id of the app, where the package or the device tells it.

        Raises:
            InvalidArgument: It is no package for this device.
        """
        raise undeclared("apps", "install")

    async def uninstall(self, app: str) -> Acted:
        """Removes an app, by its id, and its data.

        Raises:
            AppNotFound: It is not installed.
        """
        raise undeclared("apps", "uninstall")

    async def container(self, app: str, kind: str) -> str:
        """The folder of this host in which an app of a simulated device is: `app`, `data`, or `groups`, one a line.

        Raises:
            AppNotFound: It is not installed.
            Unsupported: It has no such folder.
        """
        raise undeclared("apps", "container")


class Links(Capability):
    """Deep links and app events."""

    name = "links"

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """Hands a URL to the system or to one app."""
        raise undeclared("links", "open_url")

    async def deliver_event(self, event: AppEvent) -> Acted:
        """Delivers an app event. `Acted.data["acknowledged"]` only where the app itself said so."""
        raise undeclared("links", "deliver_event")


class Power(Capability):
    """Starting and stopping the device itself. These work on devices that are not ready."""

    name = "power"

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """Starts the device and returns once it can be driven."""
        raise undeclared("power", "boot")

    async def shutdown(self, *, deadline: float) -> Acted:
        """Stops the device and returns once it is down, with every process of it gone."""
        raise undeclared("power", "shutdown")

    async def erase(self, *, deadline: float) -> Acted:
        """Deletes everything on a device that is shut down."""
        raise undeclared("power", "erase")
