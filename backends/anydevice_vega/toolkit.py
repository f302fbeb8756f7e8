"""The automation toolkit of a device: JSON-RPC over HTTP, at a port of the device.

It answers only where its flag was there when the app in front was started; see `apps.py`.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import anyio

from anydevice_adb import AdbDevice
from anydevice_schemas.errors import AnydeviceError, CallTimeout, UpstreamUnavailable

if TYPE_CHECKING:
    import httpcore2

    from .network import AdbNetwork

PORT: Final = 8383
ADDRESS: Final = f"http://127.0.0.1:{PORT}/jsonrpc"
"""`localhost` may be another address family than the one it listens on."""
FLAG: Final = "/tmp/automation-toolkit.enable"
DEADLINE: Final = 5.0
"""Seconds a question may take."""
PICTURE: Final = 15.0
"""Seconds a picture may take: some builds never give one."""
MOST: Final = 64 << 20
"""Bytes of an answer."""


class ToolkitOff(Exception):
    """Nothing listens: no app was started with the flag there. `error` is what adb told."""

    def __init__(self, error: AnydeviceError | None) -> None:
        super().__init__("nothing listens")
        self.error = error


class ToolkitSaidNo(Exception):
    """It answered with an error; `said` is its own word (untrusted)."""

    def __init__(self, said: str) -> None:
        super().__init__("refused")
        self.said = said


class Toolkit:
    """The toolkit of one device. Each question has a connection of its own: none can be found dead."""

    def __init__(self, adb: AdbDevice) -> None:
        self._adb = adb
        self._network: AdbNetwork | None = None
        self._pool: httpcore2.AsyncConnectionPool | None = None

    async def call(self, method: str, params: dict[str, Any] | None = None, *, deadline: float = DEADLINE) -> Any:
        """Asks, and returns the result.

        Args:
            method: As the toolkit names it.
            params: Of the method.
            deadline: Seconds for all of it.

        Raises:
            ToolkitOff: Nothing listens.
            ToolkitSaidNo: It refused.
            CallTimeout: It did not answer in time.
            UpstreamUnavailable: What came is no answer.
            AnydeviceError: The device cannot be reached.
        """
        try:
            with anyio.fail_after(deadline):
                body = await self._post(method, params or {}, deadline)
        except TimeoutError:
            raise CallTimeout(
                "The automation toolkit did not answer in time.", after=deadline, waiting_for="automation toolkit"
            ) from None
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or ("result" not in answer and "error" not in answer):
            raise _garbled(method, body[-500:].decode("utf-8", "replace"))
        if answer.get("error") is not None:
            raise ToolkitSaidNo(json.dumps(answer["error"], ensure_ascii=False)[:2000])
        return answer.get("result")

    async def picture(self) -> bytes:
        """The screen as an image file.

        Raises:
            UpstreamUnavailable: It gave none.
            Exception: As `call`.
        """
        found = await self.call("takeScreenshot", deadline=PICTURE)
        text = next((value for value in _texts(found) if value), "")
        try:
            data = base64.b64decode(text.partition("base64,")[2] or text, validate=False)
        except (binascii.Error, ValueError):
            data = b""
        if not data:
            raise _garbled("takeScreenshot", text[:200])
        return data

    async def aclose(self) -> None:
        """Lets go of it."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _post(self, method: str, params: dict[str, Any], deadline: float) -> bytes:
        import httpcore2

        pool, network = self._ready(httpcore2.AsyncConnectionPool)
        content = json.dumps({"jsonrpc": "2.0", "id": "0", "method": method, "params": params}).encode()
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), deadline)
        headers: dict[bytes | str, bytes | str] = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            async with pool.stream(
                "POST", ADDRESS, headers=headers, content=content, extensions={"timeout": timeout}
            ) as response:
                body = bytearray()
                async for piece in response.aiter_stream():
                    body += piece
                    if len(body) > MOST:
                        raise _garbled(method, "too long")
                if response.status != 200:
                    raise _garbled(method, bytes(body[-500:]).decode("utf-8", "replace"), status=response.status)
                return bytes(body)
        except httpcore2.TimeoutException as error:
            raise TimeoutError from error
        except httpcore2.ConnectError as error:
            if network.refused is not None and not isinstance(network.refused, UpstreamUnavailable):
                raise network.refused from error
            raise ToolkitOff(network.refused) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise _garbled(method, type(error).__name__) from error

    def _ready(
        self, make: Callable[..., httpcore2.AsyncConnectionPool]
    ) -> tuple[httpcore2.AsyncConnectionPool, AdbNetwork]:
        if self._pool is None or self._network is None:
            from .network import AdbNetwork

            self._network = AdbNetwork(self._adb)
            self._pool = make(network_backend=self._network, max_keepalive_connections=0)
        return self._pool, self._network


def _texts(found: Any) -> list[str]:
    """The texts in a result: some methods wrap them."""
    if isinstance(found, str):
        return [found]
    return [value for value in found.values() if isinstance(value, str)] if isinstance(found, dict) else []


def source(found: Any) -> str:
    """The page source in a result; empty where there is none."""
    return next(iter(_texts(found)), "")


def _garbled(method: str, said: str, **more: Any) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The automation toolkit gave no whole answer.",
        upstream="automation toolkit",
        enable_hint="Repeat the call; if it stays so, open the app again.",
        retryable=True,
        method=method,
        said=said,
        **more,
    )
