"""Requests of apps that log them: read from lines of the log, listed for one app or for all, and never made up."""

from __future__ import annotations

import pytest

from anydevice_android.reading.requests import requests
from anydevice_lab.android import Lab

from .rig import PRACTICE, Rig, eventually

pytestmark = pytest.mark.anyio
TAG = "okhttp.OkHttpClient"


def log(*lines: tuple[int, int, str], tag: str = TAG) -> list[str]:
    """Lines of `logcat -v epoch`, one a millisecond: process, thread, text."""
    return [
        f"1700000000.{number:03d} {pid:5d} {tid:5d} I {tag}: {text}" for number, (pid, tid, text) in enumerate(lines, 1)
    ]


def test_a_request_and_its_answer_are_one() -> None:
    found = requests(
        log(
            (10, 11, "--> POST https://a.example/items (3-byte body)"),
            (10, 11, "<-- 201 Created https://a.example/items (22ms, 6-byte body)"),
        )
    )
    assert found == [
        {
            "method": "POST", "url": "https://a.example/items", "time": 1700000000.001, "pid": 10, "sentBytes": 3,
            "status": 201, "ms": 22, "bytes": 6,
        }
    ]  # fmt: skip


def test_requests_side_by_side_are_told_apart_by_their_threads() -> None:
    same = "https://a.example/x"
    found = requests(
        log(
            (10, 11, f"--> GET {same} http/1.1"),
            (10, 12, f"--> GET {same} http/1.1"),
            (10, 12, f"<-- 404 Not Found {same} (2ms, unknown-length body)"),
            (10, 11, f"<-- 200 {same} (9ms)"),
        )
    )
    assert [(row["status"], row["ms"], "bytes" in row) for row in found] == [(200, 9, False), (404, 2, False)]


def test_an_answer_on_another_thread_is_found_by_its_address() -> None:
    found = requests(
        log(
            (10, 11, "--> GET https://a.example/1"),
            (10, 11, "--> GET https://a.example/2"),
            (10, 15, "<-- 200 OK https://a.example/1 (5ms, 1-byte body)"),
        )
    )
    assert [row.get("status") for row in found] == [200, None]


def test_headers_and_bodies_between_are_no_requests_and_tell_the_size() -> None:
    found = requests(
        log(
            (10, 11, "--> PUT http://c.example/ http/1.1"),
            (10, 11, "Content-Type: application/json"),
            (10, 11, '{"said": "--> GET http://not.example/"}'),
            (10, 11, "--> END PUT (12-byte body)"),
            (10, 11, "<-- 200 OK http://c.example/ (5ms)"),
            (10, 11, "<-- END HTTP (7-byte body)"),
        )
    )
    assert [(row["method"], row["url"], row["bytes"]) for row in found] == [("PUT", "http://c.example/", 7)]


def test_a_request_that_failed_says_why_and_one_without_an_answer_has_no_status() -> None:
    found = requests(
        log(
            (10, 11, "--> GET http://b.example/ h2"),
            (10, 11, "<-- HTTP FAILED: java.net.SocketTimeoutException: timeout"),
            (10, 11, "--> GET http://b.example/again h2"),
        )
    )
    assert found[0]["error"] == "java.net.SocketTimeoutException: timeout" and "status" not in found[0]
    assert not {"status", "error"} & found[1].keys()


def test_an_answer_whose_request_is_gone_from_the_log_is_told_without_its_method() -> None:
    (row,) = requests(log((10, 11, "<-- 200 OK https://a.example/old (5ms, 1-byte body)")))
    assert (row["url"], row["status"], "method" in row) == ("https://a.example/old", 200, False)


def test_only_the_processes_asked_for_count_and_other_lines_are_passed_over() -> None:
    lines = log((10, 11, "--> GET http://mine.example/"), (20, 21, "--> GET http://theirs.example/"))
    lines += ["--------- beginning of main", "", "1700000000.9 10 11 I x: --> gibberish", "1700000000.9 10 11 I x: -->"]
    assert [row["url"] for row in requests(lines, {10})] == ["http://mine.example/"]
    assert len(requests(lines)) == 2


async def logged(lab: Lab, serial: str, pid: int, *texts: str) -> None:
    for text in texts:
        await lab.ask("log", serial=serial, text=text, tag=TAG, pid=pid)


async def test_what_an_app_sends_is_listed_with_how_it_was_answered(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await logged(
        lab, phone, 77, "--> GET https://a.example/api/1", "<-- 200 OK https://a.example/api/1 (5ms, 10-byte body)",
        "--> DELETE https://a.example/other",
    )  # fmt: skip
    found = (await router.do("network", device=phone, contains="/API/")).data["requests"]
    assert [(row["method"], row["url"], row["status"], row["ms"], row["bytes"]) for row in found] == [
        ("GET", "https://a.example/api/1", 200, 5, 10)
    ]
    newest = (await router.do("network", device=phone, limit=1)).data["requests"]
    assert [row["method"] for row in newest] == ["DELETE"]


async def test_requests_of_one_app_are_those_of_its_processes(lab: Lab, router: Rig, phone: str) -> None:
    opened = await router.do("open", device=phone, app=PRACTICE, new=True)
    await logged(lab, phone, opened.data["pid"], "--> GET https://mine.example/")
    await logged(lab, phone, 78, "--> GET https://theirs.example/")
    found = (await router.do("network", device=phone, app=PRACTICE)).data["requests"]
    assert [row["url"] for row in found] == ["https://mine.example/"]
    await router.do("network", device=phone, app="com.example.none", expect="app_not_found")


async def test_an_app_that_logs_no_request_is_not_said_to_have_sent_none(lab: Lab, router: Rig, phone: str) -> None:
    await router.do("open", device=phone, app="com.android.settings")
    answer = await router.do("network", device=phone, app="com.android.settings", expect="upstream_unavailable")
    assert answer.error is not None
    assert (
        answer.error.details["reason"] == "not_logged"
        and "HttpLoggingInterceptor" in answer.error.details["enable_hint"]
    )


async def test_the_practice_app_logs_what_it_really_sent(lab: Lab, router: Rig, phone: str) -> None:
    await router.do(
        "open",
        device=phone,
        app=PRACTICE,
        arguments=["--screen", "home", "--witness", "http://127.0.0.1:9/gone"],
        new=True,
    )

    async def failed() -> list[str]:
        answer = await router.do("network", device=phone, app=PRACTICE)
        return [row["error"] for row in answer.data["requests"] if row["url"] == "http://127.0.0.1:9/gone"]

    assert (await eventually(failed))[0] == "java.net.ConnectException: Failed to connect to /127.0.0.1:9"
