"""What a script of uiautomator2 does with a device: `uiautomator2_calls.py SERIAL`."""

from __future__ import annotations

import sys

import uiautomator2 as u2

PRACTICE = "dev.anydevice.practice"


def script(serial: str) -> None:
    device = u2.connect(serial)
    try:
        assert device.info["currentPackageName"] == PRACTICE
        assert device.window_size() == (1080, 2400)
        xml = device.dump_hierarchy()
        assert 'resource-id="form.name"' in xml and "com.android.systemui" in xml
        device(resourceId="form.name").set_text("Ada Lövelace 👍")
        assert device(resourceId="form.name").get_text() == "Ada Lövelace 👍"
        device(text="Sign in").click()
        assert device(textContains="Apple").exists
        assert not device(text="nothing like it").exists(timeout=0.2)
        assert device(resourceId="form.wifi").info["checked"] is False
        device.click(540, 2)
        assert device.screenshot().size == (1080, 2400)
        device.set_clipboard("over there")
        assert device.clipboard == "over there"
        device.xpath('//*[@text="Sign in with Apple"]').click()
        assert device(className="android.widget.ScrollView").child(text="Sign in").exists
        assert not device(resourceId="form.row").child(text="Sign in").exists
        device.press("back")
        device.press("home")
        device.app_start(PRACTICE)
        assert device.app_current()["package"] == PRACTICE
        device.shell(f"am start -W -n {PRACTICE}/.MainActivity --es screen list")
        assert device(scrollable=True).scroll.to(text="Row 60")
        assert device(text="Row 60").exists
        device.shell(f"am start -W -n {PRACTICE}/.MainActivity --es screen gestures")
        device(description="Pinch here").pinch_out(percent=60, steps=10)
        device(text="Hold me").long_click(duration=0.7)
        device(text="Card").drag_to(description="Drop here", duration=0.1)
    finally:
        device.stop_uiautomator(wait=False)


if __name__ == "__main__":
    script(*sys.argv[1:2])
