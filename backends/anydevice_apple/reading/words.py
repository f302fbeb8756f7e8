"""What the system calls an item of its edit menu, by language. The menu shows the word of the device's own language."""

from __future__ import annotations

from typing import Final

PASTE: Final[dict[str, str]] = {
    "ar": "لصق", "ca": "Enganxa", "cs": "Vložit", "da": "Indsæt", "de": "Einsetzen", "el": "Επικόλληση", "en": "Paste",
    "es": "Pegar", "fi": "Liitä", "fr": "Coller", "he": "הדבקה", "hr": "Zalijepi", "hu": "Beillesztés", "id": "Tempel",
    "it": "Incolla", "ja": "ペースト", "ko": "붙여넣기", "ms": "Tampal", "nb": "Lim inn", "nl": "Plak", "pl": "Wklej",
    "pt": "Colar", "ro": "Lipire", "ru": "Вставить", "sk": "Vložiť", "sv": "Klistra in", "th": "วาง", "tr": "Yapıştır",
    "uk": "Вставити", "vi": "Dán", "zh-Hans": "粘贴", "zh-Hant": "貼上",
}  # fmt: skip
"""Written from memory of the systems, not from a device: a word that is wrong or missing is told, and text is typed."""
_PASTES: Final = frozenset(word.casefold() for word in PASTE.values())


def pastes(label: str) -> bool:
    """Whether an item of a menu puts the clipboard into a field, in any of these languages."""
    return label.strip().casefold() in _PASTES
