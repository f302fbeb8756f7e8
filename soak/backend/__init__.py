"""A vendor's backend for the stand-in devices, installed as a distribution of its own into a folder of the soak."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from anydevice import driver as d
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import ConnectionLost

LINE_MOST = 65536


class Backend(d.Backend):
    """Lists the devices the configuration says there are; the stand-in process answers for them."""

    async def devices(self, env: d.Environment) -> Sequence[Device]:
        """See `Backend`."""
        return [
            Device(
                id=f"soak-{number:02}",
                name=f"Soak {number:02}",
                platform="soak",
                backend="soak",
                device_target="mobile",
                device_class="phone",
                kind="virtual",
                state="ready",
                id_kind="serial",
            )
            for number in range(self.host.settings["devices"])
        ]

    async def connect(self, device: Device, env: d.Environment) -> SoakDriver:
        """See `Backend`."""
        driver = SoakDriver(device, self.host.settings["socket"])
        await driver.ask({"op": "who"})
        return driver


class SoakDriver(d.Driver):
    """A connection to one stand-in device. A call that is cancelled ends its connection, as it would end a shell."""

    def __init__(self, device: Device, socket: str) -> None:
        self.device = device
        self.socket = socket
        self.keys = Keys(self)
        self._stream: Any = None
        self._said = ""

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Sends one request and waits for its reply.

        Raises:
            ConnectionLost: The device ended the connection.
        """
        try:
            if self._stream is None:
                self._stream = await anyio.connect_unix(self.socket)
            stream = self._stream
            await stream.send(json.dumps({"device": self.device.id, **request}).encode() + b"\n")
            reply: dict[str, Any] = json.loads(await BufferedByteReceiveStream(stream).receive_until(b"\n", LINE_MOST))
        except (OSError, anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead):
            await self.aclose()
            raise ConnectionLost("The device ended the connection.", restarted=False) from None
        except BaseException:
            await self.aclose()
            raise
        self._said = reply["id"]
        return reply

    async def identify(self) -> DeviceRef:
        """See `Driver`: as the device said with its last reply."""
        return self.device.model_copy(update={"id": self._said}).ref()

    async def aclose(self) -> None:
        """See `Driver`."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await anyio.aclose_forcefully(stream)


class Keys(d.Keys):
    """A keyboard; the text says who drives."""

    def __init__(self, driver: SoakDriver) -> None:
        self.driver = driver

    async def type_text(self, text: str, *, delay: float = 0.0) -> d.Acted:
        """See `Keys`."""
        reply = await self.driver.ask({"op": "type", "text": text})
        return d.Acted("keys", data={"number": reply["n"]})
