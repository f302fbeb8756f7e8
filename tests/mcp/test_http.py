"""The protocol over HTTP, with real requests on a real socket: who gets in, as whom, to what, and for how long."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from anydevice.router import Router
from anydevice.testing import fake_router
from anydevice_mcp import McpFacade
from anydevice_mcp.http import guard
from anydevice_mcp.http.choices import ChoiceError
from anydevice_mcp.http.choices import read as read_choices
from anydevice_mcp.http.tokens import TokenError, Tokens
from anydevice_mcp.published import DEFAULT_TOOLS, TOOLSETS

from .clients import HANDSHAKE, MODERN, PATIENCE
from .conftest import Watched, own_commands

pytestmark = pytest.mark.anyio

BOTH = "application/json, text/event-stream"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # what listens is uvicorn, as in the daemon


@dataclass
class Site:
    """A facade that listens, and who may come."""

    url: str
    router: Router
    tokens: Tokens
    facade: McpFacade
    watched: Watched

    def token(self, name: str = "agent", **how: str) -> str:
        """A new token's secret."""
        return self.tokens.mint(name, **how)


@asynccontextmanager
async def listening(**http: Any) -> AsyncIterator[Site]:
    watched = Watched()
    async with fake_router(tables={"mcp": {"http": {"port": 0, **http}}}) as (router, _):
        for spec in own_commands(watched):
            assert router.services.catalogue.register(spec)
        facade = McpFacade()
        async with anyio.create_task_group() as group:
            group.start_soon(facade.run, router)
            with anyio.fail_after(PATIENCE):
                while not facade.told:
                    await anyio.sleep(0.01)
            tokens = Tokens(router.services.settings.data_dir)
            yield Site(facade.told.get("http", ""), router, tokens, facade, watched)
            group.cancel_scope.cancel()


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    async with listening() as found:
        yield found


