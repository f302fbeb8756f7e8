"""The web backend: browsers that speak the Chrome DevTools Protocol, as devices."""

from .backend import WebBackend

__all__ = ["WebBackend"]
