"""The console entry. `mcp` goes to the byte pump before anything else is imported."""

from __future__ import annotations

import sys

INSTALL = "pip install 'anydevice[mcp]' && anydevice stop"
"""A daemon that runs has looked for its plugins already, so it has to end."""
FAILED = 1


def _there(module: str) -> bool:
    """Whether a library is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def main() -> int:
    """Runs the command line of this process; returns its exit code (see `exits`)."""
    argv = sys.argv[1:]
    if argv[:1] == ["mcp"]:
        if "--help" not in argv and not _there("mcp"):
            sys.stderr.write(f"anydevice: tool_missing: the library mcp is not installed. Run: {INSTALL}\n")
            return FAILED
        from anydevice.host.pump import main as pump

        return pump("mcp", argv[1:])
    from .app import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