class Web:
    """A client that knows nothing but HTTP and JSON."""

    def __init__(self, url: str, secret: str = "", *, era: str = MODERN) -> None:
        self.url, self.era = url, era
        self.session = ""
        self._id = 0
        headers = {"accept": BOTH} | ({"authorization": f"Bearer {secret}"} if secret else {})
        self.client = httpx2.AsyncClient(headers=headers, timeout=PATIENCE, verify=False)  # no TLS: nothing to load

    async def __aenter__(self) -> Web:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def message(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self._id += 1
        params = dict(params or {})
        if self.era == MODERN:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "web", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        return {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}

    def headers(self, message: dict[str, Any]) -> dict[str, str]:
        found = {"mcp-protocol-version": self.era} if self.session or self.era == MODERN else {}
        if self.era == MODERN:
            found["mcp-method"] = message["method"]
            if name := message["params"].get("name"):
                found["mcp-name"] = name
        if self.session:
            found["mcp-session-id"] = self.session
        return found

    async def post(self, method: str, params: dict[str, Any] | None = None, **more: str) -> httpx2.Response:
        """The response as it is; `more` are headers."""
        message = self.message(method, params)
        headers = {**self.headers(message), **{key.replace("_", "-"): value for key, value in more.items()}}
        return await self.client.post(self.url, json=message, headers=headers)

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The reply to a request, from JSON or from a stream of events."""
        response = await self.post(method, params)
        assert response.status_code == 200, (response.status_code, response.text)
        self.session = response.headers.get("mcp-session-id", self.session) if self.era != MODERN else ""
        for reply in told(response):
            if "id" in reply and "method" not in reply:
                return reply
        raise AssertionError(response.text)

    async def hello(self) -> dict[str, Any]:
        if self.era == MODERN:
            return (await self.ask("server/discover"))["result"]
        info = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": {"name": "web", "version": "1"}}
        reply = await self.ask("initialize", info)
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        gone = await self.client.post(self.url, json=note, headers={"mcp-session-id": self.session})
        assert gone.status_code == 202
        return reply["result"]

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        reply = await self.ask("tools/call", {"name": name, "arguments": arguments})
        assert "result" in reply, reply
        return reply["result"]

    async def names(self) -> set[str]:
        return {tool["name"] for tool in (await self.ask("tools/list"))["result"]["tools"]}


def told(response: httpx2.Response) -> list[dict[str, Any]]:
    """The messages of a response."""
    if response.headers["content-type"].startswith("application/json"):
        return [response.json()]
    return [
        json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:") and line[5:].strip()
    ]


def code(result: dict[str, Any]) -> str:
    return str(result["structuredContent"]["error"]["code"]) if result.get("isError") else "ok"


# --- who gets in ---


async def test_without_a_token_nobody_gets_in_and_hears_how_to(site: Site) -> None:
    async with Web(site.url) as web:
        response = await web.post("server/discover")
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert "anydevice token add" in response.json()["error"]["message"]
    async with Web(site.url, "adt_wrong") as web:
        assert (await web.post("server/discover")).status_code == 401


@pytest.mark.parametrize("scheme", ["Basic", "bearer", "BEARER", "Token"])
async def test_only_the_bearer_scheme_counts_in_any_case(site: Site, scheme: str) -> None:
    secret = site.token()
    async with Web(site.url) as web:
        response = await web.post("server/discover", authorization=f"{scheme} {secret}")
        assert response.status_code == (200 if scheme.casefold() == "bearer" else 401)


async def test_a_page_that_came_by_another_name_is_refused_before_its_token_counts(site: Site) -> None:
    secret = site.token()
    async with Web(site.url, secret) as web:
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""):
            assert (await web.post("server/discover", host=host)).status_code == 421, host
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1"):
            assert (await web.post("server/discover", host=host)).status_code == 200, host


async def test_a_page_of_a_browser_is_refused_unless_a_person_named_its_origin() -> None:
    async with listening(origins=["https://tool.example"]) as site, Web(site.url, site.token()) as web:
        for origin in ("http://localhost:3000", "null", "https://tool.example.evil", site.url):
            assert (await web.post("server/discover", origin=origin)).status_code == 403, origin
        assert (await web.post("server/discover", origin="https://tool.example")).status_code == 200


async def test_a_revoked_token_is_out_at_once_and_what_it_left_open_ends(site: Site) -> None:
    secret = site.token()
    async with Web(site.url, secret, era=HANDSHAKE[-1]) as web:
        await web.hello()
        assert code(await web.call("open", device="fake-1")) == "ok"
        ended = anyio.Event()

        async def listen() -> None:
            headers = {"mcp-session-id": web.session, "mcp-protocol-version": web.era, "accept": "text/event-stream"}
            async with web.client.stream("GET", web.url, headers=headers) as stream:
                assert stream.status_code == 200
                opened.set()
                try:
                    async for _ in stream.aiter_bytes():
                        pass
                except httpx2.TransportError:
                    pass
            ended.set()

        opened = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            with anyio.fail_after(PATIENCE):
                await opened.wait()
            site.tokens.remove("agent")
            assert (await web.post("tools/list")).status_code == 401
            with anyio.fail_after(PATIENCE):
                await ended.wait()
                while site.router.services.sessions.all():  # and with them the lease
                    await anyio.sleep(0.05)


async def test_a_new_token_of_an_old_name_does_not_get_the_old_ones_sessions(site: Site) -> None:
    async with Web(site.url, site.token(), era=HANDSHAKE[-1]) as web:
        await web.hello()
        site.tokens.remove("agent")
        again = site.token()
        assert (await web.post("tools/list", authorization=f"Bearer {again}")).status_code == 404


async def test_a_token_file_that_others_may_read_lets_nobody_in(site: Site) -> None:
    async with Web(site.url, site.token()) as web:
        assert stat.S_IMODE(site.tokens.path.stat().st_mode) == 0o600
        assert (await web.post("server/discover")).status_code == 200
        site.tokens.path.chmod(0o644)
        site.tokens.path.write_text(site.tokens.path.read_text() + " ")
        response = await web.post("server/discover")
        assert response.status_code == 503 and "log" in response.json()["error"]["message"]
        with pytest.raises(TokenError, match="chmod 600"):
            Tokens(site.router.services.settings.data_dir).all()


def test_a_secret_is_kept_nowhere(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    secret = tokens.mint("agent")
    assert len(secret) > 40 and secret not in tokens.path.read_text()
    assert tokens.find(secret) == tokens.all()[0]
    assert tokens.find(secret[:-1]) is None and tokens.find("\ud800") is None


# --- bounds ---


async def test_who_asks_too_fast_is_told_when_to_come_back_and_others_are_not_held_up() -> None:
    async with listening(rate=1, burst=3) as site, Web(site.url, site.token("fast")) as fast:
        codes = [(await fast.post("server/discover")).status_code for _ in range(5)]
        assert codes[:3] == [200, 200, 200] and codes[-1] == 429
        refused = await fast.post("server/discover")
        assert int(refused.headers["retry-after"]) >= 1
        async with Web(site.url, site.token("calm")) as calm:
            assert (await calm.post("server/discover")).status_code == 200


async def test_a_body_over_the_bound_is_refused_and_the_next_request_is_served() -> None:
    async with listening(body=20_000) as site, Web(site.url, site.token()) as web:
        assert (await web.post("tools/call", {"name": "x" * 30_000, "arguments": {}})).status_code == 413
        head = {"authorization": web.client.headers["authorization"], "mcp-protocol-version": MODERN}

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b" " * 1000

        assert (await web.client.post(web.url, content=endless(), headers=head)).status_code == 413
        assert (await web.hello())["supportedVersions"] == [MODERN]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}', b"[" * 5000])
async def test_a_body_that_is_no_message_is_refused_and_the_next_one_served(site: Site, body: bytes) -> None:
    async with Web(site.url, site.token()) as web:
        head = {"mcp-protocol-version": MODERN, "content-type": "application/json"}
        response = await web.client.post(web.url, content=body, headers=head)
        assert response.status_code == 400, response.text
        assert (await web.hello())["supportedVersions"] == [MODERN]


@pytest.mark.parametrize("path", ["/", "/mcp/nothing", "/mcp/core/more", "/other", "/mcpx"])
async def test_another_path_is_not_found(site: Site, path: str) -> None:
    async with Web(site.url.removesuffix("/mcp") + path, site.token()) as web:
        assert (await web.post("server/discover")).status_code == 404


async def test_a_session_that_nobody_uses_ends_with_what_it_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "IDLE_MARGIN", 0.2)
    async with listening(idle=1) as site, Web(site.url, site.token(), era=HANDSHAKE[-1]) as web:
        await web.hello()
        assert code(await web.call("open", device="fake-1")) == "ok"
        assert site.router.services.sessions.all()
        with anyio.fail_after(PATIENCE):
            while site.router.services.sessions.all():
                await anyio.sleep(0.05)
        assert (await web.post("tools/list")).status_code == 404


# --- as whom ---


async def test_a_token_that_may_only_read_is_shown_what_reads_and_refused_the_rest(site: Site) -> None:
    async with Web(site.url, site.token("reader", scope="read")) as web:
        names = await web.names()
        assert {"devices", "snapshot", "command-read"} <= names
        assert not {"press", "open", "fill", "command-run"} & names
        assert code(await web.call("devices")) == "ok"
        assert code(await web.call("open", device="fake-1")) == "refused"
        for runner in ("command-read", "command-run"):
            inner = await web.ask(
                "tools/call", {"name": runner, "arguments": {"name": "open", "arguments": {"device": "fake-1"}}}
            )
            assert code(inner["result"]) == "refused", inner
        assert not site.router.services.sessions.all()


async def test_two_tokens_are_two_principals_and_see_only_that_a_device_is_held(site: Site) -> None:
    async with Web(site.url, site.token("one")) as one, Web(site.url, site.token("two")) as two:
        opened = await one.call("open", device="fake-1")
        session = opened["structuredContent"]["session"]
        taken = await two.call("open", device="fake-1")
        assert code(taken) == "lease_held" and session not in json.dumps(taken)
        assert code(await two.call("snapshot", session=session)) in ("session_not_found", "lease_held")
        assert code(await one.call("snapshot", session=session)) == "ok"


async def test_nobody_takes_a_device_over_by_http_not_even_an_administrator(site: Site) -> None:
    async with Web(site.url + "/all", site.token("boss", scope="admin")) as web:
        names = await web.names()
        assert not {name for name in names if "takeover" in name or "give-back" in name}
        reply = told(await web.post("tools/call", {"name": "takeover", "arguments": {"device": "fake-1"}}))[-1]
        assert "no command" in reply["error"]["message"]
        inner = await web.ask(
            "tools/call", {"name": "command-run", "arguments": {"name": "takeover", "arguments": {"device": "fake-1"}}}
        )
        assert code(inner["result"]) == "unknown_command"


# --- to what ---


@pytest.mark.parametrize("era", [HANDSHAKE[-1], MODERN])
async def test_the_address_chooses_the_tools(site: Site, era: str) -> None:
    secret = site.token()
    async with Web(site.url, secret, era=era) as web:
        await web.hello()
        assert await web.names() - {"toolset"} == DEFAULT_TOOLS
    for word in ("files", "tv"):
        async with Web(f"{site.url}/{word}", secret, era=era) as web:
            await web.hello()
            assert await web.names() - {"toolset"} == TOOLSETS[word]


async def test_a_tokens_own_toolset_counts_more_than_the_address(site: Site) -> None:
    async with Web(site.url + "/nothing", site.token("bound", toolset="tv")) as web:
        refused = await web.post("tools/list")
        assert refused.status_code == 404 and "ownership" in refused.json()["error"]["message"]
    async with Web(site.url + "/all", site.token("tv", toolset="tv")) as web:
        assert await web.names() == TOOLSETS["tv"]


async def test_toolset_widens_the_list_of_one_session_only_and_not_in_the_newer_era(site: Site) -> None:
    secret = site.token()
    async with Web(site.url, secret, era=HANDSHAKE[-1]) as one, Web(site.url, secret, era=HANDSHAKE[-1]) as two:
        await one.hello()
        await two.hello()
        wider = await one.call("toolset", enable="files")
        assert wider["structuredContent"]["toolsets"] == ["core", "files"]
        assert await one.names() == DEFAULT_TOOLS | TOOLSETS["files"] | {"toolset"}
        assert await two.names() == DEFAULT_TOOLS | {"toolset"}
    async with Web(site.url, secret) as modern:
        assert "toolset" not in await modern.names()
        reply = told(await modern.post("tools/call", {"name": "toolset", "arguments": {"enable": "files"}}))[-1]
        assert reply["error"]["code"] == -32602


# --- sessions of both eras ---


async def test_in_the_handshake_era_the_connection_has_its_session_and_deleting_it_frees_the_device(site: Site) -> None:
    secret = site.token()
    async with Web(site.url, secret, era=HANDSHAKE[-1]) as one, Web(site.url, secret, era=HANDSHAKE[-1]) as two:
        await one.hello()
        await two.hello()
        assert one.session != two.session
        assert code(await one.call("open", device="fake-1")) == "ok"
        assert code(await one.call("snapshot")) == "ok"
        assert code(await two.call("open", device="fake-1")) == "lease_held"
        gone = await one.client.delete(
            one.url, headers={"mcp-session-id": one.session, "mcp-protocol-version": one.era}
        )
        assert gone.status_code == 200
        with anyio.fail_after(PATIENCE):
            while site.router.services.sessions.all():
                await anyio.sleep(0.02)
        assert code(await two.call("open", device="fake-1")) == "ok"


async def test_another_tokens_connection_looks_like_none(site: Site) -> None:
    async with Web(site.url, site.token("one"), era=HANDSHAKE[-1]) as one:
        await one.hello()
        async with Web(site.url, site.token("two"), era=HANDSHAKE[-1]) as two:
            two.session = one.session
            assert (await two.post("tools/list")).status_code == 404
        assert await one.names()


async def test_in_the_modern_era_open_answers_with_the_session_to_name_from_then_on(site: Site) -> None:
    async with Web(site.url, site.token()) as web:
        opened = await web.call("open", device="fake-1")
        handle = opened["structuredContent"]["session"]
        assert len(handle) > 20
        assert code(await web.call("snapshot", session=handle)) == "ok"
        lost = await web.call("snapshot")  # nothing ties this call to the one before
        assert code(lost) != "ok" and "session" in json.dumps(lost)
        other = (await web.call("open", device="fake-2"))["structuredContent"]["session"]
        assert other != handle
        assert code(await web.call("close", session=handle)) == "ok"


async def test_a_single_call_of_the_modern_era_leaves_no_device_held(site: Site) -> None:
    async with Web(site.url, site.token()) as web:
        await web.call("boot", device="fake-1")
        inner = {"name": "capabilities", "arguments": {"device": "fake-1"}}
        assert code((await web.ask("tools/call", {"name": "command-read", "arguments": inner}))["result"]) == "ok"
        with anyio.fail_after(PATIENCE):
            while site.router.services.sessions.all():
                await anyio.sleep(0.02)


async def test_a_client_that_goes_away_stops_what_it_asked_for(site: Site) -> None:
    async with Web(site.url, site.token()) as web:
        with anyio.move_on_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(web.call, "test-slow")
                while not site.watched.started:
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
        with anyio.fail_after(PATIENCE):
            while not site.watched.cancelled:
                await anyio.sleep(0.01)
        assert not site.watched.ended


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_sdks_own_client_works_in_both_eras(site: Site, mode: Any) -> None:
    headers = {"authorization": f"Bearer {site.token()}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(site.url, http_client=http), mode=mode) as client,
    ):
        assert {tool.name for tool in (await client.list_tools()).tools} - {"toolset"} == DEFAULT_TOOLS
        result = await client.call_tool("open", {"device": "fake-1"})
        assert not result.is_error


async def test_many_clients_at_once_wait_only_for_their_own_device() -> None:
    async with listening(burst=10_000, rate=1000) as site:
        slow = Web(site.url, site.token("slow"))
        async with slow, anyio.create_task_group() as group:
            group.start_soon(slow.call, "test-slow")
            with anyio.fail_after(PATIENCE):
                while not site.watched.started:
                    await anyio.sleep(0.01)
            secret, done = site.token("many"), 0

            async def one(number: int) -> None:
                nonlocal done
                async with Web(site.url, secret, era=(HANDSHAKE[-1], MODERN)[number % 2]) as web:
                    await web.hello()
                    result = await web.call("test-show", data={"number": number})
                    assert result["structuredContent"]["number"] == number
                    done += 1

            with anyio.fail_after(PATIENCE * 2):
                async with anyio.create_task_group() as clients:
                    for number in range(20):
                        clients.start_soon(one, number)
            assert done == 20 and not site.watched.ended
            group.cancel_scope.cancel()


# --- set up wrongly ---


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"http": {"port": 70000}}, "port"),
        ({"http": {}}, "port"),
        ({"http": {"port": 0, "host": "0.0.0.0"}}, "hosts"),
        ({"http": {"port": 0, "host": "::"}}, "hosts"),
        ({"http": {"port": 0, "host": "somewhere"}}, "address"),
        ({"http": {"port": 0, "token": "x"}}, "unknown key"),
        ({"http": {"port": True}}, "port"),
        ({"http": {"port": 0, "rate": 0}}, "rate"),
        ({"other": {}}, "unknown key"),
        ({"http": []}, "table"),
        ([], "table"),
    ],
)
def test_a_table_that_means_nothing_or_lets_everybody_in_is_refused(table: Any, says: str) -> None:
    with pytest.raises(ChoiceError, match=says):
        read_choices(table)


async def test_a_port_that_is_taken_is_told_and_the_rest_goes_on(site: Site) -> None:
    port = int(site.url.split(":")[2].split("/")[0])
    async with fake_router(tables={"mcp": {"http": {"port": port}}}) as (router, _):
        facade = McpFacade()
        async with anyio.create_task_group() as group:
            group.start_soon(facade.run, router)
            with anyio.fail_after(PATIENCE):
                while not facade.told:
                    await anyio.sleep(0.01)
            assert str(port) in facade.told["httpFailed"] and not facade.stays
            group.cancel_scope.cancel()


async def test_what_is_set_wrongly_is_told_and_nothing_listens() -> None:
    async with listening(host="0.0.0.0") as site:
        assert not site.url and "hosts" in site.facade.told["httpFailed"]
