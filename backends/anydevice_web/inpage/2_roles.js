// What an element is: its role in the one vocabulary, whether a person can act on it, and its states.

const INPUT_ROLES = {
  __proto__: null,
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", date: "date", time: "date", month: "date",
  week: "date", "datetime-local": "date", color: "colorwell", file: "filechooser", hidden: "",
};
const TAG_ROLES = {
  __proto__: null,
  button: "button", summary: "button", textarea: "textbox", option: "option", optgroup: "group", details: "group",
  h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", canvas: "canvas",
  video: "video", audio: "group", iframe: "frame", frame: "frame", embed: "frame", nav: "navigation", main: "main",
  aside: "complementary", article: "article", figure: "figure", figcaption: "caption", caption: "caption",
  blockquote: "blockquote", p: "paragraph", ul: "list", ol: "list", menu: "list", li: "listitem", dl: "list",
  dt: "term", dd: "definition", table: "table", thead: "rowgroup", tbody: "rowgroup", tfoot: "rowgroup",
  tr: "row", td: "cell", th: "columnheader", hr: "separator", progress: "progressbar", meter: "meter",
  output: "status", dialog: "dialog", fieldset: "group", code: "code", math: "math", search: "search",
  hgroup: "group", address: "group", pre: "text", legend: "text", time: "text",
};
// The role attribute's words; what our vocabulary calls otherwise is translated.
const ARIA = new Map(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition dialog document feed figure form grid gridcell group heading link list " +
    "listbox listitem log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation " +
    "note option paragraph progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox " +
    "separator slider spinbutton status switch tab table tablist tabpanel term textbox timer toolbar tooltip tree " +
    "treegrid treeitem").split(" ").map((word) => [word, word]),
);
for (const [word, ours] of [
  ["img", "image"], ["image", "image"], ["directory", "list"], ["graphics-document", "image"],
  ["graphics-symbol", "image"], ["graphics-object", "group"], ["none", ""], ["presentation", ""], ["generic", ""],
]) ARIA.set(word, ours);

const INTERACTIVE = new Set(
  ("button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar " +
    "searchbox slider spinbutton switch tab textbox treeitem colorwell date filechooser clickable").split(" "),
);
const ALWAYS_PLACED = new Set(["option", "checkbox", "radio", "filechooser"]); // listed even at size zero
const TEXT_FIELDS = new Set(["textbox", "searchbox", "spinbutton", "combobox", "date"]);
const NOT_CLICKABLE = new Set(["row", "rowgroup", "document", "frame"]);
const SECTIONING = "article,aside,main,nav,section,[role=article],[role=complementary],[role=main]," +
  "[role=navigation],[role=region]";

// The host of an editable region (its descendants are content, not fields).
function editingHost(e, tag) {
  const value = attr(e, "contenteditable");
  if (value !== null && value !== "false" && value !== "inherit") return true;
  return tag === "body" && gDesign.call(documentOf(e)) === "on";
}

function roleFromTag(e, tag) {
  const fixed = TAG_ROLES[tag];
  if (fixed !== undefined) {
    if (tag === "td" && closest(e, "table[role=grid],table[role=treegrid]")) return "gridcell";
    if (tag === "th" && (attr(e, "scope") || "").startsWith("row")) return "rowheader";
    return fixed;
  }
  switch (tag) {
    case "input": {
      const type = e.type;
      const role = INPUT_ROLES[type];
      if (role === "checkbox" && has(e, "switch")) return "switch";
      if (role !== undefined) return role === "searchbox" && has(e, "list") ? "combobox" : role;
      return type !== "password" && has(e, "list") ? "combobox" : "textbox";
    }
    case "a":
    case "area":
      return has(e, "href") ? "link" : "";
    case "select":
      return e.multiple || e.size > 1 ? "listbox" : "combobox";
    case "img":
      return attr(e, "alt") === "" && !has(e, "title") ? "" : "image";
    case "svg":
      return has(e, "aria-label") || has(e, "aria-labelledby") || svgTitle(e) ? "image" : "";
    case "section":
      return labelled(e) ? "region" : "";
    case "form":
      return labelled(e) ? "form" : "";
    case "header":
    case "footer":
      if (above(e) && closest(above(e), SECTIONING)) return "";
      return tag === "header" ? "banner" : "contentinfo";
    case "object":
      return innerDocument(e, tag) ? "frame" : "";
    default:
      return "";
  }
}

const labelled = (e) => has(e, "aria-label") || has(e, "aria-labelledby") || has(e, "title");

// The element's role; "" for those that only group or style. Names of the platform's own stay in `nativeOf`.
function roleOf(e, tag) {
  const words = attr(e, "role");
  if (words !== null) {
    for (const word of words.trim().toLowerCase().split(/\s+/)) {
      const role = ARIA.get(word);
      if (role === undefined) continue;
      if (role !== "") return role;
      // "presentation" does not hide what takes the focus (ARIA, presentational roles conflict resolution).
      const own = roleFromTag(e, tag);
      return INTERACTIVE.has(own) || has(e, "tabindex") ? own : "";
    }
  }
  if (editingHost(e, tag)) return "textbox";
  return roleFromTag(e, tag);
}

