"""What `param get` tells of a device."""

from __future__ import annotations

from ..kinds import Kind

SETTABLE = ("persist.ace.", "debug.", "persist.hiviewdfx.", "hilog.")
"""Beginnings of the names of parameters that a user build lets its shell set."""


def params(kind: Kind, serial: str) -> dict[str, str]:
    """Its parameters at the start."""
    return {
        "const.product.name": kind.product,
        "const.product.brand": kind.brand,
        "const.product.manufacturer": kind.brand,
        "const.product.model": kind.model,
        "const.product.devicetype": kind.type,
        "const.build.characteristics": kind.type,
        "const.product.software.version": f"{kind.model} {kind.release}",
        "const.product.cpu.abilist": "x86_64" if kind.emulator else "arm64-v8a",
        "const.ohos.apiversion": str(kind.api),
        "const.ohos.fullname": f"OpenHarmony-{kind.release.split('(')[0]}",
        "const.debuggable": "1" if kind.debuggable else "0",
        "const.security.developermode.state": "true",
        "const.SystemCapability.TELEPHONY": "true" if kind.type == "phone" else "false",
        "ohos.boot.sn": serial,
        "bootevent.boot.completed": "true",
        "persist.ace.testmode.enabled": "0",
        "persist.global.language": "en",
        "persist.global.region": "US",
    }
