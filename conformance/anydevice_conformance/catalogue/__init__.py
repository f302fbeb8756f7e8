"""The cases, a module an area. Importing a module enters its cases."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Enters every case there is, once."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
