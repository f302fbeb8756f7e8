"""The interfaces that are spoken here: what each request and event carries, in the order of their numbers.

Arguments, one letter each: `i` int, `u` uint, `f` fixed-point number, `s` string, `o` object, `n` new object, `h`
descriptor; `*` stands for the untyped new object of `wl_registry.bind`. What is never sent or heard is left out where
nothing with a higher number is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Messages = tuple[tuple[str, str], ...]
"""Name and arguments of each."""


@dataclass(slots=True, frozen=True)
class Interface:
    """An interface: its name, what can be asked of it, what it tells.

    Attributes:
        name: As the compositor announces it.
        requests, events: By their numbers.
        version: The highest that this description holds for.
        ends: Name of the request that destroys an object; empty where there is none.
    """

    name: str
    requests: Messages
    events: Messages = ()
    version: int = 1
    ends: str = ""


DISPLAY: Final = Interface(
    "wl_display",
    (("sync", "n"), ("get_registry", "n")),
    (("error", "ous"), ("delete_id", "u")),
)
REGISTRY: Final = Interface("wl_registry", (("bind", "u*"),), (("global", "usu"), ("global_remove", "u")))
CALLBACK: Final = Interface("wl_callback", (), (("done", "u"),))
SHM: Final = Interface("wl_shm", (("create_pool", "nhi"),), (("format", "u"),))
SHM_POOL: Final = Interface(
    "wl_shm_pool", (("create_buffer", "niiiiu"), ("destroy", ""), ("resize", "i")), (), 1, "destroy"
)
BUFFER: Final = Interface("wl_buffer", (("destroy", ""),), (("release", ""),), 1, "destroy")
SEAT: Final = Interface("wl_seat", (), (("capabilities", "u"), ("name", "s")), 2)
OUTPUT: Final = Interface(
    "wl_output",
    (("release", ""),),
    (
        ("geometry", "iiiiissi"),
        ("mode", "uiii"),
        ("done", ""),
        ("scale", "i"),
        ("name", "s"),
        ("description", "s"),
    ),
    4,
)
XDG_OUTPUT_MANAGER: Final = Interface(
    "zxdg_output_manager_v1", (("destroy", ""), ("get_xdg_output", "no")), (), 3, "destroy"
)
XDG_OUTPUT: Final = Interface(
    "zxdg_output_v1",
    (("destroy", ""),),
    (("logical_position", "ii"), ("logical_size", "ii"), ("done", ""), ("name", "s"), ("description", "s")),
    3,
    "destroy",
)
SCREENCOPY_MANAGER: Final = Interface(
    "zwlr_screencopy_manager_v1",
    (("capture_output", "nio"), ("capture_output_region", "nioiiii"), ("destroy", "")),
    (),
    3,
    "destroy",
)
SCREENCOPY_FRAME: Final = Interface(
    "zwlr_screencopy_frame_v1",
    (("copy", "o"), ("destroy", ""), ("copy_with_damage", "o")),
    (
        ("buffer", "uuuu"),
        ("flags", "u"),
        ("ready", "uuu"),
        ("failed", ""),
        ("damage", "uuuu"),
        ("linux_dmabuf", "uuu"),
        ("buffer_done", ""),
    ),
    3,
    "destroy",
)
VIRTUAL_KEYBOARD_MANAGER: Final = Interface("zwp_virtual_keyboard_manager_v1", (("create_virtual_keyboard", "on"),))
VIRTUAL_KEYBOARD: Final = Interface(
    "zwp_virtual_keyboard_v1",
    (("keymap", "uhu"), ("key", "uuu"), ("modifiers", "uuuu"), ("destroy", "")),
    (),
    1,
    "destroy",
)
VIRTUAL_POINTER_MANAGER: Final = Interface(
    "zwlr_virtual_pointer_manager_v1",
    (("create_virtual_pointer", "on"), ("destroy", ""), ("create_virtual_pointer_with_output", "oon")),
    (),
    2,
    "destroy",
)
VIRTUAL_POINTER: Final = Interface(
    "zwlr_virtual_pointer_v1",
    (
        ("motion", "uff"),
        ("motion_absolute", "uuuuu"),
        ("button", "uuu"),
        ("axis", "uuf"),
        ("frame", ""),
        ("axis_source", "u"),
        ("axis_stop", "uu"),
        ("axis_discrete", "uufi"),
        ("destroy", ""),
    ),
    (),
    2,
    "destroy",
)
DATA_CONTROL_MANAGER: Final = Interface(
    "zwlr_data_control_manager_v1",
    (("create_data_source", "n"), ("get_data_device", "no"), ("destroy", "")),
    (),
    2,
    "destroy",
)
DATA_CONTROL_DEVICE: Final = Interface(
    "zwlr_data_control_device_v1",
    (("set_selection", "o"), ("destroy", ""), ("set_primary_selection", "o")),
    (("data_offer", "n"), ("selection", "o"), ("finished", ""), ("primary_selection", "o")),
    2,
    "destroy",
)
DATA_CONTROL_SOURCE: Final = Interface(
    "zwlr_data_control_source_v1",
    (("offer", "s"), ("destroy", "")),
    (("send", "sh"), ("cancelled", "")),
    1,
    "destroy",
)
DATA_CONTROL_OFFER: Final = Interface(
    "zwlr_data_control_offer_v1", (("receive", "sh"), ("destroy", "")), (("offer", "s"),), 1, "destroy"
)
TOPLEVEL_MANAGER: Final = Interface(
    "zwlr_foreign_toplevel_manager_v1", (("stop", ""),), (("toplevel", "n"), ("finished", "")), 3
)
TOPLEVEL: Final = Interface(
    "zwlr_foreign_toplevel_handle_v1",
    (
        ("set_maximized", ""),
        ("unset_maximized", ""),
        ("set_minimized", ""),
        ("unset_minimized", ""),
        ("activate", "o"),
        ("close", ""),
        ("set_rectangle", "oiiii"),
        ("destroy", ""),
        ("set_fullscreen", "o"),
        ("unset_fullscreen", ""),
    ),
    (
        ("title", "s"),
        ("app_id", "s"),
        ("output_enter", "o"),
        ("output_leave", "o"),
        ("state", "a"),
        ("done", ""),
        ("closed", ""),
        ("parent", "o"),
    ),
    3,
    "destroy",
)
