"""How the practice app in memory is started: what a request asks of it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from anydevice_schemas.errors import AppNotFound
from anydevice_schemas.practice import APP_ID

from ..driver import OpenRequest

NAMES = (APP_ID, "practice")
"""What the app is known by, in lower case."""


def parameters(url: str) -> dict[str, str]:
    """The parameters of an address; of one that is given twice, the last."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}


def options_of(request: OpenRequest) -> dict[str, str]:
    """The options of a start, `--name value` or in the address: screen, witness.

    Raises:
        AppNotFound: Another app, or an address that is not the practice app's.
    """
    if request.url is not None:
        if urlsplit(request.url).scheme == "practice":
            return parameters(request.url)
        raise AppNotFound("Nothing here opens this address.", nearest_matches=["practice:"])
    if request.app is not None and request.app.casefold() not in NAMES:
        raise AppNotFound("There is no such app.", nearest_matches=[APP_ID])
    words = list(request.arguments)
    pairs = zip(words[::2], words[1::2], strict=False)
    return {name.removeprefix("--"): value for name, value in pairs if name.startswith("--")}
