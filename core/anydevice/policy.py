"""What may be done at all: profiles, scopes, and a person's confirmation for what destroys."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anydevice_schemas import Caller, Command, Confirm, Device
from anydevice_schemas.errors import ConfirmationInvalid, ConfirmationRequired, Refused

from .clock import Clock
from .journal import digest, redacted
from .text import quoted, visible

Profile = Literal["read-only", "standard", "full"]
_RANK = {"read-only": 0, "standard": 1, "full": 2}

TOKEN_SECONDS = 300.0
TOKENS_MOST = 32
"""Tokens of one principal that wait; whoever asks more often loses the oldest that nobody has approved."""
"""How long a confirmation token can be approved and used."""
WHAT_MOST = 500
"""Characters of a call that a person is shown."""


def applies(when: Mapping[str, list[str]], arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments meet a `when` of a plan or a confirmation rule."""
    for name, wanted in when.items():
        value = arguments.get(name)
        if value is None:
            if "*absent*" not in wanted:
                return False
        elif "*given*" not in wanted and _word(value) not in wanted:
            return False
    return True


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(slots=True)
class _Token:
    binding: str
    expires: float
    principal: str
    command: str
    why: str
    what: str
    approved: bool


class Policy:
    """Judges calls by profile, scope and confirmation.

    Args:
        profile: `read-only` refuses everything that changes something, `full` allows raw scripts.
        confirm: `person`: a token becomes valid when a person approves it. `caller`: at once, and answers say so.
    """

    def __init__(self, clock: Clock, *, profile: str = "standard", confirm: str = "person") -> None:
        if profile not in _RANK:
            raise ValueError(f"profile must be one of {', '.join(_RANK)}, not {profile!r}")
        self.clock = clock
        self.profile = profile
        self.confirm = confirm
        self._tokens: dict[str, _Token] = {}

    def permit(
        self,
        command: Command,
        arguments: Mapping[str, Any],
        caller: Caller,
        device: Device | None,
        token: str | None,
    ) -> str | None:
        """Lets a call pass, or refuses it.

        Returns:
            A notice for the answer when the call passed only because the server trusts its callers to confirm.

        Raises:
            Refused: Profile or scope forbid it; retrying will not help.
            ConfirmationRequired: A person has to approve the token first.
            ConfirmationInvalid: The token is unknown, used, expired, not approved, or bound to another call.
        """
        reads = command.effect == "read" or (command.reads_when and applies(command.reads_when, arguments))
        if not reads:
            self._allow_change(command, caller)
        if _RANK[command.profile] > _RANK[self.profile]:
            raise Refused(
                f"{command.name} needs the profile {command.profile}.",
                reason=f"the server runs with profile {self.profile}",
                alternative=_higher(command.profile),
            )
        rule = self._rule(command, arguments, device)
        if rule is None:
            return None
        binding = self._binding(command, arguments, caller, device)
        if token is None:
            raise self._ask(command, rule, caller, binding, _what(arguments, device))
        self._spend(token, binding)
        return "confirmed by the caller itself (server runs with confirm=caller)" if self.confirm == "caller" else None

    def approve(self, token: str) -> dict[str, str]:
        """A person says yes to a token (from elicitation, the CLI or a page; never from MCP arguments).

        Returns:
            `command`, `why`, and `what`: with which arguments, on which device.

        Raises:
            ConfirmationInvalid: There is no such token, or it ran out.
        """
        found = self._live(token)
        found.approved = True
        return {"command": found.command, "why": found.why, "what": found.what}

    def pending(self) -> list[dict[str, Any]]:
        """Tokens that wait for a person, newest last, without the tokens themselves being usable yet."""
        self._sweep()
        return [
            {"token": token, "command": t.command, "why": t.why, "what": t.what, "principal": t.principal}
            for token, t in self._tokens.items()
            if not t.approved
        ]

    def _allow_change(self, command: Command, caller: Caller) -> None:
        if self.profile == "read-only":
            raise Refused(
                f"{command.name} changes something and the server is read-only.",
                reason="the server runs with profile read-only",
                alternative=_higher("standard"),
            )
        if "act" not in caller.scopes and "admin" not in caller.scopes:
            raise Refused(
                f"{command.name} changes something and your token only reads.",
                reason="the token has no scope act",
                alternative="Use a token with scope act.",
            )

    def _rule(self, command: Command, arguments: Mapping[str, Any], device: Device | None) -> Confirm | None:
        for rule in command.confirm:
            if rule.kinds and (device is None or device.kind not in rule.kinds):
                continue
            if applies(rule.when, arguments):
                return rule
        return None

    def _binding(self, command: Command, arguments: Mapping[str, Any], caller: Caller, device: Device | None) -> str:
        return digest(
            {
                "command": command.name,
                "arguments": dict(arguments),
                "principal": caller.principal,
                "device": device.key if device is not None else None,
            }
        )

    def _ask(self, command: Command, rule: Confirm, caller: Caller, binding: str, what: str) -> ConfirmationRequired:
        self._sweep()
        waiting = [t for t, found in self._tokens.items() if found.principal == caller.principal]
        if len(waiting) >= TOKENS_MOST:
            del self._tokens[next((t for t in waiting if not self._tokens[t].approved), waiting[0])]
        token = secrets.token_urlsafe(18)
        by_caller = self.confirm == "caller"
        self._tokens[token] = _Token(
            binding,
            self.clock.monotonic() + TOKEN_SECONDS,
            caller.principal,
            command.name,
            rule.because,
            what,
            by_caller,
        )
        hint = (
            "Repeat the same call with confirmToken."
            if by_caller
            else f"Have a person run: anydevice approve {token} ; then repeat the same call with confirmToken."
        )
        return ConfirmationRequired(
            f"{command.name} {rule.because}; a person has to approve it.",
            token=token,
            expires_in=TOKEN_SECONDS,
            command=command.name,
            why=rule.because,
            hint=hint,
        )

    def _live(self, token: str) -> _Token:
        self._sweep()
        given = token.encode("utf-8", "replace")
        for known, found in self._tokens.items():
            if hmac.compare_digest(known.encode(), given):
                return found
        raise ConfirmationInvalid("This confirmation token cannot be used.", reason="unknown, used or expired")

    def _spend(self, token: str, binding: str) -> None:
        found = self._live(token)
        if found.binding != binding:
            raise ConfirmationInvalid(
                "This confirmation token was given for another call.",
                reason="command, arguments, device or caller differ",
            )
        if not found.approved:
            raise ConfirmationInvalid(
                "Nobody has approved this token yet.",
                reason="not approved",
                retryable=True,
                hint=f"Have a person run: anydevice approve {token}",
            )
        del self._tokens[token]

    def _sweep(self) -> None:
        now = self.clock.monotonic()
        for token in [token for token, found in self._tokens.items() if found.expires <= now]:
            del self._tokens[token]


def _higher(profile: str) -> str:
    """How a person lets more be done."""
    return f'A person puts profile = "{profile}" under [policy] in config.toml of the home folder; anydevice stop.'


def _what(arguments: Mapping[str, Any], device: Device | None) -> str:
    """A call as a person is shown it, on one line: its arguments, typed text left out, and its device."""
    words = [
        f"{name}={quoted(value, WHAT_MOST) if isinstance(value, str) else visible(json.dumps(value))}"
        for name, value in redacted(arguments).items()
    ]
    text = " ".join(words)
    text = text if len(text) <= WHAT_MOST else text[:WHAT_MOST] + "…"
    return text if device is None else f"{text} on {device.key}".strip()
