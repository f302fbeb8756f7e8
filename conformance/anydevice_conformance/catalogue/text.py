"""Text into fields: what is filled in arrives whole, replaces what was there, and is read back."""

from __future__ import annotations

import unicodedata

from ..case import case
from ..trial import HEARD_WITHIN, Trial
from ..witness import Report

UNICODE = {
    "accents": "Grüße, naïve café",
    "combining marks": "e\u0301 a\u030a n\u0303",
    "east asian": "設定を開く 한국어",
    "right to left": "مرحبا בעולם",
    "both ways": "abc مرحبا 123",
    "emoji": "👩‍👩‍👧 🇪🇺 👍🏽",
    "beyond the first plane": "𝒜𝓃𝓃𝒶 𠮷",
    "zero width": "ze\u200bro\u200dwidth",
    "what looks like code": "<b>&amp;</b> \"quoted\" 'single' $HOME `x` \\n %s {0}",
}


def same(one: object, other: str) -> bool:
    """Whether the app reported this text; how characters are composed does not count."""
    return isinstance(one, str) and unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


async def filled(t: Trial, element: str, text: str) -> None:
    """The app's own last word on a field is this text.

    Raises:
        CaseFailed: It holds something else, or was not filled at all.
    """

    def last(reports: list[Report]) -> object:
        said = [r.get("value") for r in reports if (r.get("what"), r.get("id")) == ("fill", element)]
        return said[-1] if said else None

    def holds(reports: list[Report]) -> bool:
        return same(last(reports), text)

    seen = await t.witness.until(t.tokens[t.device.key], holds, HEARD_WITHIN)
    t.require(holds(seen), f"the app holds {str(last(seen))[:100]!r} in {element} where {text[:100]!r} was due")


async def value_of(t: Trial, target: str) -> str:
    """What `get` reads of a field."""
    return str((await t.call("get", target=target)).data["text"])


