"""Clients over HTTP that wish no good: raw requests on a real socket, another's session, places kept for nothing."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from anydevice_mcp.http import bodies, guard, listener, service
from anydevice_mcp.http.tokens import TokenError, Tokens

from .clients import HANDSHAKE, MODERN, PATIENCE
from .test_http import BOTH, Site, Web, code, listening

pytestmark = pytest.mark.anyio

OLD = HANDSHAKE[-1]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # what listens is uvicorn, as in the daemon


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    async with listening(burst=10_000, rate=1000) as found:
        yield found


def port_of(site: Site) -> int:
    return int(site.url.split(":")[2].split("/")[0])


async def until(check: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not check():
            await anyio.sleep(0.02)


def request(site: Site, secret: str, body: Any, *headers: str, method: str = "POST") -> bytes:
    """A request as bytes; a header of `headers` comes besides, and last."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [
        f"{method} /mcp HTTP/1.1", f"Host: 127.0.0.1:{port_of(site)}", f"Authorization: Bearer {secret}",
        f"Accept: {BOTH}", "Content-Type: application/json", f"Content-Length: {len(data)}", "Connection: close",
        *headers,
    ]  # fmt: skip
    return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + data


async def told(site: Site, data: bytes) -> bytes:
    """What the server says until it ends the connection."""
    out = b""
    async with await anyio.connect_tcp("127.0.0.1", port_of(site)) as stream:
        await stream.send(data)
        with anyio.fail_after(PATIENCE):
            while True:
                try:
                    out += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return out


# --- another's session ---

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("first", ["Mcp-Protocol-Version: {version}", "Mcp-Session-Id: {session}"])
async def test_a_header_said_twice_does_not_lead_into_anothers_session(site: Site, first: str, method: str) -> None:
    async with Web(site.url, site.token("one"), era=OLD) as one, Web(site.url, site.token("two"), era=OLD) as two:
        await one.hello()
        await two.hello()
        both = ["Mcp-Session-Id: {session}", "Mcp-Protocol-Version: {version}"]
        second = "Mcp-Session-Id: {own}" if "Session" in first else f"Mcp-Protocol-Version: {MODERN}"
        values = {"version": OLD, "session": one.session, "own": two.session}
        lines = [line.format(**values) for line in (*both, second)]
        secret = two.client.headers["authorization"].removeprefix("Bearer ")
        answer = await told(site, request(site, secret, CALL if method == "POST" else b"", *lines, method=method))
        assert answer.startswith(b"HTTP/1.1 400 ") and b"said twice" in answer, answer
        assert await one.names()


@pytest.mark.parametrize(
    "line", ["Authorization: Bearer x", "Origin: http://a\r\nOrigin: http://b", "Content-Type: text/plain",
             "Mcp-Method: a\r\nMcp-Method: b", "Transfer-Encoding: chunked"],
)  # fmt: skip
async def test_what_two_readers_could_read_in_two_ways_is_refused(site: Site, line: str) -> None:
    answer = await told(site, request(site, site.token(), CALL, line))
    assert answer.startswith(b"HTTP/1.1 400 "), answer


# --- bodies ---


@pytest.mark.parametrize("era", [OLD, MODERN])
@pytest.mark.parametrize("value", ["NaN", "Infinity", '"\\ud800"', "[" * 300 + "]" * 300, "9" * 5000])
async def test_a_value_that_is_no_json_is_refused_in_both_eras_alike(site: Site, era: str, value: str) -> None:
    async with Web(site.url, site.token(), era=era) as web:
        await web.hello()
        message = web.message("tools/call", {"name": "test-show", "arguments": {"data": {"a": "PUT"}}})
        body = json.dumps(message).replace('"PUT"', value).encode()
        head = {**web.headers(message), "content-type": "application/json"}
        response = await web.client.post(web.url, content=body, headers=head)
        assert response.status_code == 400
        assert response.json()["error"]["code"] == -32700 and response.json()["id"] in (None, message["id"])
        assert (await web.call("test-show", data={"a": 1}))["structuredContent"]["a"] == 1


@pytest.mark.parametrize("era", [OLD, MODERN])
@pytest.mark.parametrize("id", [None, True, 1.5, [1], {}])
async def test_a_request_without_a_usable_id_is_refused_and_not_taken_for_a_notification(
    site: Site, era: str, id: Any
) -> None:
    async with Web(site.url, site.token(), era=era) as web:
        await web.hello()
        message = web.message("tools/list")
        response = await web.client.post(web.url, json=message | {"id": id}, headers=web.headers(message))
        assert response.status_code == 400 and response.json()["error"]["code"] == -32600


