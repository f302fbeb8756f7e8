"""Types of XCUIElement as roles of the one vocabulary."""

from __future__ import annotations

from typing import Final

ROLES: Final[dict[str, str]] = {
    "Application": "application", "Window": "window", "Sheet": "dialog", "Drawer": "dialog", "Alert": "alertdialog",
    "Dialog": "dialog", "Popover": "dialog", "Button": "button", "RadioButton": "radio", "RadioGroup": "radiogroup",
    "CheckBox": "checkbox", "Switch": "switch", "Toggle": "switch", "TextField": "textbox",
    "SecureTextField": "textbox", "SearchField": "searchbox", "TextView": "textbox", "StaticText": "text",
    "Text": "text", "Image": "image", "Icon": "button", "Link": "link", "Cell": "listitem", "Table": "list",
    "CollectionView": "list", "TableRow": "row", "TableColumn": "columnheader", "Outline": "tree",
    "OutlineRow": "treeitem", "Slider": "slider", "Stepper": "spinbutton", "Picker": "listbox",
    "PickerWheel": "combobox", "PopUpButton": "combobox", "ComboBox": "combobox", "MenuButton": "button",
    "DisclosureTriangle": "button", "DatePicker": "date", "ProgressIndicator": "progressbar",
    "ActivityIndicator": "progressbar", "PageIndicator": "slider", "SegmentedControl": "tablist",
    "TabBar": "tablist", "TabGroup": "tablist", "Tab": "tab", "NavigationBar": "toolbar", "Toolbar": "toolbar",
    "StatusBar": "statusbar", "Keyboard": "keyboard", "Key": "key", "WebView": "webview", "Menu": "menu",
    "MenuBar": "menubar", "MenuBarItem": "menuitem", "MenuItem": "menuitem", "ScrollBar": "scrollbar",
    "Splitter": "splitter", "SplitGroup": "group", "LevelIndicator": "meter", "ColorWell": "colorwell",
    "HelpTag": "tooltip", "Map": "region", "ScrollView": "group", "Grid": "grid", "Group": "group",
    "RatingIndicator": "slider", "ValueIndicator": "slider", "IncrementArrow": "button", "DecrementArrow": "button",
    "ToolbarButton": "button", "Timeline": "region", "Matte": "generic", "Handle": "splitter",
    "LayoutArea": "region", "LayoutItem": "generic", "Browser": "webview", "DockItem": "button", "Ruler": "generic",
    "StatusItem": "menuitem", "TouchBar": "toolbar",
}  # fmt: skip
FIELDS: Final = frozenset({"TextField", "SecureTextField", "SearchField", "TextView"})
CHECKED: Final = frozenset({"Switch", "Toggle", "CheckBox", "RadioButton"})
"""What is on or off; its value says which."""
PRESSED: Final = frozenset(
    {
        "Button", "RadioButton", "CheckBox", "Switch", "Toggle", "Icon", "Link", "Cell", "PopUpButton", "ComboBox",
        "MenuButton", "MenuItem", "MenuBarItem", "Tab", "Key", "DatePicker", "DisclosureTriangle", *FIELDS,
    }
)  # fmt: skip
"""What takes a press by its type."""
SCROLLED: Final = frozenset({"ScrollView", "Table", "CollectionView", "WebView", "Map"})
VALUED: Final = frozenset({"slider", "spinbutton", "progressbar", "combobox", "meter", "date", "searchbox", "listbox"})


def role_of(kind: str, above: str, traits: frozenset[str]) -> str:
    """The role of an element of a type, inside of one of the type `above`."""
    if kind == "Button" and above in ("SegmentedControl", "TabBar", "TabGroup"):
        return "tab"
    if "Header" in traits and kind in ("StaticText", "Text", "Other", "Heading"):
        return "heading"
    if kind == "StaticText" and above == "NavigationBar":
        return "heading"
    if kind in ("StaticText", "Other") and "Link" in traits:
        return "link"
    if kind == "Other" and "Button" in traits:
        return "button"
    if kind in ("StaticText", "Other") and "UpdatesFrequently" in traits:
        return "status"
    return ROLES.get(kind, "generic")
