"""The protocol over HTTP: on loopback unless a person says otherwise, for whoever has a token.

tokens.py, cli.py     who may come: tokens, minted and revoked by a person at this host (standard library only)
choices.py            the table [mcp.http] of the configuration
guard.py              what a request passes before the protocol: host, origin, token, rate, session
service.py            the listening itself
"""
