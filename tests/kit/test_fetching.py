"""Downloads: what arrives, and which addresses are never asked; judged by the servers themselves."""

from __future__ import annotations

import hashlib
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.kit.fetching import address_of, fetch, public
from anydevice_schemas.errors import (
    CallTimeout,
    InvalidArgument,
    MachineUnreachable,
    PathNotFound,
    Refused,
)

pytestmark = pytest.mark.anyio
DATA = bytes(range(256)) * 1000
Answering = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A server on loopback that remembers what it was asked."""

    def __init__(self, answer: Answering) -> None:
        self.asked: list[str] = []
        self.headers: list[Any] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.headers.append(self.headers)
                answer(self)

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_port


@contextmanager
def serving(answer: Answering) -> Iterator[Server]:
    server = Server(answer)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


def gives(data: bytes = DATA, status: int = 200, **headers: str) -> Answering:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def leads(where: str) -> Answering:
    return gives(b"", 302, Location=where)


async def got(url: str, folder: Path, **how: Any) -> Any:
    return await fetch(url, folder, **{"most": 1_000_000, "seconds": 20.0, "allow": ("127.0.0.1",), **how})


async def test_a_file_arrives_whole_with_its_name_and_sum(tmp_path: Path) -> None:
    with serving(gives()) as server:
        file = await got(f"http://127.0.0.1:{server.port}/build/my%20app.zip?token=x", tmp_path)
    assert file.path.read_bytes() == DATA and file.path.parent == tmp_path and file.path.name == "my-20app.zip"
    assert (file.size, file.sha256) == (len(DATA), hashlib.sha256(DATA).hexdigest())
    assert server.asked == ["/build/my%20app.zip?token=x"]
    assert "authorization" not in server.headers[0] and "cookie" not in server.headers[0]


async def test_the_servers_name_for_a_file_is_made_harmless(tmp_path: Path) -> None:
    with serving(gives(Content_Disposition='attachment; filename="../../.bashrc; rm -rf.apk"')) as server:
        file = await got(f"http://127.0.0.1:{server.port}/", tmp_path)
    assert file.path.parent == tmp_path and file.path.name == "bashrc-rm--rf.apk"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"])
async def test_private_addresses_are_not_asked(host: str, tmp_path: Path) -> None:
    with serving(gives()) as server:
        with pytest.raises(Refused) as caught:
            await got(f"http://{host}:{server.port}/x", tmp_path, allow=("10.0.0.0/8", "elsewhere"))
        assert server.asked == [] and "policy.private_hosts" in caught.value.details["alternative"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("address", "yes"),
    [
        ("8.8.8.8", True), ("2001:4860:4860::8888", True), ("10.1.2.3", False), ("172.16.0.1", False),
        ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False),
        ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("fe80::1", False), ("fd00::1", False),
        ("::ffff:10.0.0.1", False), ("64:ff9b::7f00:1", False), ("64:ff9b::808:808", True), ("2002:7f00:1::", False),
        ("2001:0:5ef5:79fd::1", False), ("ff02::1", False), ("::", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, yes: bool) -> None:
    assert public(ip_address(address)) is yes


async def test_every_redirect_is_looked_at_again(tmp_path: Path) -> None:
    with serving(gives()) as inner, serving(leads(f"http://127.0.0.1:{inner.port}/secret")) as outer:
        url = f"http://localhost:{outer.port}/start"
        with pytest.raises(Refused) as caught:
            await got(url, tmp_path, allow=("localhost",))
        assert (outer.asked, inner.asked) == (["/start"], [])
        assert caught.value.details["reason"] == "a private address"
        file = await got(url, tmp_path, allow=("localhost", "127.0.0.0/8"))
        assert file.path.read_bytes() == DATA and file.url.endswith("/secret") and inner.asked == ["/secret"]


@pytest.mark.parametrize("where", ["file:///etc/passwd", "ftp://localhost/x", "javascript:alert(1)", "http://a:b@x/"])
async def test_a_redirect_to_another_kind_of_address_is_refused(where: str, tmp_path: Path) -> None:
    with serving(leads(where)) as server, pytest.raises(Refused):
        await got(f"http://127.0.0.1:{server.port}/", tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_a_circle_of_redirects_ends(tmp_path: Path) -> None:
    with serving(leads("/again")) as server:
        with pytest.raises(Refused):
            await got(f"http://127.0.0.1:{server.port}/again", tmp_path)
        assert len(server.asked) == 6


@pytest.mark.parametrize("told", [True, False])
async def test_too_large_a_file_is_refused_and_nothing_more_is_read(told: bool, tmp_path: Path) -> None:
    answer = gives() if told else gives(Content_Length="", Transfer_Encoding="identity", Connection="close")
    with serving(answer) as server, pytest.raises((Refused, MachineUnreachable)) as caught:
        await got(f"http://127.0.0.1:{server.port}/", tmp_path, most=1000)
    assert isinstance(caught.value, Refused) and "1000" in caught.value.details["reason"]


async def test_what_breaks_off_is_told(tmp_path: Path) -> None:
    half = gives(b"half", Content_Length="1000", Connection="close")
    with serving(half) as server, pytest.raises(MachineUnreachable):
        await got(f"http://127.0.0.1:{server.port}/", tmp_path)


@pytest.mark.parametrize(("status", "kind"), [(404, PathNotFound), (403, PathNotFound), (503, MachineUnreachable)])
async def test_what_the_server_does_not_give_is_told(status: int, kind: Any, tmp_path: Path) -> None:
    with serving(gives(b"no", status)) as server, pytest.raises(kind):
        await got(f"http://127.0.0.1:{server.port}/", tmp_path)


async def test_a_server_that_drips_is_left_in_time(tmp_path: Path) -> None:
    def drips(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for _ in range(600):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            return

    with serving(drips) as server:
        with pytest.raises(CallTimeout):
            await got(f"http://127.0.0.1:{server.port}/", tmp_path, seconds=0.5)
        with anyio.move_on_after(0.3) as scope:
            await got(f"http://127.0.0.1:{server.port}/again", tmp_path)
        assert scope.cancelled_caught


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://",
        "http://u:p@h/",
        "http://h:99999/",
        "http://h:0/",
        "h/x",
        "http://[::1",
        "http://h/a b",
        "HTTPS//x",
    ],
)
def test_what_is_no_such_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument):
        address_of(url)


async def test_a_host_that_is_not_there_is_told(tmp_path: Path) -> None:
    with serving(gives()) as server:
        port = server.port
    with pytest.raises(MachineUnreachable):
        await got(f"http://127.0.0.1:{port}/", tmp_path)
    with pytest.raises(MachineUnreachable):
        await got(f"http://{'a' * 70}.example/", tmp_path)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that nobody knows, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("not installed: openssl")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", str(path), "-out", str(path.with_name("certificate.pem"))],
        check=True, capture_output=True, timeout=30,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + path.with_name("certificate.pem").read_bytes())
    return path


async def test_a_protected_connection_is_to_whom_it_says_and_never_leads_to_one_that_is_not(
    certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(gives()) as plain:

        def answer(handler: BaseHTTPRequestHandler) -> None:
            (leads(f"http://localhost:{plain.port}/") if "away" in handler.path else gives())(handler)

        with serving(answer) as server:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.http.socket = context.wrap_socket(server.http.socket, server_side=True)
            url = f"https://localhost:{server.port}/x"
            with pytest.raises(MachineUnreachable) as caught:
                await got(url, tmp_path, allow=("localhost",))
            assert "Cert" in caught.value.details["reason"] and server.asked == []
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("certificate.pem")))
            assert (await got(url, tmp_path, allow=("localhost",))).path.read_bytes() == DATA
            with pytest.raises(MachineUnreachable):  # another name than the certificate's
                await got(f"https://127.0.0.1:{server.port}/x", tmp_path)
            with pytest.raises(Refused):
                await got(f"https://localhost:{server.port}/away", tmp_path, allow=("localhost",))
            assert plain.asked == []
