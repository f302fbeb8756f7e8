"""Installing and removing apps, from files and from addresses; judged by the device's disk and by the server."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import App
from anydevice.testing import FakeBackend, ReferenceBackend, call, caller, fake_router
from anydevice.testing.disk import FakeDisk
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio
APP = "com.example.notes"
PACKAGE = json.dumps({"package": APP, "name": "Notes"}).encode()


class One:
    """A router with two phones, calls on the first, and a folder with a package in it."""

    def __init__(self, router: Any, backend: FakeBackend, cwd: Path) -> None:
        self.router, self.backend, self.cwd = router, backend, cwd
        self.by = caller(cwd=str(cwd))

    @property
    def disk(self) -> FakeDisk:
        return self.backend.disks["fake-1"]

    @property
    def workplaces(self) -> list[Path]:
        """What is left of the folders in which packages are prepared."""
        folder = self.router.services.settings.run_dir / "packages"
        return list(folder.iterdir()) if folder.exists() else []

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, by=self.by, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "hint": answer.error.hint, **answer.error.details}

    async def confirmed(self, command: str, **arguments: Any) -> Answer:
        """A call that a person approves."""
        asked = await self.refused(command, **arguments)
        assert asked["code"] == "confirmation_required", asked
        self.router.services.policy.approve(asked["token"])
        return await self(command, confirmToken=asked["token"], **arguments)


@pytest.fixture
async def phone(anyio_backend: str, tmp_path: Path) -> AsyncIterator[One]:
    cwd = tmp_path / "project"
    cwd.mkdir()
    (cwd / "notes.package").write_bytes(PACKAGE)
    backend = FakeBackend(["fake-1", "other"], cleans=True)
    async with fake_router(backend, private_hosts=("127.0.0.1",)) as (router, _):
        one = One(router, backend, cwd)
        yield one
        assert one.workplaces == []
    assert backend.disks["other"].journal == [], "the other device was touched"


async def test_an_app_is_installed_updated_and_read_back(phone: One) -> None:
    answer = await phone("install", path="notes.package")
    assert answer.verified is True and answer.data == {"app": APP, "updated": False}
    assert phone.disk.packages == {APP: "Notes"}
    phone.disk.write(f"/storage/{APP}.data", b"kept")
    assert (await phone("install", path="notes.package")).data == {"app": APP, "updated": True}


async def test_an_install_that_says_so_and_does_not_is_unverified(phone: One) -> None:
    phone.backend.fault.swallow.add("apps.install")
    assert (await phone.refused("install", path="notes.package"))["code"] == "action_unverified"


async def test_what_is_no_package_or_not_the_callers_is_refused(phone: One) -> None:
    (phone.cwd / "text.package").write_text("hello")
    assert (await phone.refused("install", path="text.package"))["code"] == "invalid_argument"
    assert (await phone.refused("install", path="none.package"))["code"] == "path_not_found"
    assert (await phone.refused("install", path="/etc/passwd"))["code"] == "path_refused"
    assert phone.disk.packages == {} and phone.disk.journal == []


@pytest.mark.parametrize("word", [APP, APP.upper(), "notes", "NOTES"])
async def test_an_app_goes_by_id_or_name_once_a_person_approved(phone: One, word: str) -> None:
    await phone("install", path="notes.package")
    answer = await phone.confirmed("uninstall", app=word)
    assert answer.verified is True and answer.data == {"app": APP}
    assert phone.disk.packages == {}


async def test_what_is_not_installed_cannot_go_and_the_nearest_are_told(phone: One) -> None:
    await phone("install", path="notes.package")
    answer = await phone.confirmed("uninstall", app="com.example.note")
    assert answer.error is not None and answer.error.code == "app_not_found"
    assert APP in answer.error.details["nearest_matches"]


async def test_several_apps_of_one_name_are_told_apart_by_their_ids(phone: One) -> None:
    phone.disk.packages |= {"a.notes": "Notes", "b.notes": "Notes"}
    answer = await phone.confirmed("uninstall", app="Notes")
    assert answer.error is not None and answer.error.code == "ambiguous_element"
    ids = [candidate["id"] for candidate in answer.error.details["candidates"]]
    assert ids == ["a.notes", "b.notes"] and len(phone.disk.packages) == 2
    assert (await phone.confirmed("uninstall", app=ids[1])).ok and list(phone.disk.packages) == ["a.notes"]


async def test_an_uninstall_that_says_so_and_does_not_is_unverified(phone: One) -> None:
    await phone("install", path="notes.package")
    phone.backend.fault.swallow.add("apps.uninstall")
    answer = await phone.confirmed("uninstall", app=APP)
    assert answer.error is not None and answer.error.code == "action_unverified"


async def test_reinstall_takes_the_data_away_and_works_without_a_first_install(phone: One) -> None:
    answer = await phone.confirmed("reinstall", app=APP, path="notes.package")
    assert answer.data == {"app": APP, "updated": False, "removed": False}
    phone.disk.write(f"/storage/{APP}.data", b"old")
    answer = await phone.confirmed("reinstall", app="Notes", path="notes.package")
    assert answer.data == {"app": APP, "updated": False, "removed": True}
    assert phone.disk.files[f"/storage/{APP}.data"].data == b""
    assert [what for what, _ in phone.disk.journal] == ["install", "uninstall", "install"]


async def test_a_reinstall_that_fails_half_way_says_that_the_app_is_gone(phone: One) -> None:
    await phone("install", path="notes.package")
    (phone.cwd / "bad.package").write_text("no package")
    answer = await phone.confirmed("reinstall", app=APP, path="bad.package")
    assert answer.error is not None and answer.error.code == "invalid_argument"
    assert answer.error.details["removed"] == APP and phone.disk.packages == {}
    missing = await phone.confirmed("reinstall", app=APP, path="none.package")  # found out before anything goes
    assert missing.error is not None and "removed" not in missing.error.details


async def test_a_package_of_another_app_is_told(phone: One) -> None:
    phone.disk.packages["other.app"] = "Other"
    answer = await phone.confirmed("reinstall", app="Other", path="notes.package")
    assert answer.error is not None and answer.error.code == "action_unverified"
    assert (answer.error.details["expected"], answer.error.details["actual"]) == ("other.app", APP)


async def test_without_a_list_of_apps_nothing_is_claimed(phone: One) -> None:
    phone.backend.down = {"apps.list": "out of order"}
    answer = await phone("install", path="notes.package")
    assert answer.verified is False and answer.data == {"app": APP}
    answer = await phone.confirmed("uninstall", app=APP)
    assert answer.verified is False and phone.disk.packages == {}


async def test_a_device_that_tells_no_id_is_asked_what_is_new(phone: One, monkeypatch: pytest.MonkeyPatch) -> None:
    from anydevice.driver import Acted
    from anydevice.testing.storing import Installing

    sound = Installing.install

    async def install(self: Any, path: str, *, deadline: float) -> Acted:
        return Acted((await sound(self, path, deadline=deadline)).method)

    monkeypatch.setattr(Installing, "install", install)
    assert (await phone("install", path="notes.package")).data == {"app": APP, "updated": False}
    again = await phone("install", path="notes.package")
    assert again.verified is False and again.data == {}
    assert isinstance(App(APP), App)


# --- from a source ---


@contextmanager
def serving(data: bytes, asked: list[str], pause: float = 0.0) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                for at in range(0, len(data), 65536):
                    self.wfile.write(data[at : at + 65536])
                    time.sleep(pause)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def test_a_package_comes_from_an_address_and_has_to_be_the_one_that_was_meant(phone: One) -> None:
    asked: list[str] = []
    right = hashlib.sha256(PACKAGE).hexdigest()
    with serving(PACKAGE, asked) as host:
        source = f"http://{host}/notes.package?token=secret"
        refused = await phone.refused("install-from-source", source=source, sha256="0" * 64)
        assert (refused["code"], refused["actual"]) == ("refused", right)
        assert phone.disk.packages == {} and phone.disk.journal == []
        answer = await phone("install-from-source", source=source, sha256=right.upper())
    assert answer.verified is True and answer.data["app"] == APP
    assert (answer.data["sha256"], answer.data["bytes"]) == (right, len(PACKAGE))
    assert answer.data["from"] == f"http://{host}/notes.package"
    assert phone.disk.packages == {APP: "Notes"} and len(asked) == 2


async def test_private_addresses_are_refused_unless_configured(tmp_path: Path) -> None:
    asked: list[str] = []
    with serving(PACKAGE, asked) as host:
        async with fake_router(FakeBackend(["fake-1"])) as (router, backend):
            one = One(router, backend, tmp_path)
            refused = await one.refused("install-from-source", source=f"http://{host}/x")
            assert refused["code"] == "refused" and refused["reason"] == "a private address"
            assert one.workplaces == []
    assert asked == [] and backend.disks["fake-1"].journal == []


async def test_a_download_whose_caller_left_leaves_nothing(phone: One) -> None:
    asked: list[str] = []
    with serving(PACKAGE * 100_000, asked, pause=0.05) as host, anyio.move_on_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: phone("install-from-source", source=f"http://{host}/x.package"))
            while not any(path.stat().st_size for folder in phone.workplaces for path in folder.iterdir()):
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    assert asked and phone.workplaces == [] and phone.disk.journal == []


@pytest.mark.parametrize("source", ["file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:alert(1)", "data:,x"])
async def test_other_addresses_are_refused(phone: One, source: str) -> None:
    assert (await phone.refused("install-from-source", source=source))["code"] == "invalid_argument"
    assert phone.disk.journal == []


async def test_an_archive_with_one_app_is_unpacked_and_a_bad_one_is_not_used(phone: One) -> None:
    with zipfile.ZipFile(phone.cwd / "build.zip", "w") as archive:
        archive.writestr("notes.package", PACKAGE)
    answer = await phone("install-from-source", source="build.zip")
    assert answer.data["app"] == APP and answer.data["sha256"]
    with zipfile.ZipFile(phone.cwd / "evil.zip", "w") as archive:
        archive.writestr("../../notes.package", PACKAGE)
    refused = await phone.refused("install-from-source", source="evil.zip")
    assert refused["code"] == "refused" and refused["reason"] == "a member that leads outside of it"
    with zipfile.ZipFile(phone.cwd / "two.zip", "w") as archive:
        archive.writestr("one.package", PACKAGE)
        archive.writestr("two.package", PACKAGE)
    assert (await phone.refused("install-from-source", source="two.zip"))["found"] == 2
    assert [what for what, _ in phone.disk.journal] == ["install"]


async def test_a_path_as_source_keeps_to_the_callers_folders(phone: One) -> None:
    (phone.cwd / "folder").mkdir()
    assert (await phone.refused("install-from-source", source="/etc/passwd"))["code"] == "path_refused"
    assert (await phone.refused("install-from-source", source="folder", sha256="0" * 64))["param"] == "sha256"
    assert (await phone("install-from-source", source="notes.package")).data["app"] == APP


# --- the list ---


async def test_apps_are_listed_what_is_in_front_first(phone: One) -> None:
    phone.disk.packages |= {"b.app": "Zebra", "a.app": "", "c.app": "Éclair"}
    answer = await phone("apps")
    assert answer.data["count"] == 4 and answer.verified is None
    assert [row["id"] for row in answer.data["apps"]][1:] == ["a.app", "b.app", "c.app"]
    assert answer.data["apps"][0]["foreground"] is True and "name" not in answer.data["apps"][1]
    assert [row["id"] for row in (await phone("apps", name="ZEB")).data["apps"]] == ["b.app"]
    assert [row["id"] for row in (await phone("apps", name=".app", running=False, limit=2)).data["apps"]] == [
        "a.app", "b.app",
    ]  # fmt: skip
    assert (await phone("apps", limit=1)).truncated == ["3 apps (limit 1)"]


async def test_nobody_is_asked_to_approve_what_a_device_cannot_do(tmp_path: Path) -> None:
    backend = ReferenceBackend(classes=("desktop",))
    async with fake_router(backend, home=tmp_path) as (router, _):
        answer = await router.call(call("uninstall", device="desktop-1", app=APP))
        assert answer.error is not None and answer.error.code == "unsupported"
        assert answer.error.details["missing"] == {"apps.uninstall": "not declared for this device"}
        assert router.services.policy.pending() == []
