"""The Python client, blocking and asynchronous, against real daemons."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.client import Answer, AsyncClient, Client, connect
from anydevice.client._answer import command_name, merge, wire_name
from anydevice.places import CALLER_PATH
from anydevice_schemas.errors import (
    CallCancelled,
    CallTimeout,
    ConfirmationRequired,
    ConnectionLost,
    InvalidArgument,
    LeaseHeld,
    OutcomeUnknown,
    Refused,
    UnknownCommand,
    UpstreamUnavailable,
)

from ..support.daemons import PATIENCE, Home, eventually

pytestmark = pytest.mark.daemon


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(autouse=True)
def this_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that a client of this process starts finds the tests' distributions."""
    used = "home" if "home" in request.fixturenames else "shared"
    home: Home = request.getfixturevalue(used)
    for name in ("ANYDEVICE_HOME", "PYTHONPATH"):
        monkeypatch.setenv(name, home.environ[name])


@pytest.fixture
def client(daemon: Home) -> Iterator[Client]:
    with connect() as made:
        yield made


def test_every_command_is_a_method_and_its_answer_an_object(client: Client) -> None:
    answer = client.vendor_say(text="hi", times=2)
    assert isinstance(answer, Answer) and answer.ok is True
    assert answer.data["said"] == "hihi" and answer["data"]["said"] == "hihi"
    assert (answer.command, answer.device, answer.verified, answer.notices) == ("vendor-say", None, None, [])
    assert client.call("say", text="x").data == client.call("say", {"text": "x"}).data


def test_the_answer_names_the_device_that_acted(client: Client) -> None:
    answer = client.appstate(device="fake-1", response_level="full", include_cost=True)
    assert answer.device is not None
    assert (answer.device.id, answer.device.key, answer.device.platform) == ("fake-1", "fake:fake-1", "fake")
    assert answer.session is not None and answer.session.startswith("auto-")
    assert answer.cost.wall_clock_ms == answer["cost"]["wallClockMs"]
    assert answer.selection.reason == "selectors"
    with pytest.raises(AttributeError, match="no field 'nonsense'"):
        answer.nonsense


def test_a_refusal_is_raised_as_its_own_type_with_the_answer_in_it(client: Client) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client.say(text="x", tims=2)
    assert caught.value.details["param"] == "tims"
    assert caught.value.answer is not None and caught.value.answer["ok"] is False
    with pytest.raises(UnknownCommand) as unknown:
        client.vendor_sya()
    assert "vendor-say" in unknown.value.details["nearest"]
    with pytest.raises(ConfirmationRequired):
        client.vendor_wipe()


def test_names_become_the_wires() -> None:
    assert [wire_name(n) for n in ("timeout_ms", "text", "x", "android_device_allowlist", "class_", "fromX")] == [
        "timeoutMs", "text", "x", "androidDeviceAllowlist", "class", "fromX",
    ]  # fmt: skip
    assert [command_name(n) for n in ("press", "is_", "trigger_app_event")] == ["press", "is", "trigger-app-event"]
    assert merge({"timeoutMs": 1}, {"no_record": True, "text": None}) == {"timeoutMs": 1, "noRecord": True}
    with pytest.raises(TypeError, match="timeoutMs is given twice"):
        merge({"timeoutMs": 1}, {"timeout_ms": 2})


def test_progress_is_told_in_the_calling_thread(client: Client, mark: Path) -> None:
    seen: list[tuple[float | None, str, int]] = []
    client.vendor_slow(
        mark=str(mark),
        seconds=0.4,
        progress=lambda done, message: seen.append((done, message, threading.get_ident())),
    )
    assert len(seen) >= 3
    assert {thread for _, _, thread in seen} == {threading.get_ident()}


