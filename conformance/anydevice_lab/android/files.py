"""The device's files: where Android has them."""

from __future__ import annotations

from pathlib import Path

from ..guest import files
from ..guest.files import Layout, Outward

ANDROID = Layout(
    places=("sdcard", "data", "system", "product", "vendor"),
    same={"storage/emulated/0": "sdcard", "mnt/sdcard": "sdcard", "storage/self/primary": "sdcard"},
    made=(
        "sdcard/DCIM", "sdcard/Download", "sdcard/Pictures", "sdcard/Movies", "sdcard/Android", "data/local/tmp",
        "data/app", "system/etc", "product", "vendor",
    ),
)  # fmt: skip


class Files(files.Files):
    """The files of one device.

    Args:
        root: The folder that is the device's root; made here, with what a device has from the start.
        programs: Folder of the device's programs, which is its `/system/bin`.
        shell: The host's shell that runs command lines, which is its `/system/bin/sh`.
    """

    def __init__(self, root: Path, programs: Path, shell: str = "/bin/sh", layout: Layout = ANDROID) -> None:
        super().__init__(root, programs, layout, shell)


__all__ = ["ANDROID", "Files", "Outward"]
