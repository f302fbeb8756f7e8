"""What each command does on a device, judged by the device's own journal."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from anydevice.testing import FakeBackend, FakeElement, FakeScreen, call, fake_router
from anydevice_schemas import Answer, Rect
from anydevice_schemas.errors import Unsupported

pytestmark = pytest.mark.anyio


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


class One:
    """A router with one phone, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def screen(self) -> FakeScreen:
        return self.backend.screen("fake-1")

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "message": answer.error.message, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"])) as (router, backend):
        yield One(router, backend)
        assert backend.screen("other").journal == [], "the other device was touched"


# --- press and its refusals ---


async def test_press_by_label_ref_query_and_point_reach_the_same_button(phone: One) -> None:
    ref = (await phone("find", query="Increment")).data["matches"][0]["ref"]
    for target in ("Increment", ref, 'label="Increment" role=button', "role=button label=increment"):
        assert (await phone("press", target=target)).ok
    assert (await phone("press", x=275, y=90)).ok
    assert phone.screen.text("Count") == "5"


async def test_press_tells_what_changed(phone: One) -> None:
    answer = await phone("press", target="Increment")
    assert answer.data["changed"] is True
    assert any("Count" in line for line in answer.data["changes"])
    still = await phone("press", target="Sign in")
    assert still.data["changed"] is False and still.verified is False


async def test_exact_beats_partial(phone: One) -> None:
    answer = await phone("press", target="Sign in")
    assert answer.data["element"]["name"] == "Sign in"


async def test_ambiguous_elements_are_numbered_and_index_or_ref_pick_one(phone: One) -> None:
    refused = await phone.refused("press", target="Delete", timeoutMs=0)
    assert refused["code"] == "ambiguous_element" and refused["matches"] == 2
    assert phone.screen.journal == []
    second = refused["candidates"][1]
    for target in (f"label=Delete index={second['index']}", second["ref"]):
        assert (await phone("press", target=target)).ok
    xs = [entry[2]["point"].x for entry in phone.screen.did("press")]  # type: ignore[attr-defined]
    assert xs == [275, 275]


async def test_disabled_covered_missing_and_stale_are_refused_and_touch_nothing(phone: One) -> None:
    assert (await phone.refused("press", target="Submit"))["code"] == "element_disabled"
    covered = await phone.refused("press", target="Covered")
    assert covered["code"] == "element_covered" and "Veil" in covered["cover"]
    missing = await phone.refused("press", target="Incremet", timeoutMs=0)
    assert missing["code"] == "element_not_found"
    assert any(near["name"] == "Increment" for near in missing["nearest_matches"])
    ref = (await phone("find", query="Sign in with a passkey")).data["matches"][0]["ref"]
    phone.screen.remove(phone.screen.named("Sign in with a passkey"))
    phone.screen.add(FakeElement("button", "Sign in with a passkey", Rect(200, 320, 170, 40)))
    stale = await phone.refused("press", target=ref)
    assert stale["code"] == "stale_ref" and stale["family"] == "element_not_found"
    assert phone.screen.journal == []


async def test_a_ref_never_given_out_is_stale(phone: One) -> None:
    assert (await phone.refused("press", target="@e999"))["code"] == "stale_ref"


async def test_a_container_and_its_label_are_one_target(phone: One) -> None:
    answer = await phone("press", target="General")
    assert answer.ok and answer.data["element"]["role"] == "row"
    assert phone.screen.text("Count") == "1"


async def test_an_element_off_screen_is_scrolled_into_view_first(phone: One) -> None:
    answer = await phone("press", target="Row 50")
    assert answer.ok
    pressed = phone.screen.did("press")[0]
    assert pressed[1] == phone.screen.named("Row 50").key


async def test_press_waits_for_an_element_that_comes_late(phone: One) -> None:
    async def later() -> None:
        await anyio.sleep(0.3)
        phone.screen.add(FakeElement("button", "Late", Rect(20, 600, 100, 40), fixed=True))

    async with anyio.create_task_group() as group:
        group.start_soon(later)
        answer = await phone("press", target="Late", timeoutMs=20_000, includeCost=True)
    assert answer.ok and answer.cost is not None and answer.cost.waited_ms > 0


