"""Whatever a client sends, by stdio or by HTTP: the next message is answered, and nothing inside breaks.

Both clients know nothing but bytes. Against a real daemon; what it logged is read too, since a crash that is answered
politely is one all the same.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..support.daemons import CLI, PATIENCE, Home
from ..support.judges import CONFIG
from ..support.mcp_host import MODERN, McpHost

pytestmark = pytest.mark.daemon

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,  # the same in every run; `--hypothesis-seed` and more examples find more
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
BEYOND = 16 * 1024 * 1024 + 1024
"""More than a line may have (`anydevice.host.protocol.LINE_LIMIT`)."""

# --- what is sent ---

METHODS = [
    "initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
    "resources/subscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "server/discover",
    "subscriptions/listen", "notifications/cancelled", "notifications/progress", "notifications/initialized",
    "tasks/get", "", "no/such", "tools/call\u0000", "é",
]  # fmt: skip

words = st.one_of(
    st.sampled_from(["devices", "press", "command-run", "command-search", "snapshot", "anydevice://devices", "file:///x",
                     "anydevice://artefacts/../../x", "test-flow", "2.0", "fake-1", "\ud800", "\x00", "${HOME}"]),
    st.text(max_size=30),
)  # fmt: skip
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=True, allow_infinity=True), words
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=8,
)
known = st.fixed_dictionaries(
    {},
    optional={
        "name": words, "arguments": st.one_of(st.dictionaries(words, values, max_size=4), values), "uri": words,
        "ref": values, "argument": values, "cursor": values, "level": values, "requestId": values, "_meta": values,
        "progressToken": values, "protocolVersion": values, "capabilities": values, "clientInfo": values,
        "notifications": values, "requestState": values, "inputResponses": values, "task": values,
    },
)  # fmt: skip
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.one_of(st.just("2.0"), values),
        "id": values,
        "method": st.one_of(st.sampled_from(METHODS), values),
        "params": st.one_of(known, values),
        "result": values,
        "error": values,
    },
)
requests = st.builds(
    lambda method, params, id_: {"jsonrpc": "2.0", "id": id_, "method": method, "params": params},
    st.sampled_from(METHODS), known, st.one_of(st.integers(1, 50), words, st.floats(0, 9)),
)  # fmt: skip


def spelt(value: Any) -> bytes:
    """A value as JSON, with what JSON has not (NaN) as Python spells it."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


def cut(line: bytes, at: float) -> bytes:
    """The beginning of a line."""
    return line[: int(len(line) * at)]


bodies = st.one_of(
    requests.map(spelt),
    messages.map(spelt),
    values.map(spelt),
    st.lists(messages, max_size=3).map(spelt),
    st.builds(cut, requests.map(spelt), st.floats(0, 1)),
    st.binary(max_size=80),
    st.sampled_from([b"\xff\xfe", b"\xef\xbb\xbf{}", b"\x00", b"{" * 500, b"[" * 100_000, b'{"a":' * 50_000,
                     b"9" * 5000, b'{"id":1' + b"e" * 400, b'"\\ud800"', b"\r", b" ", b'{"jsonrpc":"2.0"}{}']),
)  # fmt: skip


# --- the daemon ---


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with Home.made(CONFIG + "\n[mcp.http]\nport = 0\nrate = 100000\nburst = 100000\n") as made:
        yield made


@pytest.fixture(scope="module")
def address(home: Home) -> tuple[str, int]:
    """Where it serves HTTP."""
    url: str = home.json("serve", "--http", "0")["data"]["http"]
    host, _, port = url.removeprefix("http://").partition("/")[0].rpartition(":")
    return host, int(port)


@pytest.fixture(scope="module")
def token(home: Home) -> str:
    """What lets a client in."""
    made = home.cli("token", "add", "fuzz", "--json")
    assert made.returncode == 0, made.stderr
    found: str = json.loads(made.stdout)["data"]["token"]
    return found


@pytest.fixture
def sane(home: Home, address: tuple[str, int]) -> Iterator[Home]:
    """The daemon, which is the same afterwards and has met no defect."""
    pid, before = home.pid, len(home.log())
    yield home
    assert home.running() and home.pid == pid
    news = home.log()[before:]
    for word in ("Traceback", "mcp_call_failed", "mcp_feature_failed", '"internal"'):
        assert word not in news, news[-3000:]


# --- stdio ---


class Lines:
    """A host that writes what it likes."""

    def __init__(self, home: Home) -> None:
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([*CLI, "mcp"], env=home.environ, **pipes)
        self.host = McpHost(process)
        self._marks = 0

    def write(self, data: bytes) -> None:
        assert self.host.process.stdin is not None
        self.host.process.stdin.write(data)
        self.host.process.stdin.flush()

    def answered(self, method: str = "tools/list") -> dict[str, Any]:
        """A plain request is answered, once."""
        self._marks += 1
        mark = f"mark-{self._marks}"
        self.host.send(method, id_=mark)
        answer = self.host.answer(mark)
        assert "result" in answer, answer
        assert len(self.host.answers(mark)) == 1
        return answer


@pytest.fixture
def lines(sane: Home) -> Iterator[Lines]:
    found = Lines(sane)
    found.host.hello()
    yield found
    assert found.host.end() == 0


def test_no_line_keeps_the_next_message_from_its_answer(lines: Lines) -> None:
    @FEW
    @given(st.lists(bodies, min_size=1, max_size=6))
    def sent(hostile: list[bytes]) -> None:
        lines.write(b"".join(line.replace(b"\n", b" ") + b"\n" for line in hostile))
        lines.answered()

    sent()
    assert all(isinstance(line, dict) and line["jsonrpc"] == "2.0" for line in lines.host.lines), "only messages come"