async def test_a_batch_is_refused_by_name(site: Site) -> None:
    async with Web(site.url, site.token(), era="2025-03-26") as web:
        await web.hello()
        response = await web.client.post(web.url, json=[CALL], headers={"mcp-session-id": web.session})
        assert response.status_code == 400 and "batches" in response.json()["error"]["message"]


async def test_a_body_that_does_not_come_is_refused_in_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    answer = await told(site, request(site, site.token(), b"", "X-A: b").replace(b"Length: 0", b"Length: 50"))
    assert answer.startswith(b"HTTP/1.1 408 ") and b"connection: close" in answer.lower(), answer


# --- places kept for nothing ---


async def test_who_sends_half_a_head_without_a_token_loses_the_connection(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.3)
    assert await told(site, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ") == b""
    assert await told(site, b"") == b""
    async with await anyio.connect_tcp("127.0.0.1", port_of(site)) as stream:
        await stream.send(request(site, "x", b"").replace(b"Connection: close", b"Connection: keep-alive"))
        await stream.receive()
        with anyio.fail_after(PATIENCE), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await stream.send(b"POST /mcp HT")
            while True:
                await stream.receive()


async def test_a_crowd_that_says_nothing_does_not_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "CONNECTIONS", 20)
    async with listening() as site:
        crowd = [await anyio.connect_tcp("127.0.0.1", port_of(site)) for _ in range(40)]
        for stream in crowd:
            await _quietly(stream, b"GET / HTTP/1.1\r\n")
        async with Web(site.url, site.token()) as web:
            assert (await web.hello())["supportedVersions"] == [MODERN]
        for stream in crowd:
            await stream.aclose()


async def test_connections_that_are_in_use_do_not_cost_a_new_one_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "CONNECTIONS", 12)
    async with listening() as site, anyio.create_task_group() as group:
        secret = site.token()
        for number in range(10):
            busy = Web(site.url, secret)
            group.start_soon(busy.call, "test-slow")
            await until(lambda number=number: len(site.watched.started) > number)
        async with Web(site.url, secret) as web:
            assert (await web.hello())["supportedVersions"] == [MODERN]
        group.cancel_scope.cancel()


async def _quietly(stream: Any, data: bytes) -> None:
    try:
        await stream.send(data)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # it has lost its place already


async def test_an_answer_that_nobody_reads_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "READ_SECONDS", 0.5)
    made = _watched(monkeypatch)
    web = Web(site.url, site.token())
    # A list that is asked for again and again on one connection, and never read.
    message = web.message("tools/list")
    lines = [f"{name}: {value}" for name, value in web.headers(message).items()]
    secret = web.client.headers["authorization"].removeprefix("Bearer ")
    one = request(site, secret, message, *lines).replace(b"Connection: close", b"Connection: keep-alive")
    async with await anyio.connect_tcp("127.0.0.1", port_of(site)) as stream:
        with anyio.fail_after(PATIENCE):
            try:
                while not any(connection.lost for connection in made):
                    with anyio.move_on_after(0.1):
                        await stream.send(one * 20)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
        await until(lambda: any(connection.lost for connection in made))
    await web.client.aclose()


