"""Classes of Android's views as roles of the one vocabulary."""

from __future__ import annotations

from functools import lru_cache

_EXACT: dict[str, str] = {
    "Button": "button", "ImageButton": "button", "FloatingActionButton": "button", "MaterialButton": "button",
    "Chip": "button", "ToggleButton": "button", "CompoundButton": "checkbox", "CheckBox": "checkbox",
    "CheckedTextView": "checkbox", "Switch": "switch", "SwitchCompat": "switch", "SwitchMaterial": "switch",
    "RadioButton": "radio", "RadioGroup": "radiogroup", "EditText": "textbox", "AutoCompleteTextView": "textbox",
    "MultiAutoCompleteTextView": "textbox", "TextInputEditText": "textbox", "AppCompatEditText": "textbox",
    "SearchView": "search", "SeekBar": "slider", "AbsSeekBar": "slider", "RatingBar": "slider", "Slider": "slider",
    "ProgressBar": "progressbar", "LinearProgressIndicator": "progressbar", "Spinner": "combobox",
    "AppCompatSpinner": "combobox", "TextView": "text", "AppCompatTextView": "text", "TextClock": "text",
    "Chronometer": "timer", "ImageView": "image", "AppCompatImageView": "image", "SurfaceView": "canvas",
    "TextureView": "canvas", "GLSurfaceView": "canvas", "VideoView": "video", "WebView": "webview", "ListView": "list",
    "RecyclerView": "list", "ExpandableListView": "list", "GridView": "grid", "TableLayout": "table",
    "TableRow": "row", "ScrollView": "group", "NestedScrollView": "group", "HorizontalScrollView": "group",
    "ViewPager": "group", "ViewPager2": "group", "TabHost": "group", "TabWidget": "tablist", "TabLayout": "tablist",
    "Tab": "tab", "TabView": "tab", "ActionBar$Tab": "tab", "Toolbar": "toolbar", "ActionBar": "toolbar",
    "DatePicker": "group", "TimePicker": "group", "NumberPicker": "spinbutton", "Dialog": "dialog",
    "AlertDialog": "dialog", "DrawerLayout": "group", "BottomNavigationView": "navigation", "MenuItem": "menuitem",
    "KeyboardView": "keyboard", "Keyboard$Key": "key", "Toast": "status", "View": "generic", "ViewGroup": "generic",
    "FrameLayout": "generic", "LinearLayout": "generic", "RelativeLayout": "generic", "ConstraintLayout": "generic",
    "CoordinatorLayout": "generic", "ComposeView": "generic",
}  # fmt: skip
_ENDS: tuple[tuple[str, str], ...] = (
    ("EditText", "textbox"), ("ImageButton", "button"), ("RadioButton", "radio"), ("Button", "button"),
    ("CheckBox", "checkbox"), ("Switch", "switch"), ("SeekBar", "slider"), ("Slider", "slider"),
    ("ProgressBar", "progressbar"), ("Spinner", "combobox"), ("ImageView", "image"), ("RecyclerView", "list"),
    ("ListView", "list"), ("GridView", "grid"), ("WebView", "webview"), ("TextView", "text"), ("Toolbar", "toolbar"),
)  # fmt: skip
"""Ends of the names of an app's own classes; the longer come before what they end in."""
LISTS = frozenset({"list", "grid"})


@lru_cache(maxsize=2048)
def role_of(class_name: str) -> str:
    """The role of a view's class; `generic` for one that says nothing."""
    short = class_name.rpartition(".")[2]
    found = _EXACT.get(short) or _EXACT.get(short.rpartition("$")[2])
    if found is not None:
        return found
    return next((role for end, role in _ENDS if short.endswith(end)), "generic")
