"""Downloads from addresses a caller names: public ones only, whatever a name or a redirect leads to.

    got = await fetch("https://example.org/app.zip", folder, most=500_000_000, seconds=120)

Every address is looked at after its name was resolved and before anything is sent, and it is that very address that is
connected to, so a name that changes its mind in between gains nothing. The standard library's HTTP and TLS, in a worker
thread; proxies of the environment are not used, because what they connect to nobody here could see.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from threading import Event
from typing import BinaryIO
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import anyio
import anyio.to_thread

from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    InvalidArgument,
    MachineUnreachable,
    PathNotFound,
    Refused,
    UpstreamUnavailable,
)

REDIRECTS = 5
SILENCE = 15.0
"""Seconds a server may say nothing."""
CHUNK = 256 * 1024
_MOVED = frozenset({301, 302, 303, 307, 308})
_NAT64 = IPv6Network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_PLAIN = "/%!$&'()*+,;=:@-._~?"
"""Characters of a path or query that travel as they are."""

Where = tuple[socket.AddressFamily, tuple[object, ...]]
"""One address of a host, as sockets take it."""


@dataclass(slots=True, frozen=True)
class Fetched:
    """A file that was downloaded: where it is, its size in bytes, its SHA-256, and the address it came from."""

    path: Path
    size: int
    sha256: str
    url: str


async def fetch(url: str, folder: Path, *, most: int, seconds: float, allow: Sequence[str] = ()) -> Fetched:
    """Downloads a file into a folder, under the name the server gives it (made harmless).

    Args:
        url: http or https.
        folder: Exists, and belongs to this call.
        most: Bytes it may have.
        seconds: For all of it.
        allow: Private hosts that may be asked: names, addresses, or networks such as 10.0.0.0/8.

    Raises:
        InvalidArgument: It is no such address.
        Refused: It leads to a private address, to another kind of address, or is too large.
        PathNotFound: The server does not have it, or does not give it.
        MachineUnreachable: The server cannot be reached, or breaks off.
        CallTimeout: It took too long.
    """
    stop = Event()
    end = time.monotonic() + seconds
    try:
        with anyio.fail_after(seconds):
            work = partial(_Download(most, end, tuple(allow), stop).run, url, folder)
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except TimeoutError:
        raise CallTimeout("The download did not end in time.", after=round(seconds, 1), waiting_for="server") from None
    finally:
        stop.set()


def address_of(url: str) -> SplitResult:
    """An http or https address, in its parts.

    Raises:
        InvalidArgument: It is none, or holds a name and password.
    """
    expected = "http://… or https://…"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidArgument("This is no address.", param="source", expected=expected) from None
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or any(ord(ch) <= 32 for ch in url):
        raise InvalidArgument("This is no http or https address.", param="source", expected=expected)
    if parts.username is not None or parts.password is not None:
        raise InvalidArgument("The address holds a name or password.", param="source", expected="an address without")
    return parts


def public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the public network, also inside of another."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return public(inner)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


class _Download:
    """One download. Blocks; everything in it looks at the clock."""

    def __init__(self, most: int, end: float, allow: tuple[str, ...], stop: Event) -> None:
        self._most, self._end, self._allow, self._stop = most, end, allow, stop

    def run(self, url: str, folder: Path) -> Fetched:
        given = url
        for _ in range(REDIRECTS + 1):
            parts = address_of(url)
            connection = _Connection(parts, self._addresses(parts), self._wait)
            try:
                answer = connection.ask(parts)
                if answer.status in _MOVED and answer.headers.get("Location"):
                    url = self._next(url, str(answer.headers["Location"]))
                    continue
                return self._take(answer, url, folder, given)
            except (OSError, http.client.HTTPException) as error:
                if self._stop.is_set() or time.monotonic() > self._end:
                    raise TimeoutError from None
                raise _unreachable(parts, type(error).__name__) from error
            finally:
                connection.close()
        raise Refused(
            "The address leads from one to the next without end.",
            reason=f"more than {REDIRECTS} redirects",
            alternative="the address of the file itself",
        )

    def _wait(self) -> float:
        """Seconds the next step may take.

        Raises:
            TimeoutError: The time is up, or nobody waits any more.
        """
        left = self._end - time.monotonic()
        if left <= 0 or self._stop.is_set():
            raise TimeoutError
        return min(left, SILENCE)

    def _next(self, url: str, location: str) -> str:
        new = urljoin(url, location).partition("#")[0]
        try:
            parts = address_of(new)
        except InvalidArgument:
            raise Refused(
                "The address leads to one that is never asked.",
                reason="a redirect to another kind of address",
                alternative="an http or https address",
            ) from None
        if url.startswith("https:") and parts.scheme != "https":
            raise Refused(
                "The address leads from a protected connection to one that is not.",
                reason="a redirect from https to http",
                alternative="the https address of the file itself",
            )
        return new

    def _addresses(self, parts: SplitResult) -> Sequence[Where]:
        """Where a host is, as far as it may be asked.

        Raises:
            Refused: Nowhere.
            MachineUnreachable: Its name leads nowhere.
        """
        self._wait()
        assert parts.hostname is not None
        try:
            port = parts.port or _PORTS[parts.scheme]
            found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise _unreachable(parts, "its name is not known") from error
        may = [(family, where) for family, _, _, _, where in found if self._may(parts.hostname, str(where[0]))]
        if not may:
            raise Refused(
                "The address leads into a private network.",
                reason="a private address",
                alternative="a public address; or a person adds the host to policy.private_hosts",
            )
        return may

    def _may(self, host: str, where: str) -> bool:
        address = ip_address(where.partition("%")[0])
        if public(address):
            return True
        for entry in self._allow:
            if entry.casefold() == host.casefold():
                return True
            with suppress(ValueError):
                network = ip_network(entry, strict=False)
                if address.version == network.version and address in network:
                    return True
        return False

    def _take(self, answer: http.client.HTTPResponse, url: str, folder: Path, given: str) -> Fetched:
        if answer.status >= 500:
            raise _unreachable(urlsplit(url), f"it answers {answer.status}")
        if answer.status != 200:
            # Where it led to is the server's text; the details of this refusal are read as ours and the caller's.
            raise PathNotFound("The server does not give this file.", path=given, status=answer.status)
        if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refused("The server packs the file.", reason="content-encoding", alternative="the plain file")
        length = int(answer.headers["Content-Length"]) if _number(answer.headers.get("Content-Length")) else None
        if length is not None and length > self._most:
            raise self._too_large()
        path = folder / _name(answer.headers.get_filename() or urlsplit(url).path.rpartition("/")[2])
        size, digest = 0, hashlib.sha256()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            while chunk := answer.read1(CHUNK):
                self._wait()
                size += len(chunk)
                if size > self._most:
                    raise self._too_large()
                digest.update(chunk)
                _keep(file, chunk)
        if length is not None and size != length:
            raise _unreachable(urlsplit(url), "it broke off")
        return Fetched(path, size, digest.hexdigest(), url)

    def _too_large(self) -> AnydeviceError:
        return Refused(
            "The file is too large.", reason=f"more than {self._most} bytes", alternative="a file below that"
        )


class _Connection(http.client.HTTPConnection):
    """A connection to one of the addresses that were looked at, and to nothing else."""

    def __init__(self, parts: SplitResult, addresses: Sequence[Where], wait: Callable[[], float]) -> None:
        super().__init__(parts.hostname or "", parts.port or _PORTS[parts.scheme])
        self._tls = parts.scheme == "https"
        self._addresses = addresses
        self._left = wait

    def ask(self, parts: SplitResult) -> http.client.HTTPResponse:
        path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_PLAIN)
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "anydevice", "Connection": "close"}
        self.request("GET", path, headers=headers)
        return self.getresponse()

    def connect(self) -> None:
        trouble: OSError = OSError("no address")
        for family, where in self._addresses:
            made = socket.socket(family, socket.SOCK_STREAM)
            try:
                made.settimeout(self._left())
                made.connect(where)
                if self._tls:
                    made = ssl.create_default_context().wrap_socket(made, server_hostname=self.host)
                self.sock = made
                return
            except OSError as error:
                made.close()
                trouble = error
        raise trouble


def _unreachable(parts: SplitResult, reason: str) -> MachineUnreachable:
    return MachineUnreachable(
        "The server of this address does not hand the file over.",
        machine=parts.hostname or "",
        last_seen=None,
        reason=reason,
        hint="Check the address, then repeat the call.",
    )


def _keep(file: BinaryIO, chunk: bytes) -> None:
    try:
        file.write(chunk)
    except OSError as error:
        raise UpstreamUnavailable(
            f"What was downloaded cannot be stored: {os.strerror(error.errno or errno.EIO)}.",
            upstream="run folder",
            enable_hint="Make room on the disk of anydevice's home.",
        ) from error


def _number(text: str | None) -> bool:
    return text is not None and len(text) < 20 and text.strip().isascii() and text.strip().isdigit()


def _name(text: str) -> str:
    """A file's name with nothing in it that means something to anybody; the end, with its suffix, is kept."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[-80:].lstrip(".-")
    return clean or "download"
