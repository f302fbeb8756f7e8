"""The query language: what can be written, what it means, and what is refused with which advice."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anydevice.elements import KEYS, Alternative, Query, RefQuery, Term, labelled, parse
from anydevice_schemas import ROLES
from anydevice_schemas.errors import InvalidArgument


def query(*alternatives: Alternative) -> Query:
    return Query(alternatives)


def terms(index: int | None = None, **values: str | bool) -> Alternative:
    return Alternative(tuple(Term(key, value) for key, value in values.items()), index)


# --- what can be written -----------------------------------------------------------------------------


def test_a_ref_stands_alone() -> None:
    assert parse("@e12") == RefQuery("@e12")
    assert parse("  @e12 ") == RefQuery("@e12")


@pytest.mark.parametrize("text", ["e12", "@12", "@ellen", "@e12x", "@e", "E4"])
def test_what_is_not_exactly_a_ref_is_a_label_and_never_some_element(text: str) -> None:
    assert parse(text) == labelled(text)


@pytest.mark.parametrize(
    "text",
    ["Sign in", "Don't save", "'tis the season", '5" disk', 'say "hi" now', "Total = 5", "https://x.org/?q=1",
     "visible", "focused enabled", "a | b", "100 %", "Ünïcødé 你好", "\\n"],
)  # fmt: skip
def test_a_text_without_a_key_is_a_label_as_a_whole(text: str) -> None:
    assert parse(text) == labelled(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [('"Sign in"', "Sign in"), ("'Sign in'", "Sign in"), ('"a || b"', "a || b"), ('"a=b"', "a=b"), ('"@e1"', "@e1"),
     (r'"say \"hi\""', 'say "hi"'), (r"'it\'s'", "it's"), (r'"a\u00e9\n\t\\"', "aé\n\t\\"),
     (r'"\ud83d\ude00"', "😀")],
)  # fmt: skip
def test_quotes_around_the_whole_are_taken_off_and_escapes_read(text: str, label: str) -> None:
    assert parse(text) == labelled(label)


def test_terms_are_joined_by_and() -> None:
    assert parse('label="Sign in" role=button') == query(terms(label="Sign in", role="button"))
    assert parse("id=form.name value=''") == query(terms(id="form.name", value=""))
    assert parse("label=Don't role=button") == query(terms(label="Don't", role="button"))
    assert parse("appname=Mail windowtitle='New message'") == query(terms(appname="Mail", windowtitle="New message"))


def test_keys_roles_and_flags_are_read_whatever_their_case() -> None:
    assert parse("LABEL=x Role=Button Enabled=TRUE") == query(terms(label="x", role="button", enabled=True))


@pytest.mark.parametrize(
    "flag", ["visible", "hidden", "editable", "selected", "focused", "enabled", "checked", "hittable"]
)
def test_a_flag_stands_bare_beside_other_terms_or_has_true_or_false(flag: str) -> None:
    assert parse(f"role=button {flag}") == query(terms(role="button", **{flag: True}))
    assert parse(f"{flag} role=button") == query(Alternative((Term(flag, True), Term("role", "button"))))
    assert parse(f"{flag}=true") == query(terms(**{flag: True}))
    assert parse(f'{flag}="false"') == query(terms(**{flag: False}))


def test_alternatives_are_separated_by_two_bars_outside_quotes() -> None:
    assert parse('id=a || label="b || c" || Cancel') == query(
        terms(id="a"), terms(label="b || c"), terms(label="Cancel")
    )
    assert parse("label=a||label=b") == query(terms(label="a"), terms(label="b"))
    assert parse("Don't save || Cancel") == query(terms(label="Don't save"), terms(label="Cancel"))


def test_a_mark_inside_a_word_is_no_quote() -> None:
    assert parse("'tis || 'twas") == query(terms(label="'tis"), terms(label="'twas"))
    assert parse("label='it's' role=button") == query(terms(label="it's", role="button"))
    assert parse('5" || 6"') == query(terms(label='5"'), terms(label='6"'))


def test_index_counts_from_0_and_belongs_to_its_alternative() -> None:
    assert parse("label=Delete index=2") == query(terms(2, label="Delete"))
    assert parse("label=a index=0 || label=b") == query(terms(0, label="a"), terms(label="b"))


def test_a_label_of_any_text_can_be_asked_for() -> None:
    assert parse(str(labelled('@e1 || "x" = \\'))) == labelled('@e1 || "x" = \\')


# --- what is refused ----------------------------------------------------------------------------------


def refusal(text: str) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        parse(text, param="target")
    error = caught.value
    assert error.details["param"] == "target"
    assert error.details["errors"][0]["problem"] == error.message
    return error


@pytest.mark.parametrize(
    ("text", "near"),
    [("lable=x", "label"), ("type=button", "role"), ("name=x", "label"), ("identifier=x", "id"), ("rol=button", "role"),
     ("title=x", "label"), ("resource-id=x", "id"), ("enabeld=true", "enabled"), ("idx=1 label=a", "index")],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_the_nearest_one_and_how_to_quote(text: str, near: str) -> None:
    error = refusal(text)
    assert error.details["nearest"][0] == near
    assert set(error.details["keys"]) == set(KEYS)
    assert "quotes" in error.hint
    quoted_part = error.hint[error.hint.index('"') : error.hint.rindex('"') + 1]
    assert isinstance(parse(quoted_part), Query)  # the example of the hint can be pasted


def test_an_unknown_role_is_refused_with_the_nearest_ones() -> None:
    assert "button" in refusal("role=buton").details["nearest"]
    assert "textbox" in refusal("role=textfield").details["nearest"]


def test_words_beside_terms_are_refused_with_the_query_that_was_meant() -> None:
    error = refusal("Sign in role=button")
    assert 'label="Sign in" role=button' in error.hint
    assert 'label="Sign in" role=button' in refusal('"Sign in" role=button').hint


@pytest.mark.parametrize(
    "text",
    ["", "   ", "||", "a ||", "|| a", "a || || b", '""', "' '", "label=", "label= role=button", "label='' ", "id=''",
     'label="x', "label='x role=button", 'label="a"b', r'label="\x"', r'label="\u12"', "enabled=maybe", "enabled=",
     "index=2", "label=a index=-1", "label=a index=x", "label=a index=1 index=2", "label = x", "role=", "@e1 || a",
     "label=a || @e2", "ref=@e1", "role=button @e1", "x" * 4001],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_says_what_is_expected(text: str) -> None:
    error = refusal(text)
    assert error.details["expected"]
    assert error.hint
    assert len(error.message) < 300
    assert len(error.hint) < 400


# --- what holds for every query -------------------------------------------------------------------------

values = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() and "�" not in text)
text_terms = st.builds(Term, st.sampled_from(["id", "text", "label", "value", "appname", "windowtitle"]), values)
role_terms = st.builds(Term, st.just("role"), st.sampled_from(sorted(ROLES)))
flag_terms = st.builds(
    Term,
    st.sampled_from(["visible", "hidden", "editable", "selected", "focused", "enabled", "checked", "hittable"]),
    st.booleans(),
)
alternatives = st.builds(
    Alternative,
    st.lists(text_terms | role_terms | flag_terms, min_size=1, max_size=4).map(tuple),
    st.none() | st.integers(0, 99),
)
queries = st.builds(Query, st.lists(alternatives, min_size=1, max_size=3).map(tuple))


@given(queries)
@example(query(terms(label='a" || "b')))
@example(query(terms(value="\\"), terms(0, label="=x", enabled=False)))
def test_the_text_of_a_query_reads_as_the_same_query(asked: Query) -> None:
    assert parse(str(asked)) == asked


pieces = st.sampled_from(
    ["label=", "role=", "id=", "index=", "enabled", "hidden=", "true", "button", "'", '"', "\\", "||", "|", "=", " ",
     "\n", "a", "Sign in", "@e1", "\\u00e", "é", "1", "foo=", "\u200b"]
)  # fmt: skip


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=40))
def test_any_text_is_a_query_that_can_be_written_back_or_a_typed_refusal(text: str) -> None:
    try:
        asked = parse(text)
    except InvalidArgument as error:
        assert error.details["expected"]
        return
    assert parse(str(asked)) == asked


@given(st.text(min_size=1, max_size=30).filter(lambda text: "=" not in text and "||" not in text and text.strip()))
def test_a_text_without_equals_signs_and_bars_is_always_a_label_or_a_ref(text: str) -> None:
    try:
        asked = parse(text)
    except InvalidArgument:
        # only a quote around something blank, or around an escape that is none
        assert text.strip()[0] in "'\""
        return
    if isinstance(asked, Query):
        (alternative,) = asked.alternatives
        (term,) = alternative.terms
        assert term.key == "label"
        stripped = text.strip()
        assert term.value == stripped or stripped[0] in "'\""
