"""Physical devices through `devicectl`: listing, installing, starting and ending apps. It has no tree and no touch."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotReady,
    DeviceOffline,
    DeviceUnauthorized,
    ToolMissing,
    UpstreamUnavailable,
)

from .reading.coredevice import Failed, NoAnswer, PhysicalDevice, devices, result
from .reading.failures import failure
from .xcrun import INSTALL, Xcrun

TIMEOUT = 5
"""Seconds that devicectl itself gives the devices."""
MORE = 10.0
"""Seconds it may take besides."""
ANSWER_MOST = 16 << 20


async def listing(xcrun: Xcrun) -> list[PhysicalDevice]:
    """The devices it knows.

    Raises:
        ToolMissing: This Xcode has no devicectl.
        CallTimeout, UpstreamUnavailable: They cannot be listed.
    """
    text = await _run(xcrun, "list", "devices", timeout=TIMEOUT)
    try:
        return devices(text)
    except Failed as error:
        raise typed(error, "devicectl list devices") from None
    except NoAnswer:
        raise _unread("devicectl list devices") from None


class Devicectl:
    """The verbs of one physical device, by devicectl's own id of it."""

    def __init__(self, xcrun: Xcrun, identifier: str) -> None:
        self._xcrun, self.identifier = xcrun, identifier

    async def do(self, *words: str, deadline: float = 30.0, after: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """Runs `devicectl device WORDS --device ID AFTER` and returns its result.

        Raises:
            AnydeviceError: As `typed`.
        """
        what = " ".join(("devicectl device", *words[:2]))
        text = await _run(
            self._xcrun, "device", *words, "--device", self.identifier, *after, timeout=max(1, round(deadline))
        )
        try:
            return result(text)
        except Failed as error:
            raise typed(error, what) from None
        except NoAnswer:
            raise _unread(what) from None


async def _run(xcrun: Xcrun, *words: str, timeout: int) -> str:
    """Runs it and returns what it wrote into its file; what it prints is for people.

    Raises:
        ToolMissing, CallTimeout, UpstreamUnavailable: It wrote none.
    """
    with tempfile.TemporaryDirectory(prefix="anydevice-devicectl-") as folder:
        path = Path(folder) / "answer.json"
        # Options before what is passed on to an app.
        first, rest = words[:3], words[3:]
        done = await xcrun.run(
            "devicectl", *first, "--timeout", str(timeout), "--json-output", str(path), *rest, deadline=timeout + MORE
        )
        try:
            data = await anyio.to_thread.run_sync(_read, path)
        except FileNotFoundError:
            if failure(done.complaint).kind == "no_tool":
                raise ToolMissing(
                    "This Xcode has no devicectl.", tools=["devicectl"], install=INSTALL, said=done.complaint[:500]
                ) from None
            raise _unread("devicectl", done.complaint) from None
    return data


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(ANSWER_MOST).decode("utf-8", "replace")


def _unread(what: str, said: str = "") -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "devicectl gave no answer that can be read.",
        upstream=what,
        enable_hint="Run xcrun devicectl list devices in a terminal and see what it says.",
        said=said[:2000],
    )


def typed(error: Failed, what: str) -> AnydeviceError:
    """What devicectl tells as an error of ours."""
    said = error.said[:10]
    if error.has("FBSOpenApplicationErrorDomain", 7):
        return DeviceNotReady(
            "The device is locked.",
            hint="Unlock the device, then repeat the call.",
            state="locked",
            fix="Unlock the device.",
            said=said,
        )
    if error.has("Network.NWError", 60) or error.has("ControlChannelConnectionError", 1):
        return DeviceOffline(
            "The device does not answer.",
            state="offline",
            fix="Connect it by cable, unlock it, then call devices.",
            said=said,
        )
    if any("trust" in text.lower() and "pair" in text.lower() for text in said):
        return DeviceUnauthorized(
            "The device does not trust this Mac.", state="unauthorized", fix="Unlock it and say yes.", said=said
        )
    return UpstreamUnavailable(
        "devicectl failed.",
        upstream=what,
        enable_hint="See details.said, which are its own words.",
        said=said,
        errors=[{"domain": domain, "code": code} for domain, code in error.chain],
    )
