"""Asking a person, through the client, for what destroys something.

A confirmation token becomes valid when a person approves it. A client that can ask its user (elicitation) is asked
here: in the older era in the middle of the call, in the newer one by an unfinished result that the client comes back
to. The token never passes the model; one that is not approved is worth nothing, and one that was used is gone.
"""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from anydevice.policy import Policy
from anydevice_schemas import Answer
from anydevice_schemas.errors import ConfirmationInvalid

Request = ServerRequestContext[Any, Any]

ASK_SECONDS = 240.0
"""How long a person may take; less than a token lives."""

QUESTION = "approve"
"""Key of the question in an unfinished result."""

_SCHEMA: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Do it", "description": "Yes lets it happen, once.", "default": False}
    },
    "required": ["approve"],
}


def can_ask(ctx: Request) -> bool:
    """Whether the client can ask its user a question with a form."""
    able = ctx.session.client_capabilities
    asks = able.elicitation if able is not None else None
    if asks is None:
        return False
    if asks.form is None and asks.url is not None:
        return False  # the older revisions' empty object means forms; only URLs is said by naming them alone
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.can_send_request


def token_of(answer: Answer) -> str | None:
    """The token an answer wants approved, if that is what it says."""
    if answer.error is None or answer.error.code != "confirmation_required":
        return None
    token = answer.error.details.get("token")
    return token if isinstance(token, str) else None


async def ask(ctx: Request, policy: Policy, token: str) -> bool | types.InputRequiredResult:
    """Has a person decide about a token.

    Returns:
        Whether it was approved; in the newer era what to answer, so that the client asks and calls again.
    """
    request = types.ElicitRequestFormParams(message=_question(policy, token), requested_schema=_SCHEMA)
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return types.InputRequiredResult(
            input_requests={QUESTION: types.ElicitRequest(params=request)}, request_state=token
        )
    try:
        with anyio.fail_after(ASK_SECONDS):
            said = await ctx.session.elicit_form(request.message, _SCHEMA, related_request_id=ctx.request_id)
    except (TimeoutError, MCPError):
        return False
    return _approved(policy, token, said)


def answered(policy: Policy, params: types.CallToolRequestParams) -> str | None:
    """The token that came back with a person's yes, approved now; None without one.

    `request_state` was sealed by us for this tool and these arguments, and opened before it got here.
    """
    token, said = params.request_state, (params.input_responses or {}).get(QUESTION)
    if token is None or not isinstance(said, types.ElicitResult):
        return None
    return token if _approved(policy, token, said) else None


def _approved(policy: Policy, token: str, said: types.ElicitResult) -> bool:
    if said.action != "accept" or (said.content or {}).get("approve") is not True:
        return False
    try:
        policy.approve(token)
    except ConfirmationInvalid:
        return False  # it was used, or ran out while the person thought
    return True


def _question(policy: Policy, token: str) -> str:
    found = next((row for row in policy.pending() if row["token"] == token), None)
    if found is None:
        return "Approve this call?"
    what = f": {found['what']}" if found["what"] else ""
    return f"{found['command']} {found['why']}{what}. Do it?"