@pytest.mark.parametrize(("name", "error"), [("vendor_slow", CallTimeout), ("vendor_change", OutcomeUnknown)])
def test_a_deadline_ends_the_call_and_the_connection_lives_on(
    client: Client, mark: Path, name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        getattr(client, name)(mark=str(mark), deadline=1.5)  # it has begun by then
    assert mark.read_text().split() == ["started", "cancelled"]
    assert client.say(text="x").ok


def test_threads_share_a_client_and_their_calls_run_beside_one_another(client: Client, tmp_path: Path) -> None:
    answers: dict[int, str] = {}

    def work(number: int) -> None:
        if number % 2:
            client.vendor_slow(mark=str(tmp_path / str(number)), seconds=2.0)
        answers[number] = client.say(text=str(number)).data["said"]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    before = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert answers == {number: str(number) for number in range(12)}
    # One after the other, six waits of 2 s take 12 s at least.
    assert time.monotonic() - before < 12.0


def test_an_interrupted_call_is_ended_in_the_daemon(daemon: Home, mark: Path) -> None:
    code = (
        "import sys\nfrom anydevice.client import connect\n"
        f"connect().vendor_slow(mark={str(mark)!r})"
    )  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", code], env=daemon.environ, stderr=subprocess.PIPE)
    daemon.started.append(process)
    eventually(mark.exists, "it runs")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    eventually(lambda: mark.read_text().split() == ["started", "cancelled"], "it ends")


def test_the_daemons_own_operations_are_under_host(client: Client, daemon: Home) -> None:
    assert client.host.status()["pid"] == daemon.pid
    assert client.greeting["pid"] == daemon.pid
    assert any(c["name"] == "vendor-say" for c in client.host.catalogue()["commands"])
    made = client.vendor_file().artefacts[0]
    assert client.host.artefact(made.name) == b"\x89PNG test"
    with pytest.raises(ConfirmationRequired) as asked:
        client.vendor_wipe()
    token = asked.value.details["token"]
    for asks in (client.host.pending, lambda: client.host.approve(token)):
        with pytest.raises(Refused):  # a program does not confirm for itself
            asks()
    with Client(transport="cli") as person:
        assert token in [entry["token"] for entry in person.host.pending()]
        person.host.approve(token)
    assert client.vendor_wipe(confirm_token=token).data == {"wiped": True}


def test_working_directory_and_environment_are_those_of_the_client(daemon: Home, tmp_path: Path) -> None:
    with Client(cwd=str(tmp_path), environ={"ANDROID_SERIAL": "abc", "PATH": "/bin"}) as client:
        data = client.say(text="x").data
    assert (data["cwd"], data["env"]) == (str(tmp_path), {"ANDROID_SERIAL": "abc", CALLER_PATH: "/bin"})
    assert data["scopes"] == ["read", "act"]


def test_two_clients_are_two_callers(daemon: Home) -> None:
    with Client() as one, Client() as two:
        one.appstate(device="fake-2")
        with pytest.raises(LeaseHeld):
            two.appstate(device="fake-2")
        one.disconnect()
        eventually(lambda: _succeeds(lambda: two.appstate(device="fake-2")), "the device is free")


def _succeeds(call: Any) -> bool:
    try:
        call()
    except LeaseHeld:
        return False
    return True


def test_a_client_starts_a_daemon_when_none_runs_and_not_when_told_not_to(home: Home) -> None:
    with pytest.raises(UpstreamUnavailable) as none:
        Client(start=False)
    assert none.value.details["enable_hint"] == "anydevice serve"
    assert not home.running()
    with Client() as client:
        assert client.say(text="x").data["pid"] == home.pid


def test_a_call_the_daemon_dies_under_is_lost_and_the_next_one_reaches_a_new_daemon(home: Home, mark: Path) -> None:
    with Client() as client:
        client.appstate(device="fake-1")

        def kill() -> None:
            eventually(mark.exists, "it runs")
            os.kill(home.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(ConnectionLost) as lost:
            client.vendor_slow(mark=str(mark))
        killer.join()
        assert lost.value.details["may_have_acted"] is True
        (told,) = client.appstate().notices
        assert (told["kind"], told["device"]) == ("daemon_restarted", "fake:fake-1")
        assert client.appstate().notices == []


def test_a_call_the_daemon_had_not_read_is_made_once_by_the_next_one(home: Home) -> None:
    with Client() as client:
        first = client.say(text="x").data["pid"]
        link = client._open()
        before = link.last
        os.kill(first, signal.SIGSTOP)  # it reads nothing any more

        def kill() -> None:
            eventually(lambda: link.last != before, "it is sent")
            os.kill(first, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        said = client.say(text="on").data
        killer.join()
        assert said["said"] == "on" and said["pid"] != first


def test_a_daemon_that_was_replaced_between_calls_is_noticed_before_the_call(home: Home) -> None:
    with Client() as client:
        first = client.say(text="x").data["pid"]
        home.json("stop")
        assert client.say(text="x").data["pid"] != first


def test_importing_the_client_costs_the_standard_library_only() -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nimport anydevice.client\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == "['anydevice', 'anydevice_schemas']"


# --- asynchronous ---


@pytest.mark.anyio
async def test_async_commands_are_methods_and_raise_their_own_types(daemon: Home) -> None:
    async with AsyncClient() as client:
        answer = await client.vendor_say(text="hi", times=3)
        assert answer.data["said"] == "hihihi"
        acted = await client.appstate(device="fake-1")
        assert acted.device is not None and acted.device.key == "fake:fake-1"
        with pytest.raises(InvalidArgument):
            await client.say(text=7)
        assert (await client.host.status())["pid"] == daemon.pid
        made = (await client.vendor_file()).artefacts[0]
        assert await client.host.artefact(made.uri) == b"\x89PNG test"


@pytest.mark.anyio
async def test_async_calls_run_beside_one_another_and_progress_may_be_awaited(daemon: Home, tmp_path: Path) -> None:
    seen: list[str] = []

    async def progress(done: float | None, message: str) -> None:
        await anyio.sleep(0)
        seen.append(message)

    async with AsyncClient() as client, anyio.create_task_group() as group:
        before = anyio.current_time()
        for number in range(8):
            group.start_soon(
                lambda n=number: client.call("vendor-slow", mark=str(tmp_path / str(n)), seconds=1.5, progress=progress)
            )
        with anyio.fail_after(PATIENCE):
            while len([p for p in tmp_path.iterdir() if "done" in p.read_text()]) < 8:
                await anyio.sleep(0.02)
        assert anyio.current_time() - before < 12.0  # one after the other they take that at least
        group.cancel_scope.cancel()
    assert len(seen) > 8


@pytest.mark.anyio
async def test_cancelling_the_task_ends_the_call_in_the_daemon(daemon: Home, mark: Path) -> None:
    async with AsyncClient() as client:
        scope = anyio.CancelScope()

        async def cancel() -> None:
            while not mark.exists():
                await anyio.sleep(0.01)
            scope.cancel()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(cancel)
                with scope:
                    await client.vendor_slow(mark=str(mark))
        assert scope.cancelled_caught
        with anyio.fail_after(PATIENCE):
            while mark.read_text().split() != ["started", "cancelled"]:
                await anyio.sleep(0.02)
        assert (await client.say(text="on")).ok


@pytest.mark.anyio
async def test_leaving_an_async_client_ends_what_it_started(daemon: Home, mark: Path) -> None:
    async with anyio.create_task_group() as group:
        client = AsyncClient()
        async with client:
            group.start_soon(_ignoring, client, str(mark))
            while not mark.exists():
                await anyio.sleep(0.01)
        with anyio.fail_after(PATIENCE):
            while mark.read_text().split() != ["started", "cancelled"]:
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()


async def _ignoring(client: AsyncClient, mark: str) -> None:
    try:
        await client.vendor_slow(mark=mark)
    except (ConnectionLost, CallCancelled):
        return


@pytest.mark.anyio
async def test_an_async_call_the_daemon_dies_under_is_lost_and_the_next_one_works(home: Home, mark: Path) -> None:
    async with AsyncClient() as client:

        async def kill() -> None:
            while not mark.exists():
                await anyio.sleep(0.01)
            os.kill(home.pid, signal.SIGKILL)

        async with anyio.create_task_group() as group:
            group.start_soon(kill)
            with pytest.raises(ConnectionLost):
                await client.vendor_slow(mark=str(mark))
        assert (await client.say(text="again")).data["said"] == "again"


@pytest.mark.anyio
async def test_an_async_call_the_daemon_had_not_read_is_made_once_by_the_next_one(home: Home) -> None:
    async with AsyncClient() as client:
        first = (await client.say(text="x")).data["pid"]
        before = client._last
        os.kill(first, signal.SIGSTOP)

        async def kill() -> None:
            while client._last == before:
                await anyio.sleep(0.01)
            os.kill(first, signal.SIGKILL)

        async with anyio.create_task_group() as group:
            group.start_soon(kill)
            said = (await client.say(text="on")).data
        assert said["said"] == "on" and said["pid"] != first


@pytest.mark.anyio
async def test_an_async_client_says_when_there_is_no_daemon(home: Home) -> None:
    with pytest.raises(UpstreamUnavailable):
        async with AsyncClient(start=False):
            pass
    with pytest.raises(RuntimeError, match="async with"):
        await AsyncClient().say(text="x")