def _watched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Connections that are made from now on."""
    made: list[Any] = []
    before, after = listener.Connection.connection_made, listener.Connection.connection_lost

    def began(self: Any, transport: Any) -> None:
        self.lost = False
        made.append(self)
        before(self, transport)

    def ended(self: Any, error: Any) -> None:
        self.lost = True
        after(self, error)

    monkeypatch.setattr(listener.Connection, "connection_made", began)
    monkeypatch.setattr(listener.Connection, "connection_lost", ended)
    return made


async def test_requests_that_stay_open_are_bounded_for_one_token(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "OPEN_MOST", 3)
    secret = site.token("many")
    async with Web(site.url, secret) as web, anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(web.call, "test-slow")
            await until(lambda number=number: len(site.watched.started) > number)
        refused = await web.post("tools/list")
        assert refused.status_code == 429 and "retry-after" in refused.headers
        async with Web(site.url, site.token("other")) as other:
            assert await other.names()
        group.cancel_scope.cancel()


async def test_one_token_does_not_take_all_sessions_and_keeps_those_it_uses() -> None:
    async with listening(sessions=8, rate=1000, burst=1000) as site:
        secret = site.token("many")
        async with Web(site.url, secret, era=OLD) as first, Web(site.url, secret, era=OLD) as second:
            await first.hello()
            await second.hello()
            assert await first.names()  # used since, so the other one goes
            for _ in range(12):
                async with Web(site.url, secret, era=OLD) as more:
                    await more.hello()
                assert await first.names()
            assert (await second.post("tools/list")).status_code == 404
        async with Web(site.url, site.token("other"), era=OLD) as other:
            await other.hello()


async def test_a_session_that_was_refused_leaves_nothing_behind(site: Site) -> None:
    found = [each for each in gc.get_objects() if isinstance(each, guard.Guard)]
    before = sum(len(each._sessions) for each in found)
    async with Web(site.url, site.token(), era=OLD) as web:
        for _ in range(5):
            assert (await web.post("tools/list")).status_code == 400
    assert sum(len(each._sessions) for each in found) == before


# --- a token that is revoked ---


@pytest.mark.parametrize("era", [OLD, MODERN])
async def test_what_a_revoked_token_had_running_is_stopped_and_its_client_told(site: Site, era: str) -> None:
    async with Web(site.url, site.token(), era=era) as web:
        await web.hello()
        message = web.message("tools/call", {"name": "test-slow", "arguments": {}})
        answers: list[httpx2.Response] = []

        async def ask() -> None:
            answers.append(await web.client.post(web.url, json=message, headers=web.headers(message)))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await until(lambda: site.watched.started)
            site.tokens.remove("agent")
            await until(lambda: answers)
        await until(lambda: site.watched.cancelled)
        assert not site.watched.ended
        if era == MODERN:
            assert answers[0].status_code == 401 and "not known" in answers[0].json()["error"]["message"]
        else:
            assert "result" not in answers[0].text


async def test_a_device_that_a_revoked_token_held_by_a_sessions_name_is_free(site: Site) -> None:
    async with Web(site.url, site.token()) as web, Web(site.url, site.token("other")) as other:
        assert code(await web.call("open", device="fake-1")) == "ok"
        assert code(await other.call("open", device="fake-1")) == "lease_held"
        site.tokens.remove("agent")
        await until(lambda: not site.router.services.sessions.all())
        assert code(await other.call("open", device="fake-1")) == "ok"


async def test_who_is_not_let_in_is_in_the_log_and_does_not_fill_it(site: Site) -> None:
    with capture_logs() as logged:
        async with Web(site.url, "adt_guess") as web:
            for _ in range(20):
                assert (await web.post("tools/list")).status_code == 401
        async with Web(site.url, site.token()) as web:
            assert (await web.post("tools/list", host="evil.example")).status_code == 421
    lines = [line for line in logged if line["event"] == "http_refused"]
    assert len(lines) == 1 and lines[0]["status"] == 401 and "adt_guess" not in str(lines)


# --- the file of tokens ---


def _mint(folder: Path, number: int) -> None:
    tokens = Tokens(folder)
    for each in range(10):
        tokens.mint(f"t{number}-{each}")


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    work = [multiprocessing.get_context("spawn").Process(target=_mint, args=(tmp_path, n)) for n in range(2)]
    for process in work:
        process.start()
    for process in work:
        process.join()
    assert len(Tokens(tmp_path).all()) == 20


@pytest.mark.parametrize(
    "change",
    [{"scope": "root"}, {"scope": 1}, {"digest": "é"}, {"digest": 5}, {"digest": ""}, {"name": "a b"}, {"name": None},
     {"toolset": None}, {"created": []}, {"more": 1}],
)  # fmt: skip
async def test_a_file_of_tokens_that_we_did_not_write_lets_nobody_in_and_breaks_nothing(
    site: Site, change: dict[str, Any]
) -> None:
    secret = site.token()
    rows = json.loads(site.tokens.path.read_text())
    site.tokens.path.write_text(json.dumps([rows[0] | change]))
    async with Web(site.url, secret) as web:
        response = await web.post("server/discover")
        assert response.status_code == 503 and "log" in response.json()["error"]["message"]


def test_a_pipe_in_the_place_of_the_tokens_holds_nobody_up(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    os.mkfifo(tokens.path, 0o600)
    with pytest.raises(TokenError):
        tokens.find("x")


def test_a_file_that_is_opened_up_to_others_later_counts_no_more(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    secret = tokens.mint("agent")
    assert tokens.find(secret)
    tokens.path.chmod(0o644)  # nothing else of it changes
    with pytest.raises(TokenError):
        tokens.find(secret)
    tokens.path.chmod(0o600)
    assert tokens.find(secret)
