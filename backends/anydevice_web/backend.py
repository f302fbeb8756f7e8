"""The web backend: browsers of this host, named profiles, and endpoints, each a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Backend, Check, Environment, HostServices
from anydevice.kit import processes
from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, DeviceNotFound, HostAtCapacity, MachineUnreachable

from . import endpoint
from .cdp import Gone, ProtocolError
from .driver import WebDriver
from .folders import sweep
from .installed import INSTALL, find_installed
from .instance import BACKEND, PLATFORM, Instance, Plan
from .profiles import Endpoint, Profile, Profiles, lock_owner

log = structlog.get_logger("anydevice.web")


class WebBackend(Backend):
    """Finds and drives browsers.

    Settings (the backend's table of the configuration file): `executable` (path, or table of paths by browser),
    `extra_args` (list), `headless` (default true), `profiles` (table: name = browser), `endpoints` (table:
    name = address), `max_browsers` (how many may run at once).
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self.profiles = Profiles(host.data_dir)
        self._instances: dict[str, Instance] = {}
        self._swept = False
        self._sweeping = anyio.Lock()

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`. A silent endpoint is a row that is offline; it delays the listing by a second."""
        await self._sweep_once()
        plans = await anyio.to_thread.run_sync(self._plans)
        rows: dict[str, Device] = {}
        for plan in plans:
            self._instance(plan)

        async def row(plan: Plan) -> None:
            rows[plan.id] = await self._row(self._instances[plan.id])

        async with anyio.create_task_group() as group:
            for plan in plans:
                group.start_soon(row, plan)
        # A browser that still runs is listed though its profile was forgotten meanwhile.
        forgotten = [one for one in self._instances.values() if one.alive and one.plan.id not in rows]
        return [*(rows[plan.id] for plan in plans), *[await self._row(instance) for instance in forgotten]]

    async def connect(self, device: Device, env: Environment) -> WebDriver:
        """See `Backend.connect`. An endpoint is attached to here; a browser of ours needs no connecting.

        Raises:
            DeviceNotFound: No such browser is known any more.
            MachineUnreachable, Unsupported, ToolMissing: The endpoint cannot be attached to.
        """
        instance = self._instances.get(device.id)
        if instance is None:
            for plan in await anyio.to_thread.run_sync(self._plans):
                self._instance(plan)
            instance = self._instances.get(device.id)
        if instance is None:
            raise DeviceNotFound(
                "This browser is not known any more.",
                looked_for={"device": device.id},
                looked_in=[PLATFORM],
                unusable=[],
                nearest=sorted(self._instances),
            )
        if instance.plan.url is not None:
            await instance.attach()
        return WebDriver(device, instance)

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        found = await anyio.to_thread.run_sync(lambda: find_installed(self.host.settings))
        checks = [Check("browser", bool(found), f"{len(found)} installed", "" if found else INSTALL, optional=True)]
        for browser in found:
            try:
                result = await processes.run([browser.executable, "--version"], deadline=5.0)
                ok, detail = result.code == 0, result.text.strip()[:100]
            except AnydeviceError as error:
                ok, detail = False, error.message
            fix = "" if ok else f"Start {browser.name} by hand once to see what is wrong."
            checks.append(Check(f"browser {browser.id}", ok, detail, fix))
        try:
            import websockets  # noqa: F401
        except ImportError:
            detail, fix = "attaching to endpoints needs it", "pip install 'anydevice[web]'"
            checks.append(Check("websockets", False, detail, fix, optional=True))
        return checks

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: browsers that run go on running, with their pages."""
        states = [await instance.hand_over() for instance in self._instances.values()]
        rows = [state for state in states if state is not None]
        return {"instances": rows} if rows else None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`."""
        plans = {plan.id: plan for plan in await anyio.to_thread.run_sync(self._plans)}
        for row in state["instances"]:
            plan = plans.get(row["id"])
            if "child" in row:
                # As it was started, whatever the configuration says by now.
                profile = Path(row["profile"]) if row["profile"] is not None else None
                plan = replace(plan or Plan(row["id"], row["name"]), executable=row["executable"], profile=profile)
            if plan is None:
                continue  # an endpoint that is not configured any more
            try:
                await self._instance(plan).take_up(row)
            except (AnydeviceError, Gone, ProtocolError) as error:
                reason = error.message if isinstance(error, AnydeviceError) else str(error)
                log.warning("browser_not_taken_up", device=row["id"], reason=reason)

    async def aclose(self) -> None:
        """See `Backend.aclose`: every browser we booted ends."""
        async with anyio.create_task_group() as group:
            for instance in self._instances.values():
                group.start_soon(instance.aclose)

    def instance(self, device_id: str) -> Instance | None:
        """The instance of a device id, if it was listed."""
        return self._instances.get(device_id)

    # --- inside --------------------------------------------------------------------------------------

    async def _sweep_once(self) -> None:
        async with self._sweeping:
            if not self._swept:
                self._swept = True
                await sweep(self.host.run_dir)

    def _plans(self) -> list[Plan]:
        """Everything that could be a device, from the host and what a person configured. Touches the file system."""
        settings = self.host.settings
        extra = tuple(str(argument) for argument in settings.get("extra_args") or ())
        headless = bool(settings.get("headless", True))
        installed = {browser.id: browser for browser in find_installed(settings)}
        profiles, endpoints = self.profiles.read()
        for name, value in dict(settings.get("profiles") or {}).items():
            browser = value.get("browser", "chromium") if isinstance(value, dict) else str(value)
            profiles.append(Profile(str(name), browser))
        for name, value in dict(settings.get("endpoints") or {}).items():
            url = value.get("url", "") if isinstance(value, dict) else str(value)
            endpoints.append(Endpoint(str(name), url))
        plans = [
            Plan(browser.id, browser.name, browser.executable, headless=headless, extra=extra)
            for browser in installed.values()
        ]
        for profile in profiles:
            browser = installed.get(profile.browser)
            if browser is not None:
                plan_id, name = f"{browser.id}:{profile.name}", f"{browser.name} ({profile.name})"
                folder: Path = self.profiles.folder(profile)
                plans.append(Plan(plan_id, name, browser.executable, folder, headless=headless, extra=extra))
        plans += [Plan(f"endpoint:{one.name}", f"Browser at {one.name}", url=one.url) for one in endpoints]
        return list({plan.id: plan for plan in plans}.values())

    def _instance(self, plan: Plan) -> Instance:
        instance = self._instances.get(plan.id)
        if instance is None:
            instance = self._instances[plan.id] = Instance(plan, self.host.run_dir, self._admit)
        elif not instance.alive:
            instance.plan = plan
        return instance

    def _admit(self) -> None:
        limit = self.host.settings.get("max_browsers")
        running = sum(one.alive and one.plan.executable is not None for one in self._instances.values())
        if limit is not None and running >= int(limit):
            raise HostAtCapacity("As many browsers run as the configuration allows.", limit=int(limit))

    async def _row(self, instance: Instance) -> Device:
        plan = instance.plan
        state, reason, fix, version = "shutdown", "", f"Call boot with device={plan.id}.", ""
        facts: dict[str, object] = {}
        if instance.alive and instance.running is not None:
            state, fix = "ready", ""
            version = instance.running.browser.version
            facts = {"tabs": len(instance.running.browser.tabs), "headless": instance.running.headless}
        elif plan.url is not None:
            state, fix = "ready", ""
            try:
                version = (await endpoint.probe(plan.url)).version
            except MachineUnreachable as error:
                state, reason = "offline", f"no browser answers there ({error.details['reason']})"
                fix = "Start that browser with --remote-debugging-port, or remove the endpoint."
        elif instance.booting:
            state, fix = "booting", "Wait for boot to end."
        elif plan.profile is not None:
            owner = await anyio.to_thread.run_sync(lock_owner, plan.profile)
            if owner is not None:
                state, reason = "offline", f"its profile is in use by another browser (process {owner.pid})"
                fix = "Close that browser, or use another profile."
        return Device(
            id=plan.id,
            name=plan.name,
            platform=PLATFORM,
            backend=BACKEND,
            device_target="desktop",
            device_class="browser",
            kind="endpoint" if plan.url is not None else "browser",
            state=state,
            reason=reason,
            fix=fix,
            os_version=version,
            facts=facts,
        )
