"""The Linux desktop backend: X11 desktops, driven through accessibility, XTEST and the window manager."""

from anydevice.driver import Backend as _Backend

LinuxBackend: type[_Backend]
try:
    from .backend import LinuxBackend as _Present
except ModuleNotFoundError as _error:
    from .absent import LIBRARIES as _LIBRARIES
    from .absent import AbsentBackend as _Absent

    if (_error.name or "").partition(".")[0] not in _LIBRARIES:
        raise
    _Absent.missing = (_error.name or "").partition(".")[0]
    LinuxBackend = _Absent
else:
    LinuxBackend = _Present

__all__ = ["LinuxBackend"]
