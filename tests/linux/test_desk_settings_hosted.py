"""Settings of a desktop that somebody else started: through its own portal and gsettings, or refused with reasons."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from anydevice.driver import Environment, HostServices
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.preferences import Hosted
from anydevice_linux.seats import Seat as OurSeat
from anydevice_schemas.errors import UpstreamUnavailable

from .desktop import PATIENCE, Seat, end, missing, running_desktop

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(missing() is not None, reason=missing() or "")]
PORTALS = [Path("/usr/libexec") / name for name in ("xdg-desktop-portal-gtk", "xdg-desktop-portal")]
DCONF = Path("/usr/share/dbus-1/services/ca.desrt.dconf.service")
KEPT = ("PATH", "HOME", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Seat]:
    """A desktop where nobody tells programs how to look, but settings are kept."""
    services = tmp_path / "services"
    services.mkdir()
    if DCONF.exists():
        shutil.copy(DCONF, services)
    with running_desktop(tmp_path, (400, 300)) as seat:
        yield seat


def seat_of(seat: Seat) -> OurSeat:
    env = {name: seat.env[name] for name in KEPT}
    return OurSeat("hosted", seat.display, None, seat.bus, env, str(seat.folder), mark=seat.bus)


async def test_a_desktop_without_a_portal_has_no_settings_and_says_what_to_do(bare: Seat, tmp_path: Path) -> None:
    names = {"DISPLAY": bare.display, "DBUS_SESSION_BUS_ADDRESS": bare.bus}
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    rows = await backend.devices(Environment(None, names))
    row = next(row for row in rows if row.kind == "host")
    driver = await backend.connect(row, Environment(None, names))
    assert "portal" in driver.unavailable()["settings"]
    assert not driver.has("settings.appearance") and not driver.has("settings.read")
    await driver.clean()
    await driver.aclose()
    await backend.aclose()


async def test_a_session_bus_that_is_gone_is_told(bare: Seat) -> None:
    seat = seat_of(bare)
    gone = OurSeat(seat.id, seat.display, None, "unix:path=/nonexistent/bus", seat.env, seat.cwd)
    hosted = Hosted(gone)
    await hosted.look()
    assert set(hosted.missing) == {"appearance", "animations", "text_size"}
    with pytest.raises(UpstreamUnavailable):
        await hosted.read("appearance")


@pytest.mark.skipif(
    not all(path.exists() for path in PORTALS) or not DCONF.exists() or shutil.which("gsettings") is None,
    reason="not installed: xdg-desktop-portal-gtk, dconf-service, gsettings",
)
async def test_settings_go_through_the_desktops_own_portal_and_are_put_back(bare: Seat, tmp_path: Path) -> None:
    folder = tmp_path / "portals"
    folder.mkdir()
    (folder / "gtk.portal").write_text(
        "[portal]\nDBusName=org.freedesktop.impl.portal.desktop.gtk\n"
        "Interfaces=org.freedesktop.impl.portal.Settings;\nUseIn=gnome\n"
    )
    env = {name: value for name, value in bare.env.items() if name != "GSETTINGS_BACKEND"}
    env |= {"XDG_DESKTOP_PORTAL_DIR": str(folder), "XDG_CURRENT_DESKTOP": "gnome"}
    hosted = Hosted(seat_of(bare))
    started = []
    try:
        for path in PORTALS:
            started.append(
                subprocess.Popen(
                    [path], env=env, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
            )
            await anyio.sleep(0.5)
        with anyio.fail_after(PATIENCE):
            await hosted.look()
            while hosted.missing:
                await anyio.sleep(0.2)
                await hosted.look()
        for area, value, before in (
            ("appearance", "dark", "light"),
            ("animations", "off", "on"),
            ("text_size", "1.5", "1"),
        ):
            assert (await hosted.read(area))[0] == before
            await hosted.set(area, value)
            await reads(hosted, area, value)
        await hosted.restore()
        for area, before in (("appearance", "light"), ("animations", "on"), ("text_size", "1")):
            await reads(hosted, area, before)
        assert hosted.before == {}
        assert "dconf" in os.listdir(bare.folder / "config"), "it was kept somewhere else"
    finally:
        for process in reversed(started):
            end(process)


async def reads(hosted: Hosted, area: str, value: str) -> None:
    """Waits until the portal tells a value."""
    with anyio.move_on_after(PATIENCE):
        while (await hosted.read(area))[0] != value:
            await anyio.sleep(0.05)
    assert (await hosted.read(area))[0] == value