async def test_a_toggle_that_changed_is_verified(phone: One) -> None:
    assert (await phone("press", target="Wi-Fi")).verified is True
    assert "checked" in phone.screen.named("Wi-Fi").states


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"target": "Increment", "x": 1.0, "y": 1.0},
        {"x": 1.0},
        {"target": "Increment", "count": 0},
        {"x": 1e308, "y": 1.0},
        {"x": 1.0, "y": -1e6},
    ],
)
async def test_press_must_be_told_exactly_one_place(phone: One, arguments: dict[str, Any]) -> None:
    assert (await phone.refused("press", **arguments))["code"] == "invalid_argument"
    assert phone.screen.journal == []


async def test_longpress_holds_as_long_as_asked(phone: One) -> None:
    assert (await phone("longpress", target="Increment", durationMs=1500)).ok
    assert phone.screen.did("press")[0][2]["seconds"] == 1.5
    phone.backend.down = {"pointer": "no mouse"}
    assert (await phone("longpress", target="Increment", durationMs=700)).ok
    assert phone.screen.did("hold")[0][2]["seconds"] == 0.7


async def test_hover_moves_the_pointer_and_presses_nothing(phone: One) -> None:
    assert (await phone("hover", target="Increment")).ok
    assert [entry[0] for entry in phone.screen.journal] == ["hover"]


# --- text ---


@pytest.mark.parametrize("text", ["Ada", "", "naïve 文字 😀", "שלום", "a\nb", 'quote " and \\'])
async def test_fill_replaces_and_reads_back(phone: One, text: str) -> None:
    phone.screen.named("Name").value = "before"
    answer = await phone("fill", target="Name", text=text)
    assert answer.ok and answer.verified is True
    assert phone.screen.text("Name") == text


async def test_a_field_that_takes_something_else_is_action_unverified(phone: One) -> None:
    refused = await phone.refused("fill", target="Letters", text="a1b2")
    assert refused["code"] == "action_unverified"
    assert (refused["expected"], refused["actual"]) == ("a1b2", "ab")


async def test_accepted_but_unchanged_is_never_success(phone: One) -> None:
    phone.backend.fault.swallow = {"elements.set_text", "keys.type_text"}
    assert (await phone.refused("fill", target="Name", text="Ada"))["code"] == "action_unverified"
    phone.screen.focus = phone.screen.named("Name")
    assert (await phone.refused("type", text="Ada"))["code"] == "action_unverified"


@pytest.mark.parametrize(
    ("method", "sent"), [(None, "elements.set_text"), ("type", "keys.type_text"), ("paste", "keys.paste")]
)
async def test_fill_goes_the_way_it_is_told(phone: One, method: str | None, sent: str) -> None:
    phone.backend.down = {"pointer": "no mouse"}
    given = {"method": method} if method else {}
    answer = await phone("fill", target="Name", text="Ada", debug=True, **given)
    assert answer.ok and answer.verified is True and phone.screen.text("Name") == "Ada"
    assert answer.debug is not None and sent in str(answer.debug)
    phone.backend.down = {"elements": "no accessibility"}
    refused = await phone.refused("fill", target="Name", text="Eve", method="set")
    assert refused["code"] == "unsupported" and phone.screen.text("Name") == "Ada"


async def test_a_field_that_offers_nothing_to_paste_with_is_typed_into_and_that_is_told(phone: One) -> None:
    phone.backend.fault.operations["keys.paste"] = Unsupported("No.", operation="keys.paste", alternatives=[])
    phone.backend.down = {"pointer": "no mouse"}
    answer = await phone("fill", target="Name", text="Ada", method="paste")
    assert phone.screen.text("Name") == "Ada" and [one["kind"] for one in answer.notices] == ["not_pasted"]


async def test_a_secure_field_is_never_read(phone: One) -> None:
    answer = await phone("fill", target="Password", text="hunter2")
    assert answer.ok and answer.verified is True and answer.data["element"]["secure"] is True
    assert "hunter2" not in str(answer.model_dump())
    for reading in (await phone("get", target="Password", what="attrs"), await phone("snapshot", responseLevel="full")):
        assert "hunter2" not in str(reading.model_dump())
    assert "hunter2" not in str(list(phone.router.services.journal.tail))


async def test_type_goes_to_the_focus_and_is_read_back(phone: One) -> None:
    await phone("press", target="Name")
    answer = await phone("type", text="Grace")
    assert answer.ok and answer.verified is True
    assert (await phone("type", text=" Hopper", target="id=form.name")).ok
    assert phone.screen.text("Name") == "Grace Hopper"


async def test_key_presses_as_often_as_asked(phone: One) -> None:
    assert (await phone("key", chord="ctrl+a", count=3)).ok
    assert len(phone.screen.did("key")) == 3


