"""Homes with daemons (see `support.homes`)."""

from ..support.homes import daemon, home, mark, shared

__all__ = ["daemon", "home", "mark", "shared"]