@case(
    "text.fill-replaces-everything",
    "Fill MUST replace the whole content of the named field, on the named device only, and say that it was read back.",
    command="fill",
    sample={"target": "Name", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def fill_replaces(t: Trial) -> None:
    for text in ("Ada Lovelace", "Bob"):
        answer = await t.call("fill", target="Name", text=text)
        t.require(answer.verified is True, "a field that can be read was not read back")
        await filled(t, "form.name", text)
        t.equal(await value_of(t, "Name"), text, "the field as it is read")


@case(
    "text.fill-with-nothing-clears",
    "Fill with an empty text MUST leave the field empty, and an empty field MUST be read as empty.",
    command="fill",
    sample={"target": "Name", "text": ""},
    bundle="text",
    screen="form",
    mutates=True,
)
async def fill_clears(t: Trial) -> None:
    t.equal(await value_of(t, "Name"), "", "a field nobody has filled")
    await t.call("fill", target="Name", text="something")
    await filled(t, "form.name", "something")
    await t.call("fill", target="Name", text="")
    await filled(t, "form.name", "")
    t.equal(await value_of(t, "Name"), "", "a field that was cleared")


@case(
    "text.fill-tells-the-field",
    "The answer to fill MUST describe the field as it is afterwards.",
    command="fill",
    sample={"target": "Name", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def fill_tells(t: Trial) -> None:
    answer = await t.call("fill", target='label="Name" role=textbox', text="Ada")
    element = answer.data.get("element") or {}
    t.equal(element.get("value"), "Ada", "the value in the answer")
    t.require(element.get("ref"), "the answer names no ref")
    again = await t.call("fill", target=element["ref"], text="Bob")
    t.equal((again.data.get("element") or {}).get("value"), "Bob", "the value after filling by ref")


@case(
    "text.the-app-acts-on-what-is-filled-in",
    "What fill puts in MUST reach the app as input does: what depends on the field is enabled, and the app sends it.",
    command="fill",
    sample={"target": "Name", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def app_acts(t: Trial) -> None:
    await t.call("press", target="Submit", expect="element_disabled")
    await t.call("fill", target="Name", text="Ada")
    await t.call("press", target="Submit")
    await t.heard("submit", value="Ada")


@case(
    "text.any-unicode-arrives",
    "Fill MUST put in any Unicode text unchanged: accents, combining marks, other scripts, right-to-left, emoji.",
    command="fill",
    sample={"target": "Any text", "text": "ü"},
    bundle="text",
    screen="text",
    mutates=True,
)
async def any_unicode(t: Trial) -> None:
    for what, text in UNICODE.items():
        t.note(what)
        answer = await t.call("fill", target="Any text", text=text)
        t.require(answer.verified is True, f"{what}: not read back")
        await filled(t, "text.field", text)


@case(
    "text.lines-stay-lines",
    "Fill MUST keep the lines of a text in a field that has lines, empty ones included.",
    command="fill",
    sample={"target": "Notes", "text": "a\nb"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def lines(t: Trial) -> None:
    text = "first\nsecond\n\nfourth"
    await t.call("fill", target="Notes", text=text)
    await filled(t, "form.notes", text)
    t.equal(await value_of(t, "Notes"), text, "the lines as they are read")


@case(
    "text.long-text-arrives-whole",
    "Fill MUST put in a text of 10,000 characters whole.",
    command="fill",
    sample={"target": "Notes", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def long_text(t: Trial) -> None:
    text = "".join(f"{number:04d} ünd {number % 7}\n" for number in range(770))[:10_000]
    answer = await t.call("fill", target="Notes", text=text)
    t.require(answer.verified is True, "not read back")
    await filled(t, "form.notes", text)
    t.require(len(str(answer.data)) < 5_000, "the answer repeats the whole text")


@case(
    "text.what-a-field-drops-is-unverified",
    "A field that ends up with another text than was asked for MUST be told as action_unverified, with both texts.",
    command="fill",
    sample={"target": "Letters", "text": "abc123"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def dropped(t: Trial) -> None:
    answer = await t.call("fill", target="Letters", text="abc123", expect="action_unverified")
    details = t.detail(answer, "expected", "actual")
    t.equal((details["expected"], details["actual"]), ("abc123", "abc"), "expected and actual")
    await filled(t, "form.letters", "abc")


@case(
    "text.an-option-is-chosen-by-its-label",
    "Fill on a select MUST choose the option of that label, and the app MUST hear of the choice.",
    command="fill",
    sample={"target": "Colour", "text": "Green"},
    needs=("elements.set_text",),
    bundle="choosing",
    screen="form",
    mutates=True,
)
async def option(t: Trial) -> None:
    answer = await t.call("fill", target="Colour", text="Green")
    t.require(answer.verified is True, "not read back")
    await t.heard("select", id="form.colour", value="Green")
    t.equal(await value_of(t, "Colour"), "Green", "the select as it is read")


@case(
    "text.an-unknown-option-is-refused",
    "Fill on a select with something that is no option of it MUST be an error, and MUST change nothing.",
    command="fill",
    sample={"target": "Colour", "text": "Mauve"},
    needs=("elements.set_text",),
    bundle="choosing",
    screen="form",
    mutates=True,
)
async def unknown_option(t: Trial) -> None:
    answer = await t.call("fill", target="Colour", text="Mauve", expect=None)
    code = answer.error.code if answer.error is not None else "ok"
    t.require(code in ("invalid_argument", "action_unverified"), f"an option that is none was answered {code}")
    t.equal(await value_of(t, "Colour"), "Red", "the select afterwards")
    said = [report.get("value") for report in t.reports("select")]
    t.require(all(value == "Red" for value in said), f"the app was made to choose {said}")


@case(
    "text.a-slider-takes-its-value",
    "Fill on a slider MUST set it to the value.",
    command="fill",
    sample={"target": "Volume", "text": "80"},
    needs=("elements.set_text",),
    bundle="choosing",
    screen="form",
    mutates=True,
)
async def slider(t: Trial) -> None:
    await t.call("fill", target="Volume", text="80")
    await filled(t, "form.volume", "80")
    t.equal(await value_of(t, "Volume"), "80", "the slider as it is read")


@case(
    "text.a-number-field-takes-numbers-only",
    "Fill on a number field MUST put a number in, and MUST NOT say that something else is in it.",
    command="fill",
    sample={"target": "Number", "text": "42"},
    bundle="text",
    screen="text",
    mutates=True,
)
async def number(t: Trial) -> None:
    answer = await t.call("fill", target="Number", text="42")
    t.require(answer.verified is True, "not read back")
    await filled(t, "text.number", "42")
    answer = await t.call("fill", target="Number", text="forty", expect=None)
    code = answer.error.code if answer.error is not None else "ok"
    t.require(code in ("action_unverified", "invalid_argument"), f"a word in a number field was answered {code}")


@case(
    "text.a-disabled-field-is-refused",
    "Fill and type MUST refuse a disabled field as element_disabled, and MUST NOT reach the app.",
    command="fill",
    sample={"target": "Switched off", "text": "x"},
    bundle="text",
    screen="text",
    mutates=True,
)
async def disabled(t: Trial) -> None:
    for command in ("fill", "type"):
        answer = await t.call(command, target="Switched off", text="x", expect="element_disabled")
        t.detail(answer, "element")
    await t.unheard()


@case(
    "text.a-read-only-field-is-refused",
    "Fill and type MUST refuse a read-only field as element_disabled, and MUST NOT change it.",
    command="fill",
    sample={"target": "Fixed", "text": "x"},
    sees="states",
    bundle="text",
    screen="states",
    mutates=True,
)
async def read_only(t: Trial) -> None:
    for command in ("fill", "type"):
        answer = await t.call(command, target="Fixed", text="x", expect="element_disabled")
        t.detail(answer, "element")
    await t.unheard()
    t.equal(await value_of(t, "Fixed"), "as it is", "the field afterwards")


@case(
    "text.what-takes-no-text-is-refused",
    "Fill on something that is no field MUST be refused, and MUST NOT press it.",
    command="fill",
    sample={"target": "Sign in", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def no_field(t: Trial) -> None:
    await t.call("fill", target='label="Sign in" role=button', text="x", expect="invalid_argument")
    await t.unheard()


@case(
    "text.type-adds-at-the-focus",
    "Type MUST add to what is in the field that has the focus, and into a named field after giving it the focus.",
    command="type",
    sample={"target": "Name", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def type_adds(t: Trial) -> None:
    await t.call("type", target="Name", text="Ada")
    await filled(t, "form.name", "Ada")
    await t.call("type", text=" Lovelace")
    await filled(t, "form.name", "Ada Lovelace")
    await t.call("type", target="Letters", text="abc")
    await filled(t, "form.letters", "abc")
    t.equal(await value_of(t, "Name"), "Ada Lovelace", "the field that lost the focus")


@case(
    "text.type-takes-any-unicode",
    "Type MUST put in characters no key of the keyboard has.",
    command="type",
    sample={"target": "Any text", "text": "ü"},
    bundle="text",
    screen="text",
    mutates=True,
)
async def type_unicode(t: Trial) -> None:
    text = "Grüße 設定 👩‍👩‍👧 مرحبا!"
    await t.call("type", target="Any text", text=text)
    await filled(t, "text.field", text)


@case(
    "text.what-cannot-be-typed-types-nothing",
    "Type MUST refuse a text it cannot type whole before anything of it is typed.",
    command="type",
    sample={"target": "Any text", "text": "x"},
    bundle="text",
    screen="text",
    mutates=True,
)
async def untypable(t: Trial) -> None:
    await t.call("type", target="Any text", text="before ")
    await filled(t, "text.field", "before ")
    await t.call("type", text="good\0bad", expect="invalid_argument")
    await filled(t, "text.field", "before ")
    t.equal(await value_of(t, "Any text"), "before ", "the field afterwards")


@case(
    "text.typed-into-a-full-field",
    "Type into a field that holds more than an answer shows MUST NOT be taken for a field that took nothing.",
    command="type",
    sample={"target": "Notes", "text": "x"},
    bundle="text",
    screen="form",
    mutates=True,
)
async def full_field(t: Trial) -> None:
    text = "y" * 2_000
    await t.call("fill", target="Notes", text=text)
    await t.call("type", target="Notes", text="the end")
    await filled(t, "form.notes", text + "the end")
