"""The subcommand `anydevice token`: who may come over HTTP. Needs no daemon, and nothing of the SDK."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from anydevice.settings import home_folder

from .tokens import SCOPES, Token, TokenError, Tokens

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group("token", short_help="Tokens of clients that come over HTTP.")
def token() -> None:
    """Tokens of clients that come over HTTP (anydevice serve --http PORT)."""


@token.command()
@click.argument("name")
@click.option("--scope", type=click.Choice(SCOPES), default="act", show_default=True, help="What its holder may do.")
@click.option("--tools", default="", metavar="TOOLSETS", help="Which tools its holder is shown, with commas between.")
@_json
def add(name: str, scope: str, tools: str, as_json: bool) -> None:
    """Makes a token for NAME and prints it. It is shown this once, and kept nowhere."""
    from ..published import shown_to

    try:
        shown_to({"tools": tools})
        secret = _tokens().mint(name, scope=scope, toolset=tools)
    except (TokenError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    except Exception as error:  # a toolset that is none, by its typed error
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps({"ok": True, "command": "token add", "data": {"name": name, "token": secret}}))
        return
    click.echo(secret)
    click.echo(f"Its holder sends: Authorization: Bearer {secret[:8]}…   It is not shown again.", err=True)


@token.command("list")
@_json
def list_(as_json: bool) -> None:
    """Lists the tokens there are, without their secrets."""
    try:
        found = _tokens().all()
    except TokenError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        rows = [{k: v for k, v in asdict(each).items() if k != "digest"} for each in found]
        click.echo(json.dumps({"ok": True, "command": "token list", "data": {"tokens": rows}}))
        return
    click.echo("\n".join(map(_row, found)) or "no tokens; anydevice token add NAME makes one")


@token.command()
@click.argument("name")
@_json
def remove(name: str, as_json: bool) -> None:
    """Revokes the token of NAME, at once."""
    try:
        _tokens().remove(name)
    except TokenError as error:
        raise click.ClickException(str(error)) from None
    click.echo(json.dumps({"ok": True, "command": "token remove", "data": {"name": name}}) if as_json else "removed")


def _tokens() -> Tokens:
    return Tokens(home_folder() / "data")


def _row(token: Token) -> str:
    return f"{token.name:24} {token.scope:6} {token.toolset or '-':12} {token.created}"
