"""The fixtures of the official conformance suite, as a vendor's plugin would bring them.

The suite judges a server by tools, prompts and resources of fixed names. They come through `anydevice_mcp_features`
alone, so what the suite finds green is what a vendor's plugin can reach. Installed in tests only, by `install`.

    contents.py   what a result may hold, progress, errors; tools, prompts and resources
    asking.py     questions in the middle of a call (the older era)
    rounds.py     questions by unfinished results (2026-07-28)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anydevice.hooks import hookimpl

if TYPE_CHECKING:
    from anydevice_mcp import Feature


@hookimpl(optionalhook=True)
def anydevice_mcp_features() -> Sequence[Feature]:
    """See `anydevice_mcp.features`; the SDK is imported only here."""
    from .asking import Asking
    from .contents import Contents
    from .rounds import Rounds

    return [Contents(), Asking(), Rounds()]
