"""The command this backend brings: `vega-config`."""

from __future__ import annotations

from typing import Any

from anydevice.context import Context, Outcome
from anydevice_schemas.errors import ActionUnverified

from .config import VegaConfig


async def vega_config(ctx: Context, args: Any) -> Outcome:
    """Reads or changes one value of the device's configuration.

    Raises:
        InvalidArgument: There is no such value.
        ActionUnverified: It was taken, and reads otherwise.
    """
    config = ctx.use(VegaConfig)
    if args.value is None:
        return Outcome(data={"name": args.name, "value": (await config.read(args.name)).value})
    acted = await config.change(args.name, args.value)
    if not acted.verified:
        raise ActionUnverified(
            "The device took the value and reads otherwise.",
            expected=args.value,
            actual=acted.data.get("value"),
            hint=f"Call vega-config name={args.name} to read it again.",
        )
    return Outcome(data={"name": args.name, **acted.data}, verified=True, method=acted.method)