const nativeOf = (e, tag) => (tag === "input" ? "input:" + e.type : tag);

// A label whose checkbox, radio or file field is not drawn stands for it.
function standsFor(e, tag) {
  if (tag !== "label") return null;
  const control = e.control;
  if (!control || tagOf(control) !== "input") return null;
  if (!["checkbox", "radio", "file"].includes(control.type)) return null;
  return rendered(control) && styleOf(control).visibility === "visible" ? null : control;
}

function isSecure(e, tag) {
  if (tag !== "input") return false;
  if (e.type === "password" || secrets.has(e)) {
    secrets.add(e); // "show password" turns the type to text; the secret stays one
    return true;
  }
  if (/\b(current|new)-password\b/.test(attr(e, "autocomplete") || "")) return true;
  return (styleOf(e).webkitTextSecurity || "none") !== "none";
}

// --- states ------------------------------------------------------------------------------------------------

const STATE = {};
["disabled", "checked", "mixed", "unchecked", "expanded", "collapsed", "selected", "pressed", "focused", "required",
  "readonly", "editable", "offscreen", "hidden", "multiline", "busy", "invalid", "modal",
].forEach((name, bit) => (STATE[name] = 1 << bit));
const SECURE = 1 << 20, COVERED = 1 << 21, PRESS = 1 << 22, FILL = 1 << 23;

const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
const DISABLEABLE = new Set(["button", "input", "select", "textarea", "option", "optgroup", "fieldset"]);

function isDisabled(e, tag) {
  if (DISABLEABLE.has(tag) && matches(e, ":disabled")) return true;
  for (let up = e; up; up = above(up)) {
    if (attr(up, "aria-disabled") === "true") return true;
    if (has(up, "inert")) return true;
  }
  return false;
}

// All states but those that depend on place (offscreen, covered) and focus. `disabled` is known by the caller.
function statesOf(e, tag, role, disabled, secure) {
  let mask = disabled ? STATE.disabled : 0;
  const aria = (name) => attr(e, name);
  if (CHECKABLE.has(role)) {
    const control = standsFor(e, tag) || e;
    const native = tagOf(control) === "input" && "checked" in control && control.type !== "file";
    const word = native
      ? control.indeterminate ? "mixed" : String(control.checked)
      : aria("aria-checked") || "false";
    mask |= word === "mixed" ? STATE.mixed : word === "true" ? STATE.checked : STATE.unchecked;
  } else if (role === "option" || role === "treeitem") {
    const word = aria("aria-checked");
    if (word === "true") mask |= STATE.checked;
  }
  if (tag === "option" ? e.selected : aria("aria-selected") === "true") mask |= STATE.selected;
  const expanded = aria("aria-expanded");
  if (expanded !== null) mask |= expanded === "true" ? STATE.expanded : STATE.collapsed;
  else if (tag === "summary") {
    const details = parentOf(e);
    if (isElement(details) && tagOf(details) === "details") mask |= details.open ? STATE.expanded : STATE.collapsed;
  }
  const pressed = aria("aria-pressed");
  if (pressed === "true") mask |= STATE.pressed;
  else if (pressed === "mixed") mask |= STATE.mixed;
  if (aria("aria-busy") === "true") mask |= STATE.busy;
  if (role === "dialog" || role === "alertdialog") {
    if (aria("aria-modal") === "true" || (tag === "dialog" && matches(e, ":modal"))) mask |= STATE.modal;
  }
  const field = tag === "input" || tag === "textarea" || tag === "select";
  if (field || TEXT_FIELDS.has(role)) {
    if ((field && e.required) || aria("aria-required") === "true") mask |= STATE.required;
    const invalid = aria("aria-invalid");
    if ((invalid && invalid !== "false") || (field && matches(e, ":user-invalid"))) mask |= STATE.invalid;
    const readonly = (tag !== "select" && field && e.readOnly) || aria("aria-readonly") === "true";
    if (readonly) mask |= STATE.readonly;
    const takesText = TEXT_FIELDS.has(role) && (field || editingHost(e, tag));
    if (takesText && !disabled && !readonly) mask |= (tag === "select" ? 0 : STATE.editable) | FILL;
    if (tag === "textarea" || aria("aria-multiline") === "true" || editingHost(e, tag)) mask |= STATE.multiline;
  }
  if (role === "slider" || role === "colorwell" || role === "listbox") {
    if (field && !disabled) mask |= FILL;
  }
  return secure ? mask | SECURE : mask;
}

// Clickable by signs a page cannot help giving: an onclick attribute, an explicit tab stop, a pointing hand
// that is its own and not inherited. (Listeners added by script are invisible from here.)
function looksClickable(e, tag, parentCursor, style) {
  if (tag === "label" || tag === "html" || tag === "body") return false;
  if (has(e, "onclick")) return true;
  const tab = attr(e, "tabindex");
  if (tab !== null && parseInt(tab, 10) >= 0) return true;
  return style.cursor === "pointer" && parentCursor() !== "pointer";
}
