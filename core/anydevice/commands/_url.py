"""Addresses a device is asked to open."""

from __future__ import annotations

import re

from anydevice_schemas.errors import InvalidArgument, Refused

URL_MOST = 16_384
REFUSED_SCHEMES = frozenset({"javascript", "file", "filesystem", "vbscript"})
_WRAPPERS = frozenset({"view-source", "blob", "feed", "about-blank", "jar"})
_SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*):")
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")


def scheme_of(url: str) -> str | None:
    """The scheme in lower case, or None where there is none."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else None


def check_url(url: str, *, param: str = "url") -> str:
    """A URL a device may be asked to open, as it was given.

    Raises:
        InvalidArgument: Empty, too long, without a scheme, or with white space or control characters in it
            (programs disagree on what those mean, so they could smuggle another scheme past this check).
        Refused: `javascript:`, `file:` and their like, also inside a wrapper such as `view-source:`.
    """
    problem = None
    if len(url) > URL_MOST:
        problem = f"longer than {URL_MOST} characters"
    elif _CONTROL.search(url):
        problem = "holds white space or control characters"
    elif scheme_of(url) is None:
        problem = "has no scheme"
    if problem is not None:
        raise InvalidArgument(
            f"{param}: {problem}.",
            param=param,
            expected="an absolute URL such as https://example.org/ with everything else percent-encoded",
            errors=[{"param": param, "problem": problem, "expected": "an absolute URL"}],
        )
    inner = url
    for _ in range(8):
        scheme = scheme_of(inner)
        if scheme in REFUSED_SCHEMES:
            raise Refused(
                f"{param}: {scheme}: addresses are never opened.",
                reason=f"{scheme}: reaches beyond what a page or app may do",
                alternative="Serve the content over http on this machine and open that address.",
            )
        if scheme not in _WRAPPERS:
            return url
        inner = inner.partition(":")[2]
    return url