def test_a_line_in_pieces_and_a_line_beyond_all_bounds_are_followed_by_an_answer(lines: Lines) -> None:
    for piece in (b'{"jsonrpc":"2.0",', b'"id":"pieces",', b'"method":"ping"}'):
        lines.write(piece)
    lines.write(b"\n")
    assert lines.host.answer("pieces")["result"] == {}
    lines.write(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"' + b"x" * BEYOND + b'"}}\n')
    lines.answered()
    lines.write(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"devices","arguments":{"a":"'
                + b"y" * (4 * 1024 * 1024) + b'"}}}\n')  # fmt: skip
    lines.answered()


def test_ids_of_every_kind_are_answered_as_they_came(lines: Lines) -> None:
    @FEW
    @given(st.one_of(st.integers(-(2**63), 2**63), st.text(alphabet=st.characters(exclude_categories=["Cs"]))))
    def sent(id_: Any) -> None:
        before = len(lines.host.answers(id_))
        lines.host.send("ping", id_=id_)
        until = time.monotonic() + PATIENCE
        while len(lines.host.answers(id_)) == before:
            assert time.monotonic() < until, f"no answer to {id_!r}"
            time.sleep(0.001)
        answer = lines.host.answers(id_)[-1]
        assert answer["result"] == {} and type(answer["id"]) is type(id_)

    sent()


def test_a_conversation_that_begins_badly_can_still_begin(sane: Home) -> None:
    found = Lines(sane)
    found.write(b"\xff\n{}\n[]\n" + b"[" * 5000 + b'\n{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}\n')
    found.host.hello()
    found.answered()
    assert found.host.end() == 0


# --- HTTP ---


class Posts:
    """A client of HTTP on bare sockets."""

    def __init__(self, address: tuple[str, int], token: str) -> None:
        self.address, self.token = address, token

    def head(self, length: int | str, **more: str) -> bytes:
        """A head that is as it should be, but for `more`."""
        fields = {
            "Host": "127.0.0.1", "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "Connection": "close", "Content-Length": str(length),
        } | {name.replace("_", "-"): value for name, value in more.items()}  # fmt: skip
        lines = [f"{name}: {value}" for name, value in fields.items() if value]
        return ("POST /mcp HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")

    def open(self, data: bytes) -> socket.socket:
        """A connection on which something was sent."""
        found = socket.create_connection(self.address, timeout=PATIENCE)
        with contextlib.suppress(OSError):  # it may be refused in the middle
            found.sendall(data)
        return found

    def status(self, data: bytes, *, ended: bool = False) -> int:
        """The status something is answered with; 0 = the connection was ended without one.

        Args:
            data: What is sent.
            ended: The client ends its direction: what is not whole will never be.
        """
        with self.open(data) as connection:
            if ended:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
            said = b""
            with contextlib.suppress(ConnectionError):
                while b"\r\n" not in said and (data := connection.recv(65536)):
                    said += data
        return int(said.split()[1]) if said else 0

    def answered(self) -> None:
        """A plain request is answered."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = spelt({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
        head = self.head(len(body), MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")
        assert self.status(head + body) == 200


@pytest.fixture
def posts(sane: Home, address: tuple[str, int], token: str) -> Posts:
    return Posts(address, token)


@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
def test_no_body_keeps_the_next_request_from_its_answer(posts: Posts, era: str) -> None:
    @FEW
    @given(bodies, st.sampled_from(METHODS))
    def sent(body: bytes, method: str) -> None:
        head = posts.head(len(body), MCP_Protocol_Version=era, Mcp_Method=method.partition("\0")[0])
        status = posts.status(head + body)
        assert 200 <= status < 500, (status, body)
        posts.answered()

    sent()


HEADS: list[dict[str, str]] = [
    {"Content_Type": "text/plain"},
    {"Content_Type": ""},
    {"Accept": "image/png"},
    {"Accept": ""},
    {"MCP_Protocol_Version": "v9"},
    {"MCP_Protocol_Version": MODERN, "Mcp_Method": "é" * 50},
    {"Mcp_Session_Id": "x" * 2000},
    {"Mcp_Session_Id": "no-such"},
    {"Content_Encoding": "gzip"},
    {"Authorization": "Bearer " + "z" * 60_000},
    {"X_Long": "y" * 100_000},
    {"Origin": "http://\x7f"},
    {"Transfer_Encoding": "chunked"},
    {"Content_Length": "-5"},
    {"Content_Length": "1e3"},
    {"Content_Length": "99999999999999999999"},
]


@pytest.mark.parametrize("more", HEADS, ids="-".join)
def test_a_head_that_makes_no_sense_is_refused_and_the_next_request_answered(
    posts: Posts, more: dict[str, str]
) -> None:
    body = spelt({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert posts.status(posts.head(len(body), **more) + body, ended=True) < 500
    posts.answered()


def test_requests_that_never_end_hold_up_nobody(posts: Posts) -> None:
    """Half a head, half a body, a chunk without an end, and answers that nobody reads."""
    body = spelt({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    begun = [posts.head(len(body))[:-10], posts.head(len(body)) + body[:5], posts.head("", Transfer_Encoding="chunked")
             + b"5\r\n{\"a\"", posts.head(10**6) + b"{"]  # fmt: skip
    held = [posts.open(data) for data in begun for _ in range(5)]
    try:
        posts.answered()
    finally:
        for connection in held:
            connection.close()
    posts.answered()


def test_a_body_beyond_the_bounds_is_refused_and_the_next_request_answered(posts: Posts) -> None:
    body = spelt({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"pad": "x" * (5 * 1024 * 1024)}})
    assert posts.status(posts.head(len(body), MCP_Protocol_Version=MODERN) + body) in (0, 400, 413)
    posts.answered()
