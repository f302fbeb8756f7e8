"""A client of the hdc channel that other people wrote, against the lab: it is not shaped to our own client."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from anydevice.kit import processes
from anydevice_lab.harmonyos import Lab, write_hap

pytestmark = pytest.mark.anyio
SCRIPT = Path(__file__).parent / "scripts" / "hdc_rs_calls.py"


@pytest.mark.skipif(importlib.util.find_spec("hdc_rs_py") is None, reason="hdc-rs-py is not installed")
@pytest.mark.parametrize("version", [False, True], ids=["44 bytes", "108 bytes"])
async def test_hdc_rs_py_works_with_a_lab_device(version: bool, tmp_path: Path) -> None:
    """With a greeting of both lengths; a tablet beside it keeps `any` from meaning the phone."""
    write_hap(tmp_path / "good.hap", "com.example.rust")
    write_hap(tmp_path / "bad.hap", "com.example.bad", signed=False)
    async with Lab() as lab:
        await lab.server(version=version)
        phone, _ = await lab.start("phone", "tablet")
        await lab.ask("log", serial=phone, text="something")
        argv = [sys.executable, str(SCRIPT), f"127.0.0.1:{lab.port}", phone, str(tmp_path)]
        result = await processes.run(argv, deadline=90)
        assert result.code == 0, result.text + result.complaint
        assert {entry["key"] for entry in await lab.heard("command")} == {"", phone}