# --- reading ---


async def test_snapshot_gives_refs_that_stay_the_same_across_looks(phone: One) -> None:
    first = await phone("snapshot", responseLevel="full")
    second = await phone("snapshot", responseLevel="full")
    refs = [[node["ref"] for node in answer.data["tree"]] for answer in (first, second)]
    assert refs[0] == refs[1] and len(set(refs[0])) == len(refs[0])
    assert first.data["omitted"]["offscreen"] > 0


async def test_snapshot_tells_every_cut(phone: One) -> None:
    answer = await phone("snapshot", mode="full", maxNodes=10)
    assert answer.data["quality"] == "truncated"
    assert any("nodes" in line for line in answer.truncated)


async def test_find_lists_and_touches_nothing(phone: One) -> None:
    answer = await phone("find", query="label=Delete")
    assert answer.data["count"] == 2 and phone.screen.journal == []
    assert (await phone.refused("find", query="Nothing like it", timeoutMs=0))["code"] == "element_not_found"


async def test_get_reads_text_attributes_and_places(phone: One) -> None:
    phone.screen.named("Name").value = "Ada"
    assert (await phone("get", target="Name")).data["text"] == "Ada"
    assert (await phone("get", target="Name", what="attrs")).data["element"]["identifier"] == "form.name"
    assert (await phone("get", target="Increment", what="point")).data["point"] == [275, 90]
    assert (await phone("get", what="point", x=275.0, y=90.0)).data["element"]["name"] == "Increment"
    assert (await phone.refused("get", what="text", x=1.0, y=1.0))["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("predicate", "target", "result"),
    [
        ("visible", "Increment", True),
        ("visible", "Row 50", False),
        ("hidden", "Row 50", True),
        ("exists", "Row 50", True),
        ("absent", "Row 50", False),
        ("absent", "No such thing", True),
        ("exists", "No such thing", False),
        ("enabled", "Submit", False),
        ("disabled", "Submit", True),
        ("editable", "Name", True),
        ("checked", "Wi-Fi", False),
        ("focused", "Name", False),
    ],
)
async def test_is_answers_at_once(phone: One, predicate: str, target: str, result: bool) -> None:
    with anyio.fail_after(20):
        answer = await phone("is", predicate=predicate, target=target)
    assert answer.ok and answer.data["result"] is result


async def test_is_text_needs_a_value_and_only_text_does(phone: One) -> None:
    phone.screen.named("Name").value = "Ada"
    assert (await phone("is", predicate="text", target="Name", value="Ada")).data["result"] is True
    assert (await phone("is", predicate="text", target="Name", value="Eve")).data["result"] is False
    assert (await phone.refused("is", predicate="text", target="Name"))["code"] == "invalid_argument"
    assert (await phone.refused("is", predicate="visible", target="Name", value="x"))["code"] == "invalid_argument"


async def test_a_picture_that_cannot_be_stored_says_why_and_what_to_do(phone: One) -> None:
    folder = phone.router.services.artefacts.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")
    refused = await phone.refused("screenshot")
    assert (refused["code"], refused["upstream"]) == ("upstream_unavailable", "artefacts")
    assert str(folder) not in str(refused)
    assert (await phone("press", target="Increment")).ok


async def test_screenshot_states_size_unit_and_scale(phone: One) -> None:
    answer = await phone("screenshot")
    assert answer.data["unit"] == "points" and answer.data["scale"] == 1.0
    artefact = answer.artefacts[0]
    assert phone.router.services.artefacts.read(artefact.uri).startswith(b"\x89PNG")
    element = await phone("screenshot", target="Increment")
    assert element.data["area"] == [200, 70, 150, 40]
    assert (await phone.refused("screenshot", area="element"))["code"] == "invalid_argument"


# --- waiting ---


async def test_wait_for_text_element_absence_and_rest(phone: One) -> None:
    async def later() -> None:
        await anyio.sleep(0.2)
        phone.screen.add(FakeElement("text", "Saved", Rect(20, 700, 100, 30), fixed=True))

    async with anyio.create_task_group() as group:
        group.start_soon(later)
        answer = await phone("wait", text="Saved", timeoutMs=20_000)
    assert answer.ok and answer.data["element"]["name"] == "Saved"
    assert (await phone("wait", target="role=switch")).ok
    assert (await phone("wait", absent="Spinner")).ok
    assert (await phone("wait", stable=True, quietMs=100)).data["stable"] is True
    assert (await phone("wait", durationMs=50)).data["waitedMs"] >= 50


