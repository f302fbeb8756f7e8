"""Programs that bring a port of a device to this host: `iproxy`, `ios` of go-ios, `pymobiledevice3`."""

from __future__ import annotations

import json

import anyio
from anyio.abc import SocketStream

from ..device import LabDevice
from ..model.apps import RUNNER
from ..programs import Invocation, Program


async def _carry(call: Invocation, device: LabDevice, local: int, inner: int) -> int:
    """Relays connections until it is interrupted or ended."""
    try:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=local)
    except OSError:
        return await call.fail(1, "Error creating socket for listen port: Address already in use\n")
    device.journal.add("forward", local=local, inner=inner, running=True)

    async def connected(stream: SocketStream) -> None:
        server = device.server
        async with stream:
            if server is None or server.inner_port != inner or device.faults.active("lost"):
                return
            try:
                async with (
                    await anyio.connect_tcp("127.0.0.1", server.port) as other,
                    anyio.create_task_group() as group,
                ):
                    group.start_soon(_pump, stream, other, group.cancel_scope)
                    group.start_soon(_pump, other, stream, group.cancel_scope)
            except (OSError, anyio.BrokenResourceError):
                return

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, connected)
            await call.interrupted.wait()
            group.cancel_scope.cancel()
        return 0
    finally:
        with anyio.CancelScope(shield=True):
            await listener.aclose()
        device.journal.add("forward", local=local, inner=inner, running=False)


async def _pump(source: SocketStream, target: SocketStream, scope: anyio.CancelScope) -> None:
    try:
        async for data in source:
            await target.send(data)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    scope.cancel()


def _device(call: Invocation, udid: str) -> LabDevice | None:
    found = [d for d in call.world.devices.values() if d.kind.physical and d.reachable and udid in ("", d.udid)]
    return found[0] if found else None


async def iproxy(call: Invocation) -> int:
    """`iproxy LOCAL:INNER|LOCAL INNER [-u UDID]`."""
    words, udid = list(call.args), ""
    for switch in ("-u", "--udid"):
        if switch in words:
            at = words.index(switch)
            udid = words[at + 1]
            del words[at : at + 2]
    ports = [word for word in words if not word.startswith("-")]
    ports = ports[0].split(":") if len(ports) == 1 else ports
    device = _device(call, udid)
    if len(ports) < 2:
        return await call.fail(1, "Usage: iproxy [OPTIONS] LOCAL_PORT:DEVICE_PORT\n")
    if device is None:
        return await call.fail(1, f"No connected/matching device found for {udid}\n")
    await call.out(f"Creating listening port {ports[0]} for device port {ports[1]}\nwaiting for connection\n")
    return await _carry(call, device, int(ports[0]), int(ports[1]))


async def ios(call: Invocation) -> int:
    """`ios list`, `ios forward LOCAL INNER --udid=U`, `ios runwda --udid=U`, of go-ios."""
    udid = next((word.partition("=")[2] for word in call.args if word.startswith("--udid=")), "")
    words = [word for word in call.args if not word.startswith("-")]
    if words[:1] == ["list"]:
        found = [f'"{d.udid}"' for d in call.world.devices.values() if d.kind.physical and d.kind.state == "connected"]
        await call.out('{"deviceList":[' + ",".join(found) + "]}\n")
        return 0
    device = _device(call, udid)
    if words[:1] == ["runwda"] and device is not None and RUNNER in device.machine.apps:
        device.launch(RUNNER, (), {}, fresh=True, tested=True)
        try:
            await call.interrupted.wait()
            return 0
        finally:  # the test session ends with the connection, however the program ends
            app = device.machine.apps.get(RUNNER)
            if app is not None and app.running:
                device.terminate(app)
    if words[:1] != ["forward"] or len(words) < 3 or device is None:
        return await call.fail(1, '{"level":"fatal","msg":"error getting device","err":"device not found"}\n')
    await call.err(
        f'{{"level":"info","msg":"Start listening on port {words[1]} forwarding to port {words[2]} on device"}}\n'
    )
    return await _carry(call, device, int(words[1]), int(words[2]))


async def pymobiledevice3(call: Invocation) -> int:
    """`pymobiledevice3 usbmux list`, `usbmux forward --serial U LOCAL INNER`."""
    words, serial = list(call.args), ""
    if "--serial" in words[:-1]:
        at = words.index("--serial")
        serial = words[at + 1]
        del words[at : at + 2]
    if words[:2] == ["usbmux", "list"]:
        rows = [
            {"ConnectionType": "USB", "DeviceClass": d.kind.family, "DeviceName": d.title, "Identifier": d.udid,
             "ProductType": d.kind.product, "ProductVersion": d.kind.os}
            for d in call.world.devices.values() if d.kind.physical and d.kind.state == "connected"
        ]  # fmt: skip
        await call.out(json.dumps(rows, indent=4) + "\n")
        return 0
    device = _device(call, serial)
    ports = [word for word in words[2:] if word.isdigit()]
    if words[:2] != ["usbmux", "forward"] or len(ports) != 2:
        return await call.fail(2, "Usage: pymobiledevice3 [OPTIONS] COMMAND [ARGS]...\n")
    if device is None:
        return await call.fail(1, "ERROR Device not found\n")
    return await _carry(call, device, int(ports[0]), int(ports[1]))


PROGRAMS: dict[str, Program] = {"iproxy": iproxy, "ios": ios, "pymobiledevice3": pymobiledevice3}
