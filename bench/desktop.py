"""A virtual Linux desktop through the whole path, in one process: what reading and pressing cost."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from anydevice.assembly import open_router
from anydevice.settings import Settings
from anydevice.testing import call
from anydevice_schemas.practice import APP_ID

Report = Callable[..., float]
Timed = Callable[[int, Callable[[], Awaitable[Any]]], Awaitable[list[float]]]


async def desktop(report: Report, timed: Timed) -> None:
    """The practice app (GTK3) and, where it is installed, gnome-calculator (GTK4)."""
    if shutil.which("Xvfb") is None:
        print("no Xvfb here: the Linux desktop is not measured")
        return
    with tempfile.TemporaryDirectory() as home:
        async with open_router(Settings(home=Path(home))) as router:

            async def do(name: str, **arguments: Any) -> Any:
                answer = await router.call(call(name, device="virtual", **arguments))
                assert answer.ok, answer.error
                return answer

            await do("boot")
            await do("open", app=APP_ID, arguments=["--screen", "form"])
            report("Linux: snapshot of the practice app's form (GTK3)", await timed(20, lambda: do("snapshot")))
            button = (await do("find", query='label="Sign in" role=button')).data["matches"][0]["ref"]
            report("Linux: press by ref, with what changed (GTK3)", await timed(20, lambda: do("press", target=button)))
            report(
                "Linux: fill by label, read back (GTK3)", await timed(10, lambda: do("fill", target="Name", text="Ada"))
            )
            report("Linux: screenshot 1280x800, PNG", await timed(20, lambda: do("screenshot")))
            if shutil.which("gnome-calculator") is not None:
                await do("open", app="org.gnome.Calculator")
                report("Linux: snapshot of gnome-calculator (GTK4)", await timed(20, lambda: do("snapshot")))
            await do("shutdown")
