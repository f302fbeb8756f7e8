"""Cursors of logs: nothing is read twice, and nothing is passed over, however many lines are of one moment."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.kit import moments
from anydevice_schemas.errors import InvalidArgument


@dataclass
class Line:
    time: float | None
    text: str = ""


times = st.lists(st.integers(0, 6).map(lambda n: n / 1000 + 1_700_000_000), max_size=12).map(sorted)


@given(times, st.data())
def test_reading_on_from_any_cursor_gives_exactly_what_follows(moments_of: list[float], data: st.DataObject) -> None:
    lines = [Line(moment, str(number)) for number, moment in enumerate(moments_of)]
    rows = moments.numbered(lines)
    assert [row[0] for row in rows] == lines
    assert [moments.parts(row[1]) for row in rows] == sorted({moments.parts(row[1]) for row in rows})
    if not rows:
        return
    at = data.draw(st.integers(0, len(rows) - 1))
    since = moments.parts(rows[at][1])
    # The device gives everything of that very moment once more.
    again = moments.numbered([line for line in lines if line.time is not None and line.time >= since[0]])
    assert [line for line, cursor in again if moments.parts(cursor) > since] == lines[at + 1 :]


def test_a_moment_that_has_no_lines_yet_comes_before_its_first() -> None:
    first = moments.numbered([Line(12.5)])[0][1]
    assert moments.parts(moments.cursor(12.5)) < moments.parts(first) == (12.5, 1)


def test_lines_without_a_time_and_those_before_the_beginning_are_left_out() -> None:
    rows = moments.numbered([Line(None), Line(1.0), Line(2.0), Line(2.0)], since=2.0, digits=6)
    assert [cursor for _, cursor in rows] == ["2.000000+1", "2.000000+2"]


@pytest.mark.parametrize("text", ["", "+", "1", "1+", "+1", "nan+1", "inf+1", "-inf+0", "1+x", "a+1", "1e999+1"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        moments.parts(text)
    assert refused.value.details["param"] == "cursor"
