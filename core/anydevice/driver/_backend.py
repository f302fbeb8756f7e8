"""Drivers and backends: one live connection to a device, and who lists devices and connects to them."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import Unsupported

from ._base import Capability
from ._table import CAPABILITIES

C = TypeVar("C", bound=Capability)


class Driver(abc.ABC):
    """One live connection to one device.

    A subclass sets its capabilities as attributes named after them. It may be created for a device that is not
    ready; then only `power` has to work.
    """

    device: Device

    @abc.abstractmethod
    async def identify(self) -> DeviceRef:
        """Who this really is, as the device itself says (not a copy of what was asked for).

        Called after every command; answer from what the connection established, and re-read it whenever the
        connection was made anew.
        """

    def unavailable(self) -> Mapping[str, str]:
        """Declared operations (or whole capabilities) that do not work right now, with the reason and the fix."""
        return {}

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """What was lost since the last call (a browser that died, a connection made anew); handed out once."""
        return ()

    async def clean(self) -> None:
        """Puts the device in order after a holder: ends recordings, takes port forwards, orientation, keyboards back.

        Called on the device's lane when somebody gave it back, or before the first command of the next holder, and
        given 10 s. Raise whatever is wrong: the device is then suspect and not given out. Core calls it only where a
        driver has its own; one that leaves nothing behind needs none.
        """
        return None

    @abc.abstractmethod
    async def aclose(self) -> None:
        """Lets go of the device. Leaves no process and no change behind that the driver itself made."""

    def capability(self, kind: type[C]) -> C:
        """The driver's capability of this kind.

        Raises:
            Unsupported: The driver has none.
        """
        found = getattr(self, kind.name, None)
        if found is None:
            raise Unsupported(f"This device has no capability {kind.name}.", operation=kind.name, alternatives=[])
        return found  # type: ignore[no-any-return]

    def has(self, operation: str) -> bool:
        """Whether the driver offers an operation by itself (implemented, and not unavailable right now)."""
        capability, _, method = operation.partition(".")
        found = getattr(self, capability, None)
        if found is None or not callable(getattr(found, method, None)):
            return False
        home = next((kind for kind in type(found).__mro__ if method in kind.__dict__), None)
        if home in CAPABILITIES and method not in getattr(found, "__dict__", ()):
            return False  # the body that only refuses
        out = self.unavailable()
        return operation not in out and capability not in out


@dataclass(slots=True, frozen=True)
class Environment:
    """What a caller lets a backend see: its working directory and allow-listed variables. Never the daemon's own."""

    cwd: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Check:
    """One finding of a backend about its surroundings, for `doctor`.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be.
        detail: What was found.
        fix: What to do where it is not ok.
        optional: Nothing is wrong where it is not ok: something is not installed that not everybody needs.
    """

    name: str
    ok: bool
    detail: str = ""
    fix: str = ""
    optional: bool = False


@dataclass(slots=True, frozen=True)
class HostServices:
    """What core lends a backend.

    Attributes:
        data_dir: Folder for what must survive a restart (profiles, settings). The backend's own.
        run_dir: Folder for what must not. The backend's own.
        settings: The backend's table of the configuration file.
    """

    data_dir: str
    run_dir: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class Backend(abc.ABC):
    """A backend: found by entry point, constructed once with `HostServices`, on first use."""

    def __init__(self, host: HostServices) -> None:
        self.host = host

    @abc.abstractmethod
    async def devices(self, env: Environment) -> Sequence[Device]:
        """Every device this backend knows of, usable or not, each with state, reason and fix.

        Tolerant per device: one sick device is a row in a sick state, never an exception.
        """

    @abc.abstractmethod
    async def connect(self, device: Device, env: Environment) -> Driver:
        """A driver for one row of `devices()`. Must be quick for rows that are not ready."""

    async def check(self, env: Environment) -> Sequence[Check]:
        """What `doctor` should know: tools found or missing, permissions, versions."""
        return ()

    async def hand_over(self) -> Mapping[str, Any] | None:
        """What a newer version of this backend, in this very process, needs to go on with the devices that run.

        Called when the daemon is about to be replaced, with nothing running on any device. What is returned is held
        to JSON; descriptors in it must be inheritable. From then on the backend leaves its devices alone, until
        `aclose`, or until it is given the same state back because the daemon was not replaced after all.

        Returns:
            The state; None when there is nothing to hand over: the backend is closed then.
        """
        return None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """Goes on with the devices of a state that `hand_over` made. What cannot be taken up is ended, and logged."""
        return None

    async def aclose(self) -> None:
        """Ends everything the backend started."""
        return None
