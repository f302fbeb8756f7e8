"""The console entry. `mcp` goes to the byte pump before anything else is imported."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line of this process; returns its exit code (see `exits`)."""
    argv = sys.argv[1:]
    if argv[:1] == ["mcp"]:
        from anydevice.host.pump import main as pump

        return pump("mcp", argv[1:])
    from .app import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
