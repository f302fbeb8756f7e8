"""The key of an adb server: who may drive a lab device. Checks RSA signatures over the tokens of AUTH packets."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

BITS = 2048
_SHA1 = bytes.fromhex("3021300906052b0e03021a05000414")
"""What PKCS #1 writes before a SHA-1 digest; a token is signed as if it were one."""


@dataclass(frozen=True)
class PublicKey:
    """A public key as adb writes it into `adbkey.pub` and sends it in an AUTH packet."""

    modulus: int
    exponent: int

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that tell keys apart."""
        return hashlib.sha256(self.modulus.to_bytes(BITS // 8, "big")).hexdigest()[:16]

    def signed(self, token: bytes, signature: bytes) -> bool:
        """Whether a signature over a token was made with the private half of this key."""
        size = BITS // 8
        if len(signature) != size:
            return False
        opened = pow(int.from_bytes(signature, "big"), self.exponent, self.modulus).to_bytes(size, "big")
        tail = b"\x00" + _SHA1 + token
        return opened == b"\x00\x01" + b"\xff" * (size - 2 - len(tail)) + tail


def read_key(text: bytes) -> PublicKey:
    """The key in a line of `adbkey.pub` or in an AUTH packet: base64, then a name.

    Raises:
        ValueError: It is none.
    """
    words = text.strip(b"\x00 \r\n").split()
    raw = base64.b64decode(words[0], validate=True) if words else b""
    # A structure of Android's: number of 32-bit words, -1/n mod 2^32, modulus, R^2 (both little-endian), exponent.
    if len(raw) < 12 + 2 * (BITS // 8):
        raise ValueError("no adb public key")
    modulus = int.from_bytes(raw[8 : 8 + BITS // 8], "little")
    exponent = int.from_bytes(raw[8 + 2 * (BITS // 8) : 12 + 2 * (BITS // 8)], "little")
    return PublicKey(modulus, exponent)
