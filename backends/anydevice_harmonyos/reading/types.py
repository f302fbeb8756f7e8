"""Types of ArkUI's components as roles of the one vocabulary."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_EXACT: Final[dict[str, str]] = {
    "Button": "button", "SymbolGlyph": "image", "Text": "text", "Span": "text", "RichText": "text",
    "Marquee": "marquee", "TextClock": "text", "TextTimer": "timer", "TextInput": "textbox", "TextArea": "textbox",
    "RichEditor": "textbox", "SearchField": "textbox", "Search": "searchbox", "Toggle": "switch",
    "Checkbox": "checkbox", "CheckboxGroup": "checkbox", "Radio": "radio", "Slider": "slider", "Rating": "slider",
    "Select": "combobox", "Menu": "menu", "MenuItem": "menuitem", "Option": "option", "Progress": "progressbar",
    "LoadingProgress": "progressbar", "Gauge": "meter", "DataPanel": "meter", "Counter": "spinbutton",
    "TextPicker": "spinbutton", "DatePicker": "date", "CalendarPicker": "date", "TimePicker": "group",
    "Image": "image", "ImageAnimator": "image", "QRCode": "image", "Canvas": "canvas", "XComponent": "canvas",
    "Video": "video", "Web": "webview", "List": "list", "ListItem": "listitem", "ListItemGroup": "group",
    "Grid": "grid", "GridItem": "gridcell", "WaterFlow": "grid", "FlowItem": "gridcell", "Swiper": "group",
    "Scroll": "group", "Tabs": "group", "TabBar": "tablist", "Tab": "tab", "TabContent": "tabpanel",
    "Stepper": "group", "StepperItem": "group", "Navigation": "navigation", "NavBar": "group",
    "NavDestination": "group", "TitleBar": "titlebar", "ToolBar": "toolbar", "SideBarContainer": "group",
    "Panel": "region", "Dialog": "dialog", "AlertDialog": "dialog", "ActionSheetDialog": "dialog",
    "DatePickerDialog": "dialog", "Toast": "status", "ScrollBar": "scrollbar", "Hyperlink": "link", "Badge": "status",
    "Divider": "separator", "Refresh": "group", "Popup": "tooltip", "AlphabetIndexer": "list", "PatternLock": "group",
    "Keyboard": "keyboard", "Table": "table", "link": "link", "button": "button", "heading": "heading",
    "textField": "textbox", "image": "image",
}  # fmt: skip
"""The last words are those of a web view's own elements."""
DIALOGS: Final = frozenset({"Dialog", "AlertDialog", "ActionSheetDialog", "DatePickerDialog"})
TOGGLES: Final = {"checkbox": "checkbox", "button": "button"}
"""What a Toggle's hint says it is, where it is no switch."""
LISTS: Final = frozenset({"list", "grid"})


@lru_cache(maxsize=2048)
def role_of(kind: str, hint: str = "") -> str:
    """The role of a component's type; `generic` for one that only arranges others, or that nobody knows."""
    if kind == "Toggle":
        return TOGGLES.get(hint.casefold(), "switch")
    return _EXACT.get(kind, "generic")
