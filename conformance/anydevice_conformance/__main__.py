"""`python -m anydevice_conformance BACKEND …`: the same as `anydevice conformance`."""

from __future__ import annotations

import sys

import click

from .cli import conformance


def main() -> int:
    """Runs the command line of this process; returns its exit code."""
    try:
        code = conformance.main(prog_name="python -m anydevice_conformance", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main())
