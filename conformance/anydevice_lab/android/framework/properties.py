"""System properties and settings a device begins with."""

from __future__ import annotations

from ..kinds import Kind


def properties(kind: Kind, serialno: str) -> dict[str, str]:
    """The properties of a kind of device."""
    brand = "google" if kind.manufacturer == "Google" else kind.manufacturer.lower()
    build = f"{brand}/{kind.product}/{kind.device}:{kind.release}/AP4A.260101.001/1:user/release-keys"
    found = {
        "dev.bootcomplete": "1",
        "init.svc.adbd": "running",
        "init.svc.bootanim": "stopped",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "Europe/Berlin",
        "ro.boot.serialno": serialno,
        "ro.build.characteristics": kind.characteristics,
        "ro.build.display.id": "AP4A.260101.001",
        "ro.build.fingerprint": build,
        "ro.build.id": "AP4A.260101.001",
        "ro.build.type": "user",
        "ro.build.version.base_os": "",
        "ro.build.version.release": kind.release,
        "ro.build.version.sdk": str(kind.api),
        "ro.debuggable": "0",
        "ro.hardware": kind.device,
        "ro.product.brand": brand,
        "ro.product.cpu.abi": "arm64-v8a",
        "ro.product.cpu.abilist": "arm64-v8a",
        "ro.product.cpu.abilist32": "",
        "ro.product.device": kind.device,
        "ro.product.manufacturer": kind.manufacturer,
        "ro.product.model": kind.model,
        "ro.product.name": kind.product,
        "ro.product.system.model": "Generic System",
        "ro.secure": "1",
        "ro.serialno": serialno,
        "ro.sf.lcd_density": str(kind.density),
        "sys.boot_completed": "1",
        "sys.usb.config": "adb",
    }
    if kind.api >= 36:
        found["ro.build.version.sdk_full"] = f"{kind.api}.1"
    if kind.avd:
        found |= {
            "ro.boot.qemu": "1",
            "ro.boot.qemu.avd_name": kind.avd,
            "ro.hardware": "ranchu",
            "ro.kernel.qemu": "1",
            "ro.product.cpu.abi": "x86_64",
            "ro.product.cpu.abilist": "x86_64",
        }
    return found


def first_settings() -> dict[str, dict[str, str]]:
    """The settings of a device as it comes, by namespace."""
    keyboard = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
    return {
        "system": {
            "accelerometer_rotation": "1",
            "user_rotation": "0",
            "screen_brightness": "128",
            "screen_off_timeout": "60000",
            "font_scale": "1.0",
        },
        "secure": {
            "default_input_method": keyboard,
            "enabled_input_methods": keyboard,
            "location_mode": "3",
            "show_ime_with_hard_keyboard": "0",
            "ui_night_mode": "1",
            "accessibility_enabled": "0",
        },
        "global": {
            "adb_enabled": "1",
            "airplane_mode_on": "0",
            "animator_duration_scale": "1.0",
            "bluetooth_on": "1",
            "device_provisioned": "1",
            "mobile_data": "1",
            "sysui_demo_allowed": "0",
            "transition_animation_scale": "1.0",
            "wifi_on": "1",
            "window_animation_scale": "1.0",
        },
    }
