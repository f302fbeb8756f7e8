"""What a script of adbutils does with a device: `adbutils_calls.py SERIAL PACKAGE_FILE`."""

from __future__ import annotations

import io
import os
import sys

import adbutils

PRACTICE = "dev.anydevice.practice"
NASTY = [
    "it's", "$HOME", "`id`", "päivä", "*?[x]", "%s", "", "!x", 'say "hi"', "a;b", "<x>", "back\\slash",
    "foo; rm -rf /sdcard",
]  # fmt: skip
"""Without line ends: the older protocol it speaks there has a terminal in between."""


def script(serial: str, package: str) -> None:
    client = adbutils.adb
    device = client.device(serial)
    assert serial in [info.serial for info in client.list()]
    assert device.get_state() == "device"
    assert (device.prop.model, device.prop.device) == ("Pixel 8", "shiba")
    assert "shell_v2" in device.get_features()
    result = device.shell2("echo out; echo err >&2; exit 4", v2=True)
    assert (result.returncode, result.stdout, result.stderr) == (4, "out\n", "err\n")
    for text in NASTY:
        assert device.shell(["printf", "%s", text], rstrip=False, encoding=None) == text.encode(), text
    size = device.window_size()
    assert (size.width, size.height) == (1080, 2400)
    assert device.rotation() == 0
    assert device.is_screen_on()
    picture = device.screenshot()
    assert picture.size == (1080, 2400)
    assert picture.getextrema() != ((0, 0), (0, 0), (0, 0)), "a black picture stands for a failure there"
    data = os.urandom(300_000)
    device.sync.push(io.BytesIO(data), "/sdcard/blob")
    assert device.sync.stat("/sdcard/blob").size == len(data)
    assert device.sync.read_bytes("/sdcard/blob") == data
    assert "blob" in [entry.path for entry in device.sync.list("/sdcard")]
    assert device.app_current().package == PRACTICE
    assert PRACTICE in device.list_packages()
    assert "<hierarchy" in device.dump_hierarchy()
    device.install(package, nolaunch=True, silent=True)
    assert "com.example.adbutils" in device.list_packages()
    device.uninstall("com.example.adbutils")
    assert "com.example.adbutils" not in device.list_packages()
    port = device.forward_port(9999)
    assert [item.local for item in device.forward_list() if item.remote == "tcp:9999"] == [f"tcp:{port}"]
    device.reverse("tcp:7777", "tcp:7778")
    assert [(item.remote, item.local) for item in device.reverse_list()] == [("tcp:7777", "tcp:7778")]
    device.keyevent("HOME")
    device.app_start(PRACTICE)
    assert device.app_current().package == PRACTICE
    device.app_stop(PRACTICE)


if __name__ == "__main__":
    script(*sys.argv[1:3])
