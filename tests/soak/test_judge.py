"""The verdict can fail: every rule is given journals that break it, and journals that just do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from soak import judge as j
from soak.journals import Command

MS = 1_000_000
DEVICES = ["d0", "d1"]


def drove(*rows: tuple[str, float, float | None], device: str = "d0", fences: bool = True) -> list[Command]:
    """Commands by (grant, begin in ms, end in ms); grants get fences in the order they first appear."""
    order: dict[str, int] = {}
    out = []
    for grant, begin, end in rows:
        fence = (1, order.setdefault(grant, len(order) + 1)) if fences else None
        out.append(Command(device, grant, fence, int(begin * MS), int(end * MS) if end is not None else None))
    return out


GOOD = drove(("a", 0, 10), ("a", 20, 30), ("b", 30, 40), ("c", 1000, 1010))


def rules(violations: Sequence[j.Violation]) -> list[str]:
    return [violation.rule for violation in violations]


def test_one_holder_after_the_other_is_as_it_should_be() -> None:
    for check in (j.overlaps, j.returns, j.fences):
        assert check(GOOD) == []


@pytest.mark.parametrize(
    "rows",
    [
        [("a", 0, 10), ("b", 9.999, 20)],
        [("a", 0, 100), ("a", 10, 20), ("b", 50, 60)],
        [("a", 0, 10), ("b", 2, 3), ("a", 20, 30)],
        [("a", 0, None), ("b", 5000, 5010)],
    ],
    ids=["by a hair", "inside a long one", "all inside", "never ended"],
)
def test_two_holders_at_once_are_found(rows: list[tuple[str, float, float | None]]) -> None:
    assert "two drivers" in rules(j.overlaps(drove(*rows)))


def test_one_holder_may_overlap_itself_and_another_may_drive_another_device() -> None:
    assert j.overlaps(drove(("a", 0, 10), ("a", 5, 15)) + drove(("b", 0, 10), device="d1")) == []


def test_a_holder_who_drives_again_after_somebody_else_is_found() -> None:
    assert rules(j.returns(drove(("a", 0, 10), ("b", 20, 30), ("a", 40, 50)))) == ["came back"]


def test_a_fence_that_does_not_rise_is_found() -> None:
    def at(grant: str, begin: float, fence: tuple[int, int]) -> Command:
        return Command("d0", grant, fence, int(begin), int(begin) + 1)

    assert j.fences([at("a", 0, (1, 1)), at("b", 10, (1, 2)), at("c", 20, (2, 1))]) == []
    assert rules(j.fences([at("a", 0, (1, 2)), at("b", 10, (1, 1))])) == ["fence fell"]
    assert rules(j.fences([at("a", 0, (1, 2)), at("b", 10, (1, 2))])) == ["fence fell"]
    assert rules(j.fences([at("a", 0, (2, 1)), at("b", 10, (1, 9))])) == ["fence fell"]


@pytest.mark.parametrize(("begin", "found"), [(99, 0), (100, 1), (199, 1), (200, 0)])
def test_a_command_in_a_persons_time_is_found(begin: float, found: int) -> None:
    window = j.Taken("d0", 100 * MS, 200 * MS)
    assert len(j.taken(drove(("a", begin, begin + 1)), [window])) == found
    assert j.taken(drove(("a", 150, 151), device="d1"), [window]) == []


def test_a_device_that_never_acts_again_after_a_crash_is_found() -> None:
    crash = j.Crash("daemon", 50 * MS)
    acted = drove(("a", 0, 10), ("b", 1500, 1510)) + drove(("c", 0, 10), device="d1")
    verdict = j.recovery(acted, [crash], DEVICES, end=10_000 * MS, limit=2.0)
    assert [(v.rule, v.device) for v in verdict.violations] == [("not recovered", "d1")]
    assert verdict.figures["recovered after daemon kill, longest s"] == 9.95


def test_only_the_devices_a_crash_concerns_are_asked_for() -> None:
    crash = j.Crash("client", 50 * MS, ("d0",))
    verdict = j.recovery(drove(("a", 1500, 1510)), [crash], DEVICES, end=10_000 * MS, limit=2.0)
    assert verdict.violations == []
    late = j.recovery(drove(("a", 2500, 2510)), [crash], DEVICES, end=10_000 * MS, limit=2.0)
    assert rules(late.violations) == ["not recovered"]


def test_recovery_is_counted_from_the_end_of_a_takeover_and_not_past_the_end() -> None:
    crash, window = j.Crash("client", 50 * MS, ("d0",)), j.Taken("d0", 0, 4000 * MS)
    acted = drove(("a", 5000, 5010))
    assert j.recovery(acted, [crash], DEVICES, end=9000 * MS, limit=2.0, takeovers=[window]).violations == []
    assert j.recovery([], [crash], DEVICES, end=1000 * MS, limit=2.0).violations == []


def test_a_device_that_stands_still_too_long_is_found_wherever_the_gap_is() -> None:
    def found(*rows: tuple[str, float, float | None], takeovers: Sequence[j.Taken] = ()) -> list[str]:
        verdict = j.idle(drove(*rows), ["d0"], start=0, end=10_000 * MS, limit=4.0, takeovers=takeovers)
        return rules(verdict.violations)

    assert found(("a", 3000, 3010), ("b", 6000, 6010), ("c", 9000, 9010)) == []
    assert found(("a", 5000, 5010), ("b", 9000, 9010)) == ["busy for ever"]
    assert found(("a", 1000, 1010), ("b", 6000, 6010), ("c", 9000, 9010)) == ["busy for ever"]
    assert found(("a", 1000, 1010), ("b", 3000, 3010)) == ["busy for ever"]
    assert found() == ["busy for ever"]
    assert found(("a", 0, 6000), ("b", 6001, 9000)) == []
    person = j.Taken("d0", 1500 * MS, 5500 * MS)
    assert found(("a", 1000, 1010), ("b", 6000, 6010), ("c", 9000, 9010), takeovers=[person]) == []
    twice = [j.Taken("d0", 1500 * MS, 2000 * MS), j.Taken("d0", 1600 * MS, 2100 * MS)]  # 600 ms together
    assert found(("a", 1000, 1010), ("b", 5620, 5630), ("c", 9000, 9010), takeovers=twice) == ["busy for ever"]


def test_tenants_that_get_more_than_twice_as_much_are_found() -> None:
    assert j.fairness({"t0": 10, "t1": 20}, {"t0": 5.0, "t1": 10.0}).violations == []
    assert rules(j.fairness({"t0": 10, "t1": 21}, {"t0": 5.0, "t1": 10.0}).violations) == ["unfair"]
    assert rules(j.fairness({"t0": 10, "t1": 20}, {"t0": 4.9, "t1": 10.0}).violations) == ["unfair"]
    assert rules(j.fairness({"t0": 0, "t1": 20}, {"t0": 9.0, "t1": 10.0}).violations) == ["unfair"]


def test_the_whole_verdict_holds_every_rule_that_was_broken() -> None:
    seen = [*drove(("a", 0, 100), ("b", 50, 60), ("a", 150, 160)), *drove(("c", 0, 10), device="d1")]
    verdict = j.judge(
        seen,
        DEVICES,
        start=0,
        end=60_000 * MS,
        takeovers=[j.Taken("d1", 0, 5 * MS)],
        crashes=[j.Crash("daemon", 20_000 * MS)],
        recover=15.0,
        still=15.0,
    )
    assert set(rules(verdict.violations)) == {
        "two drivers", "came back", "fence fell", "over a person", "not recovered", "busy for ever",
    }  # fmt: skip
    assert verdict.figures["commands"] == 4
