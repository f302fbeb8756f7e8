"""The clipboard: what is written is what apps paste and what is read, each device's own."""

from __future__ import annotations

from ..case import case
from ..looking import only
from ..trial import Trial

BUNDLE = "clipboard"
TEXT = "Grüße 世界 🙂 1/2"


@case(
    "clipboard.text-comes-back",
    "Text that was written MUST be read back unchanged: accents, other scripts, emoji, and text that is empty.",
    command="clipboard",
    sample={"action": "write", "text": "x"},
    needs=("clipboard.read",),
    bundle=BUNDLE,
    screen="echo",
)
async def text(t: Trial) -> None:
    for written in (TEXT, "two\nlines\tand 'quotes\"", "x" * 20_000):
        answer = await t.call("clipboard", action="write", text=written)
        t.require(answer.verified is True, "text that was read back must be verified")
        read = await t.call("clipboard", kind="text")
        t.equal(read.data.get("text"), written, "the text that was written")


@case(
    "clipboard.apps-paste-what-was-written",
    "What was written MUST be what the app gets when it pastes, and the latest of it.",
    command="clipboard",
    sample={"action": "write", "text": "x"},
    needs=("keys.press",),
    bundle=BUNDLE,
    screen="form",
    mutates=True,
)
async def pasted(t: Trial) -> None:
    await t.call("clipboard", action="write", text="an older text")
    await t.call("clipboard", action="write", text=TEXT)
    await t.call("press", target='label="Name" role=textbox')
    await t.call("key", chord="primary+v")
    await t.heard("fill", id="form.name", value=TEXT)
    if "symbols" not in t.manifest.unseen:
        t.equal((await only(t, 'label="Name" role=textbox')).get("value"), TEXT, "what the field shows")


@case(
    "clipboard.is-the-devices-own",
    "What is written to one device's clipboard MUST NOT be on another's.",
    command="clipboard",
    sample={"action": "write", "text": "x"},
    needs=("clipboard.read",),
    bundle=BUNDLE,
    screen="echo",
)
async def own(t: Trial) -> None:
    await t.open("echo", on=t.other)
    await t.call("clipboard", on=t.other, action="write", text="of the other device")
    await t.call("clipboard", action="write", text="of this device")
    read = await t.call("clipboard", on=t.other, kind="text")
    t.equal(read.data.get("text"), "of the other device", "the text on the other device")


@case(
    "clipboard.pictures-come-back",
    "A picture that was written MUST be read back as a whole picture of its size, and MUST NOT be told as text.",
    command="clipboard",
    sample={"action": "write", "image": "x.png"},
    needs=("clipboard.read", "screen.image"),
    bundle=BUNDLE,
    optional=True,
    screen="echo",
)
async def pictures(t: Trial) -> None:
    shot = await t.call("screenshot", maxDimension=200)
    t.equal(shot.data["mime"], "image/png", "format of a picture that was made smaller")
    await t.call("clipboard", action="write", image=shot.artefacts[0].uri)
    read = await t.call("clipboard")
    t.equal(read.data["kinds"], ["image"], "what is on the clipboard")
    had = {name: read.data.get(name) for name in ("kind", "width", "height")}
    t.equal(had, {"kind": "image", "width": shot.data["width"], "height": shot.data["height"]}, "the picture")
    t.require(t.router.services.artefacts.read(read.artefacts[0].uri).startswith(b"\x89PNG"), "it must be a PNG file")


@case(
    "clipboard.files-come-back",
    "Files that were written MUST be read back as those files, in their order.",
    command="clipboard",
    sample={"action": "write", "files": ["x"]},
    needs=("clipboard.read", "screen.image"),
    bundle=BUNDLE,
    optional=True,
    screen="echo",
)
async def files(t: Trial) -> None:
    names = [(await t.call("screenshot", maxDimension=64)).artefacts[0].uri for _ in range(2)]
    for order in (names, names[::-1]):
        await t.call("clipboard", action="write", files=order)
        read = await t.call("clipboard", kind="files")
        t.equal(read.data.get("files"), order, "the files that were written")