async def test_a_condition_that_never_comes_true_is_a_timeout_that_shows_what_is_there(phone: One) -> None:
    refused = await phone.refused("wait", text="Incremented", timeoutMs=150)
    assert refused["code"] == "timeout" and refused["waiting_for"] == "text"
    assert refused["on_screen"] and refused["nearest_matches"]


async def test_wait_takes_exactly_one_condition(phone: One) -> None:
    assert (await phone.refused("wait"))["code"] == "invalid_argument"
    assert (await phone.refused("wait", text="a", absent="b"))["code"] == "invalid_argument"


async def test_could_not_look_is_not_the_same_as_not_there(phone: One) -> None:
    from anydevice_schemas.errors import DeviceOffline

    phone.backend.fault.operations["screen.tree"] = DeviceOffline("Gone.", state="offline", fix="plug in")
    assert (await phone.refused("wait", text="Count", timeoutMs=200))["code"] == "device_offline"


async def test_a_screen_that_never_rests_ends_in_a_timeout(phone: One) -> None:
    async def churn(scope: anyio.CancelScope) -> None:
        with scope:
            number = 0
            while True:
                number += 1
                phone.screen.named("Count").value = str(number)
                await anyio.sleep(0.01)

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as group:
        group.start_soon(churn, scope)
        refused = await phone.refused("wait", stable=True, quietMs=200, timeoutMs=600)
        scope.cancel()
    assert refused["code"] == "timeout" and refused["waiting_for"] == "stable"


# --- moving ---


async def test_scroll_moves_and_says_how_far(phone: One) -> None:
    answer = await phone("scroll", direction="down", pixels=300.0)
    assert answer.ok and answer.verified is True and answer.data["by"] == [0.0, 300.0]
    assert phone.screen.offset == 300


async def test_a_scroll_that_moves_nothing_is_no_success(phone: One) -> None:
    assert (await phone.refused("scroll", direction="up"))["code"] == "action_unverified"


async def test_scroll_to_an_edge_and_until_an_element(phone: One) -> None:
    bottom = await phone("scroll", edge="bottom")
    assert bottom.data["atEdge"] is True
    assert phone.screen.offset == phone.screen.content_height - phone.screen.height
    assert (await phone("scroll", edge="top")).ok and phone.screen.offset == 0
    answer = await phone("scroll", until="Row 40")
    assert answer.ok and answer.verified is True
    assert phone.screen.place(phone.screen.named("Row 40")).intersect(phone.screen.viewport) is not None
    missing = await phone.refused("scroll", until="Row 400", timeoutMs=4000)
    assert missing["code"] == "element_not_found"


async def test_scroll_until_works_without_reveal_too(phone: One) -> None:
    phone.backend.down = {"elements.reveal": "not today"}
    assert (await phone("scroll", until="Row 30")).ok
    assert not phone.screen.did("reveal")


async def test_gestures_reach_the_device_as_asked(phone: One) -> None:
    swipe = await phone("gesture", kind="swipe", target="Increment", direction="left", distance=100.0)
    assert swipe.ok
    entry = phone.screen.did("swipe")[0][2]
    assert (entry["start"].x - entry["end"].x, entry["seconds"]) == (100, 0.3)  # type: ignore[attr-defined]
    assert (await phone("gesture", kind="drag", target="Increment", to="Wi-Fi", durationMs=200)).ok
    assert phone.screen.did("drag")
    still = await phone.refused("gesture", kind="drag", target="Increment", to="Increment")
    assert still["code"] == "invalid_argument"
    both = await phone.refused("gesture", kind="drag", target="Increment", to="Wi-Fi", direction="up")
    assert both["code"] == "invalid_argument"


async def test_back_says_when_there_is_nothing_to_go_back_to(phone: One) -> None:
    assert (await phone.refused("back"))["code"] == "action_unverified"
    await phone("open", url="https://example.org/2")
    answer = await phone("back")
    assert answer.ok and answer.verified is True and answer.data["location"] == "fake://practice/home"


# --- dialogs ---


