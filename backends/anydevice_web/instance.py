"""One device of this backend: a browser that may run or not, or an endpoint, and what connects us to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio

from anydevice.kit import background, processes
from anydevice_schemas import DeviceRef
from anydevice_schemas.errors import BackendBroken, CallTimeout, ConnectionLost, DeviceNotReady, Unsupported

from . import endpoint
from .browser import Browser
from .cdp import Connection, Gone, ProtocolError
from .folders import make_folder, remove_folder
from .launch import ID_SWITCH, Launch, start_browser
from .page import Page
from .profiles import lock_owner

PLATFORM = "web"
BACKEND = "web"
STOP_GRACE = 2.0


@dataclass(slots=True, frozen=True)
class Plan:
    """What a device of ours is, independent of whether it runs.

    Attributes:
        id: Its id, e.g. `chromium`, `chromium:work`, `endpoint:ci`.
        name: For people.
        executable: Browser to start; None for endpoints.
        profile: Folder of a named profile; None = a fresh one each time.
        url: Address of an endpoint.
        headless: What `boot` does when it is not told.
        extra: More arguments for the browser.
    """

    id: str
    name: str
    executable: str | None = None
    profile: Path | None = None
    url: str | None = None
    headless: bool = True
    extra: Sequence[str] = ()


@dataclass(slots=True)
class Running:
    """A live connection, and what has to be cleaned up after it."""

    browser: Browser
    identity: DeviceRef
    headless: bool | None = None
    child: processes.Child | None = None
    folder: Path | None = None
    socket: str = ""
    cleaned: bool = False


@dataclass(slots=True)
class Instance:
    """A device, shared by the backend (which lists it) and its driver.

    Attributes:
        admit: Raises when one browser more may not run.
    """

    plan: Plan
    run_dir: str
    admit: Callable[[], None] = lambda: None
    running: Running | None = None
    losses: list[dict[str, Any]] = field(default_factory=list)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    last_socket: str = ""
    booting: bool = False
    _ending: bool = False

    # --- asking --------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether its browser runs and is connected."""
        return self.running is not None and not self.running.browser.connection.ended.is_set()

    def browser(self) -> Browser:
        """The connected browser.

        Raises:
            ConnectionLost: It ended by itself; told once.
            DeviceNotReady: It does not run.
        """
        if self.running is None:
            raise DeviceNotReady(
                "The browser is not running.", state="shutdown", fix=f"Call boot with device={self.plan.id}."
            )
        self.running.browser.guard()
        return self.running.browser

    async def page(self) -> Page:
        """The current page, attached. Raises as `Browser.page`."""
        return await self.browser().page()

    def identity(self) -> DeviceRef:
        """Who the connected browser says it is; where nothing is connected, who it was set up to be."""
        if self.running is not None:
            return self.running.identity
        return self._ref(self.plan.id)

    def take_losses(self) -> Sequence[Mapping[str, Any]]:
        """What was lost since the last time; handed out once."""
        taken, self.losses = self.losses, []
        return taken

    # --- a browser of ours ---------------------------------------------------------------------------

    async def boot(self, *, headless: bool | None, deadline: float) -> bool:
        """Starts the browser; False when it was running already.

        Raises:
            Unsupported: It is an endpoint, which somebody else starts.
            DeviceNotReady: Its profile is in use, or it ended while starting.
            ToolMissing, CallTimeout: As `start_browser`.
        """
        if self.plan.executable is None:
            raise Unsupported(
                "An endpoint is started by whoever owns it.", operation="power.boot", alternatives=["devices"]
            )
        async with self.lock:
            if self.alive:
                return False
            await self._clean()
            self.admit()
            await self._refuse_used_profile()
            hidden = self.plan.headless if headless is None else headless
            folder = await make_folder(self.run_dir)
            self.booting = True
            try:
                launch = Launch(
                    self.plan.executable,
                    self.plan.profile or folder / "profile",
                    folder / "downloads",
                    self.plan.id,
                    hidden,
                    self.plan.extra,
                )
                browser, child = await start_browser(launch, deadline=deadline)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await remove_folder(folder)
                raise
            finally:
                self.booting = False
            running = Running(browser, self._ref(self.plan.id), hidden, child, folder)
            self.running = running
            self._ending = False
            browser.connection.on_end(lambda: self._on_end(running))
            running.identity = await self._say_who(browser, launch)
            return True

    async def _refuse_used_profile(self) -> None:
        profile = self.plan.profile
        if profile is None:
            return
        await anyio.Path(profile).mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = await anyio.to_thread.run_sync(lock_owner, profile)
        if owner is not None:
            where = "on this host" if owner.here else "on another host"
            raise DeviceNotReady(
                f"The profile is in use by another browser {where} (process {owner.pid}).",
                state="offline",
                fix="Close that browser, or use another profile.",
                reason="profile locked",
                pid=owner.pid,
                host=owner.host,
            )

    async def _say_who(self, browser: Browser, launch: Launch) -> DeviceRef:
        """Reads the device's id and profile back from the browser's own command line."""
        arguments: list[str] = (await browser.call("Browser.getBrowserCommandLine"))["arguments"]
        told = [text.removeprefix(ID_SWITCH) for text in arguments if text.startswith(ID_SWITCH)]
        if told != [launch.device] or f"--user-data-dir={launch.profile}" not in arguments:
            raise BackendBroken(
                "The browser that answers is not the one that was started.", backend=BACKEND, reason="identity"
            )
        return self._ref(told[0])

    async def shutdown(self, *, deadline: float) -> dict[str, Any]:
        """Ends the browser and sees every process of it gone; lets go of an endpoint's browser.

        Raises:
            Unsupported: It is an endpoint.
        """
        if self.plan.executable is None:
            raise Unsupported(
                "An endpoint is stopped by whoever owns it.", operation="power.shutdown", alternatives=["close"]
            )
        async with self.lock:
            self._ending = True
            running = self.running
            if running is None:
                return {"running": False}
            if self.alive:
                with contextlib.suppress(Gone, ProtocolError, CallTimeout):
                    # Asked to, it writes its profile out first.
                    await running.browser.connection.root.call("Browser.close", deadline=min(2.0, deadline), free=True)
                with anyio.move_on_after(min(3.0, deadline / 2)):
                    await running.browser.connection.ended.wait()
            await self._clean()
            self.running = None
            return {"running": False, "exit": running.child.code if running.child is not None else None}

    async def _clean(self) -> None:
        """Ends what is left of a browser and deletes its folder. May be called more than once."""
        running = self.running
        if running is None or running.cleaned:
            return
        running.cleaned = True
        with anyio.CancelScope(shield=True):
            await running.browser.aclose()
            if running.child is not None:
                await processes.stop(running.child, grace=STOP_GRACE)
            if running.folder is not None:
                await remove_folder(running.folder)

    # --- handing over --------------------------------------------------------------------------------

    async def hand_over(self) -> dict[str, Any] | None:
        """What `take_up` goes on from, in the daemon's next version; None when nothing runs."""
        async with self.lock:
            running = self.running
            if self.plan.url is not None:
                return {"id": self.plan.id, "attached": self.alive, "last_socket": self.last_socket}
            if running is None or not self.alive or running.child is None:
                return None
            self._ending = True
            return {
                "id": self.plan.id,
                "name": self.plan.name,
                "executable": self.plan.executable,
                "profile": str(self.plan.profile) if self.plan.profile is not None else None,
                "headless": running.headless,
                "folder": str(running.folder),
                "child": processes.hand_over(running.child),
                "browser": await running.browser.hand_over(),
            }

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """Goes on with what runs, without having started it.

        Raises:
            ConnectionLost, CallTimeout, BackendBroken, MachineUnreachable: It does not go on; it was ended.
        """
        if self.plan.url is not None:
            self.last_socket = state["last_socket"]
            if state["attached"]:
                await self.attach()
            return
        async with self.lock:
            browser = Browser.taken_up(state["browser"])
            try:
                if self.running is not None and self.running.child is not None:
                    processes.take_back(state["child"])  # the daemon was not replaced after all
                    child = self.running.child
                else:
                    child = processes.adopt(state["child"])
            except ChildProcessError as error:
                await browser.aclose()
                await remove_folder(Path(state["folder"]))
                raise ConnectionLost("The browser ended while the daemon was replaced.", restarted=False) from error
            folder = Path(state["folder"])
            running = Running(browser, self._ref(self.plan.id), state["headless"], child, folder)
            self.running = running
            self._ending = False
            browser.connection.on_end(lambda: self._on_end(running))
            profile = self.plan.profile or folder / "profile"
            launch = Launch(
                str(self.plan.executable), profile, folder / "downloads", self.plan.id, bool(running.headless)
            )
            try:
                running.identity = await self._say_who(browser, launch)
            except BaseException:
                await self._clean()
                raise

    # --- somebody else's browser ---------------------------------------------------------------------

    async def attach(self) -> None:
        """Connects to an endpoint, unless it is connected.

        Raises:
            MachineUnreachable: It is silent.
            Unsupported, ToolMissing: As `endpoint.connect`.
        """
        if self.plan.url is None:
            return
        async with self.lock:
            if self.alive:
                return
            await self._clean()
            found = await endpoint.probe(self.plan.url, deadline=endpoint.CONNECT_DEADLINE)
            transport = await endpoint.connect(found.socket)
            connection = Connection(transport)
            try:
                browser = await Browser.start(connection, deadline=endpoint.CONNECT_DEADLINE)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await connection.aclose()
                raise
            # The socket's path names the browser's process; behind the same address there may be a new one.
            path = urlsplit(found.socket).path
            if self.last_socket and self.last_socket != path:
                self.losses.append(
                    {
                        "kind": "browser_replaced",
                        "message": "Another browser answers at this endpoint than before; its pages are new.",
                        "restarted": True,
                    }
                )
            self.last_socket = path
            running = Running(browser, self._ref(self.plan.id), socket=found.socket)
            self._ending = False
            self.running = running
            connection.on_end(lambda: self._on_end(running))

    async def release(self) -> None:
        """Lets go of an endpoint's browser; a browser of ours keeps running until it is shut down."""
        if self.plan.url is not None:
            async with self.lock:
                self._ending = True
                await self._clean()
                self.running = None

    async def aclose(self) -> None:
        """Ends everything."""
        if self.plan.executable is not None:
            await self.shutdown(deadline=5.0)
        else:
            await self.release()

    # --- inside --------------------------------------------------------------------------------------

    def _ref(self, device_id: str) -> DeviceRef:
        return DeviceRef(id=device_id, name=self.plan.name, platform=PLATFORM, key=f"{BACKEND}:{device_id}")

    def _on_end(self, running: Running) -> None:
        if self._ending or running is not self.running:
            return
        self.losses.append(
            {
                "kind": "browser_ended" if running.child is not None else "connection_lost",
                "message": "The browser ended by itself; its pages and their state are lost."
                if running.child is not None
                else "The connection to the browser was lost.",
                "restarted": False,
            }
        )
        background.start(self._clean_lost, running, name="cleaning up after a browser")

    async def _clean_lost(self, running: Running) -> None:
        async with self.lock:
            if running is self.running:
                await self._clean()
