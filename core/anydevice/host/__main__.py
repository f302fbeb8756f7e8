"""`python -m anydevice.host`: the daemon's own process. People use `anydevice serve`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any


def main(argv: list[str] | None = None) -> int:
    """Runs the daemon. 0 = it ended as asked, or one runs already; 1 = it could not start."""
    parser = argparse.ArgumentParser(prog="python -m anydevice.host", description="Runs the anydevice daemon.")
    parser.add_argument("--detach", action="store_true", help="go on in a process of its own and log to the file")
    parser.add_argument("--idle", type=float, help="seconds without use after which it ends; 0 = never")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a line over config.toml")
    parser.add_argument("--ready-fd", type=int, help="descriptor that gets one line of JSON once it is up or failed")
    parser.add_argument("--check", action="store_true", help="only tell, as one line of JSON, whether it would start")
    parser.add_argument("--took-over", type=int, metavar="FD", help="descriptor of what an earlier version left")
    options = parser.parse_args(argv)
    if options.check:
        return check()
    if options.took_over is not None:
        return run(detached=True, took_over=options.took_over)
    if options.detach:
        # The first child of a session leader, in a session of its own: no terminal, and nobody's zombie.
        if os.fork():
            os._exit(0)
        os.setsid()
    return run(detached=options.detach, idle=options.idle, ready_fd=options.ready_fd, over=options.set)


def check() -> int:
    """Tells an earlier version whether this one would start, and could take over from it."""
    said: dict[str, Any] = {"ok": True, "reason": ""}
    try:
        import anydevice

        from ..settings import Settings
        from . import daemon, succession  # noqa: F401 - whether it can be imported is the question

        said |= {"version": anydevice.__version__, "format": succession.FORMAT}
        Settings.load()
    except Exception as error:  # the answer to the question
        said |= {"ok": False, "reason": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps({"version": "", "format": 0} | said) + "\n")
    return 0


def run(
    *,
    detached: bool,
    idle: float | None = None,
    ready_fd: int | None = None,
    took_over: int | None = None,
    over: Sequence[str] = (),
) -> int:
    """Runs the daemon in this process.

    Args:
        detached: Log to the file, in JSON; else to stderr, for a person.
        idle: See `daemon.serve`.
        ready_fd: Descriptor for the line that says it is up, or why not.
        over: Settings that count more than the file (see `Settings.load`).
        took_over: Descriptor of what the version left that ran in this process before; it says whether to log to
            the file.
    """
    ready = _Ready(ready_fd)
    try:
        import asyncio

        import anyio
        import structlog

        from ..settings import Settings, private_folder
        from . import daemon, logs, record
        from .place import AlreadyRunning
        from .succession import Heritage

        heritage = Heritage.load(took_over) if took_over is not None else None
        if heritage is not None:
            detached, over = heritage.detached, heritage.over
        logs.configure(readable=not detached)
        settings = Settings.load(over=over)
        logfile = None
        if detached:
            private_folder(settings.run_dir)
            logfile = logs.LogFile(settings.run_dir / record.LOG)
            logfile.attach()
    except Exception as error:  # whoever started us must hear why there is no daemon
        ready.failed(error)
        return 1

    async def serve() -> None:
        asyncio.get_running_loop().set_exception_handler(logs.loop_fault)
        await daemon.serve(settings, idle=idle, logfile=logfile, ready=ready.up, heritage=heritage)

    try:
        anyio.run(serve, backend="asyncio")
    except AlreadyRunning as error:
        ready.up()
        if not detached:
            sys.stderr.write(f"anydevice: {error}\n")
            return 1
        return 0
    except Exception as error:  # as above
        structlog.get_logger("anydevice.host").error("daemon_failed", exc_info=error)
        ready.failed(error)
        return 1
    return 0


class _Ready:
    """The one line to whoever started the daemon."""

    def __init__(self, fd: int | None) -> None:
        self.fd = fd

    def up(self) -> None:
        """It takes calls."""
        self._say({"ok": True, "pid": os.getpid()})

    def failed(self, error: BaseException) -> None:
        """It does not, and this is why."""
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        wire: dict[str, Any]
        if hasattr(error, "to_wire"):
            wire = error.to_wire()
        else:
            wire = {
                "code": "upstream_unavailable",
                "message": f"The daemon could not start: {type(error).__name__}: {error}",
                "retryable": False,
                "hint": "Run: anydevice serve --foreground",
                "details": {"upstream": "daemon", "enable_hint": "anydevice serve --foreground"},
            }
        if self.fd is None:
            sys.stderr.write(f"anydevice: {wire['code']}: {wire['message']}\n")
        self._say({"ok": False, "error": wire})

    def _say(self, line: dict[str, Any]) -> None:
        if self.fd is None:
            return
        fd, self.fd = self.fd, None
        try:
            os.write(fd, json.dumps(line).encode() + b"\n")
            os.close(fd)
        except OSError:
            pass  # whoever started us has given up waiting


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is closed and given back by now. A thread that hangs in some plugin's blocking call would keep the
    # process from ending, for as long as it hangs.
    os._exit(code)