async def test_while_a_dialog_is_open_everything_says_so_and_alert_answers_it(phone: One) -> None:
    phone.screen.named("Sign in").on_press = lambda: setattr(
        phone.screen, "dialog", ("confirm", "Really?", ("OK", "Cancel"))
    )
    answer = await phone("press", target="Sign in")
    assert answer.ok and answer.data["happened"][0]["kind"] == "dialog"
    for command, arguments in (("snapshot", {}), ("press", {"target": "Increment"}), ("wait", {"text": "x"})):
        refused = await phone.refused(command, **arguments)
        assert refused["code"] == "dialog_open" and refused["buttons"] == ["OK", "Cancel"]
        assert "Really?" not in refused["message"]
    assert (await phone("alert")).data["dialog"]["text"] == "Really?"
    assert (await phone.refused("alert", action="accept", text="x"))["code"] == "invalid_argument"
    assert (await phone("alert", action="accept")).verified is True
    assert (await phone("alert")).data["open"] is False
    assert (await phone.refused("alert", action="dismiss"))["code"] == "action_unverified"


# --- URLs ---


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "vbscript:x",
    ],
)
async def test_dangerous_addresses_are_refused(phone: One, url: str) -> None:
    assert (await phone.refused("open", url=url))["code"] == "refused"
    assert phone.screen.journal == []


@pytest.mark.parametrize(
    "url", ["example.org", " javascript:alert(1)", "java\nscript:alert(1)", "http://a b", "\u200bfile:///x", ""]
)
async def test_addresses_that_are_none_are_invalid(phone: One, url: str) -> None:
    assert (await phone.refused("open", url=url))["code"] == "invalid_argument"
    assert phone.screen.journal == []


# --- app events ---

TEMPLATE = "myapp://event/{event}?data={payload}&on={platform}"


async def test_an_event_is_delivered_encoded_and_never_claimed_to_have_acted(phone: One) -> None:
    await phone("open", url="https://example.org/", eventUrlTemplate=TEMPLATE)
    answer = await phone("trigger-app-event", event="seed.cart", payload={"q": "a b&c=d/é"})
    assert answer.ok and answer.verified is False
    assert answer.data["transport"] == "deep-link" and answer.data["event"] == "seed.cart"
    url = answer.data["eventUrl"]
    assert url == "myapp://event/seed.cart?data=%7B%22q%22%3A%22a%20b%26c%3Dd%2F%C3%A9%22%7D&on=fake"
    assert phone.screen.did("event")[0][2]["url"] == url
    assert (
        "acted" not in answer.data["message"]
        or "not known" in answer.data["message"]
        or "not ack" in answer.data["message"]
    )
    acknowledged = await phone("trigger-app-event", event="ack.me")
    assert acknowledged.verified is True and acknowledged.data["acknowledged"] == "true"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"event": "has space"}, "invalid_argument"),
        ({"event": ""}, "invalid_argument"),
        ({"event": "x" * 65}, "invalid_argument"),
        ({"event": "ok", "payload": {"big": "x" * 9000}}, "invalid_argument"),
        ({"event": "ok", "payload": {"long": "é" * 1500}}, "invalid_argument"),
        ({"event": "ok", "payload": "text"}, "invalid_argument"),
    ],
)
async def test_bad_events_are_refused_before_anything_is_sent(
    phone: One, arguments: dict[str, Any], expected: str
) -> None:
    await phone("open", url="https://example.org/", eventUrlTemplate=TEMPLATE)
    assert (await phone.refused("trigger-app-event", **arguments))["code"] == expected
    assert phone.screen.did("event") == []


@pytest.mark.parametrize(
    "template",
    ["javascript:x('{event}')", "file:///x?{event}", "{event}://x", "myapp://nothing", "myapp://{event}?{evnt}"],
)
async def test_a_bad_template_is_refused_where_it_is_given(phone: One, template: str) -> None:
    answer = await phone("open", url="https://example.org/", eventUrlTemplate=template)
    assert code(answer) in ("invalid_argument", "refused")


async def test_the_template_comes_from_session_configuration_or_the_callers_environment(anyio_backend: str) -> None:
    from anydevice.testing import caller

    async with fake_router(FakeBackend(["only"])) as (router, _):
        refused = await router.call(call("trigger-app-event", event="e"))
        assert code(refused) == "unsupported"
        env = {"AGENT_DEVICE_APP_EVENT_URL_TEMPLATE": "env://x?{event}"}
        answer = await router.call(call("trigger-app-event", by=caller(env=env), event="e"))
        assert answer.data["eventUrl"] == "env://x?e" and "environment" in answer.data["templateFrom"]
        await router.call(call("open", url="https://example.org/", eventUrlTemplate="own://x?{event}"))
        assert (await router.call(call("trigger-app-event", event="e"))).data["eventUrl"] == "own://x?e"
    async with fake_router(FakeBackend(["only"]), event_templates={"default": "conf://x?{event}"}) as (router, _):
        answer = await router.call(call("trigger-app-event", event="e"))
        assert answer.data["eventUrl"] == "conf://x?e" and answer.data["templateFrom"] == "config: default"


