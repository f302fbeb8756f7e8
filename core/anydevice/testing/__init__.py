"""For the tests of whoever builds on anydevice: a fake backend, a fake clock, and a router around them.

    from anydevice.testing import FakeBackend, fake_router

    async with fake_router(FakeBackend(["phone-1", "phone-2"])) as (router, backend):
        answer = await router.call(call("press", target="Increment", device="phone-1"))
        assert backend.screen("phone-1").text("Count") == "1"
        assert backend.screen("phone-2").text("Count") == "0"

The fake keeps a journal of every input it received (`FakeScreen.journal`): judge by that, not by answers alone.
Everything here runs on asyncio and trio.
"""

from .clock import FakeClock
from .driver import FakeDriver
from .fake import FakeBackend, Fault, fake_manifest
from .harness import call, caller, fake_router
from .practice import PracticeApp
from .reference import ReferenceBackend
from .reporter import HttpReporter
from .screen import FakeElement, FakeScreen, practice_screen

__all__ = [
    "FakeBackend",
    "FakeClock",
    "FakeDriver",
    "FakeElement",
    "FakeScreen",
    "Fault",
    "HttpReporter",
    "PracticeApp",
    "ReferenceBackend",
    "call",
    "caller",
    "fake_manifest",
    "fake_router",
    "practice_screen",
]