async def test_all_eighteen_inputs_of_trigger_app_event_are_accepted_and_judged(phone: One) -> None:
    await phone("open", url="https://example.org/", eventUrlTemplate=TEMPLATE)
    lease = phone.router.services.sessions.all()[0].lease_id
    answer = await phone(
        "trigger-app-event", event="e", payload={}, platform="fake", deviceTarget="mobile", target="mobile",
        serial="FAKE-1", androidDeviceAllowlist="a,b", tenant="default", runId="r1", leaseId=lease,
        debug=True, noRecord=True,
        mcpOutputFormat="json", includeCost=True, responseLevel="full",
    )  # fmt: skip
    assert answer.ok, answer.error
    assert answer.cost is not None and answer.debug is not None and answer.data["payloadBytes"] == 2
    for wrong in (
        {"udid": "fake-1"}, {"serial": "other"}, {"deviceTarget": "tv"}, {"platform": "web"}, {"leaseId": "0" * 16},
        {"session": "nope"}, {"responseLevel": "loud"}, {"mcpOutputFormat": "xml"}, {"tenant": "a b"},
    ):  # fmt: skip
        assert not (await phone("trigger-app-event", event="e", **wrong)).ok, wrong


# --- scripts ---


async def test_batch_runs_in_order_and_stops_at_the_first_failure_with_what_was_done(phone: One) -> None:
    steps = [
        {"command": "fill", "arguments": {"target": "Name", "text": "Ada"}},
        {"command": "press", "arguments": {"target": "Nowhere", "timeoutMs": 0}},
        {"command": "press", "arguments": {"target": "Increment"}},
    ]
    refused = await phone.refused("batch", steps=steps)
    assert refused["code"] == "element_not_found" and refused["batch"]["step"] == 1
    assert refused["batch"]["results"][0]["ok"] is True
    assert phone.screen.text("Name") == "Ada" and phone.screen.text("Count") == "0"
    answer = await phone("batch", steps=steps, onError="continue")
    assert answer.ok and (answer.data["executed"], answer.data["failed"]) == (3, 1)
    assert phone.screen.text("Count") == "1"


async def test_a_batch_with_a_bad_step_runs_nothing(phone: One) -> None:
    good = {"command": "press", "arguments": {"target": "Increment"}}
    for bad in (
        {"command": "pres"},
        {"command": "press", "arguments": {"targt": "x"}},
        {"command": "batch"},
        {"cmd": "x"},
    ):
        answer = await phone("batch", steps=[good, bad])
        assert not answer.ok
    assert phone.screen.journal == []


async def test_command_run_is_the_inner_command_in_everything(phone: One) -> None:
    answer = await phone.router.call(
        call("command-run", name="press", arguments={"target": "Increment", "device": "fake-1"})
    )
    assert answer.ok and answer.command == "press" and answer.device is not None and answer.device.id == "fake-1"
    wrong = await phone.router.call(call("command-run", name="press", arguments={"nonsense": 1}))
    assert code(wrong) == "invalid_argument"


async def test_command_search_finds_by_a_word_and_shows_how_to_call(phone: One) -> None:
    answer = await phone.router.call(call("command-search", words="send event to app"))
    assert answer.data["commands"][0]["name"] == "trigger-app-event"
    assert "event" in answer.data["commands"][0]["inputSchema"]["properties"]


async def test_capabilities_tell_what_is_missing_and_why(phone: One) -> None:
    phone.backend.down = {"pointer": "no mouse today"}
    answer = await phone("capabilities")
    assert "press" in answer.data["commands"] and "hover" not in answer.data["commands"]
    assert answer.data["missing"]["hover"] == {"pointer.move": "no mouse today"}
    assert code(await phone("hover", target="Increment")) == "unsupported"
    by_platform = await phone.router.call(call("capabilities"))
    assert by_platform.data["platforms"][0]["backend"] == "fake"


async def test_doctor_names_every_sick_part(phone: One) -> None:
    answer = await phone.router.call(call("doctor"))
    assert answer.ok and answer.data["checks"][0]["ok"] is True
