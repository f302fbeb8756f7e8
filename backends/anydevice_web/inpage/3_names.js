// What an element is called and what it holds. Order of sources as in the Accessible Name computation, for HTML.

const INLINE = new Set(
  ("a abbr acronym b bdi bdo big br cite code data del dfn em font i ins kbd label mark q s samp small span strike " +
    "strong sub sup time tt u var wbr img svg slot").split(" "),
);
const UNNAMED = new Set(["script", "style", "template", "noscript", "head", "datalist", "title", "desc", "metadata"]);
const CONTROLS = new Set(["button", "input", "select", "textarea", "option", "meter", "progress", "iframe", "video",
  "audio", "canvas", "object", "embed"]);
const NAMED_BY_CONTENT = new Set(
  ("button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab tooltip " +
    "clickable").split(" "),
);
// Content a person reads: named by their own text, not by that of the blocks and controls inside.
const NAMED_BY_OWN_TEXT = new Set(
  "text paragraph listitem caption term definition blockquote code note status alert log timer math".split(" "),
);
const CELLS = new Set(["cell", "gridcell", "columnheader", "rowheader"]);
const LABELABLE = new Set(["input", "select", "textarea", "button", "meter", "output", "progress"]);

let textLimit = 512;
let textCut = 0; // names and values shortened since the walk began

const squeeze = (text) => text.replace(/\s+/g, " ").trim();

function limited(text) {
  if (text.length <= textLimit) return text;
  textCut++;
  let end = textLimit;
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code < 0xdc00) end--; // never half of a surrogate pair
  return text.slice(0, end);
}

// Text drawn inside an element, in order. `own`: stop at blocks and controls (they speak for themselves).
function gather(e, own, skip, out) {
  const list = drawnChildren(e, tagOf(e));
  if (Array.isArray(list)) {
    for (const node of list) gatherNode(node, own, skip, out);
    return;
  }
  for (let node = list; node; node = nextOf(node)) {
    if (out.length > textLimit * 2) return;
    gatherNode(node, own, skip, out);
  }
}

function gatherNode(node, own, skip, out) {
  const type = typeOf(node);
  if (type === 3) {
    const data = dataOf(node);
    out.text += data;
    out.length += data.length;
    return;
  }
  if (type !== 1 || node === skip) return;
  const tag = tagOf(node);
  if (tag === "br") {
    out.text += " ";
    return;
  }
  if (UNNAMED.has(tag) || attr(node, "aria-hidden") === "true") return;
  const inline = INLINE.has(tag);
  if (own && tag === "label" && namesField(node)) {
    out.text += " ";
    return;
  }
  if (own && (!inline || INTERACTIVE.has(ARIA.get(attr(node, "role") || "") || ""))) {
    if (tag !== "a" && !(inline && attr(node, "role") === "link")) {
      out.text += " ";
      return;
    }
  }
  if (!rendered(node) && styleOf(node).display !== "contents") return;
  if (!inline) out.text += " ";
  const label = attr(node, "aria-label");
  if (label && label.trim()) out.text += " " + label + " ";
  else if (tag === "img" || tag === "area") out.text += attr(node, "alt") || "";
  else if (tag === "svg") out.text += svgTitle(node);
  else if (tag === "select") out.text += own ? "" : valueOfSelect(node);
  else if (CONTROLS.has(tag) && tag !== "button") out.text += "";
  else gather(node, own, skip, out);
  if (!inline) out.text += " ";
}

// A label that is told as the name of a field that is drawn.
const namesField = (label) => label.control != null && rendered(label.control);

function contentText(e, own = false, skip = null) {
  if (gFirstElement.call(e) === null && shadowOf(e) === null && tagOf(e) !== "slot") return squeeze(textIn(e));
  const out = { text: "", length: 0 };
  gather(e, own, skip, out);
  return squeeze(out.text);
}

function svgTitle(e) {
  for (let node = firstOf(e); node; node = nextOf(node)) {
    if (typeOf(node) === 1 && tagOf(node) === "title") return squeeze(textIn(node));
  }
  return "";
}

function firstChildOf(e, tag) {
  for (let node = firstOf(e); node; node = nextOf(node)) {
    if (typeOf(node) === 1 && tagOf(node) === tag) return node;
  }
  return null;
}

function referenced(e, attribute) {
  const ids = attr(e, attribute);
  if (!ids) return "";
  const parts = [];
  for (const id of ids.trim().split(/\s+/)) {
    const other = byIdNear(e, id);
    if (!other) continue;
    const label = attr(other, "aria-label");
    const tag = tagOf(other);
    if (label && label.trim()) parts.push(label);
    else if (tag === "img") parts.push(attr(other, "alt") || "");
    else if (tag === "input" && other.type !== "password" && !isSecure(other, tag)) parts.push(other.value);
    // What is referenced counts even when it is not drawn.
    else parts.push(rendered(other) ? contentText(other) : squeeze(textIn(other)));
  }
  return squeeze(parts.join(" "));
}

function labelsText(e, tag) {
  if (!LABELABLE.has(tag)) return "";
  const labels = e.labels;
  if (!labels || !labels.length) return "";
  const parts = [];
  for (const label of labels) parts.push(attr(label, "aria-label") || contentText(label, false, e));
  return squeeze(parts.join(" "));
}

function nameOf(e, tag, role) {
  const by = referenced(e, "aria-labelledby");
  if (by) return by;
  const label = attr(e, "aria-label");
  if (label && label.trim()) return squeeze(label);
  const native = nativeName(e, tag, role);
  if (native) return native;
  if (NAMED_BY_CONTENT.has(role) || standsFor(e, tag)) {
    const text = contentText(e);
    if (text) return text;
  } else if (CELLS.has(role)) {
    // A cell of data is its text; a cell of a layout table is a place where other things are.
    const text = contentText(e, find(e, STRUCTURED) !== null);
    if (text) return text;
  } else if (role === "treeitem") {
    const text = contentText(e, false, find(e, "[role=group]"));
    if (text) return text;
  } else if (NAMED_BY_OWN_TEXT.has(role) && speaks(e, tag)) {
    const text = contentText(e, true);
    if (text) return text;
  }
  return squeeze(attr(e, "title") || "");
}

function nativeName(e, tag, role) {
  switch (tag) {
    case "input":
      if (e.type === "submit" || e.type === "reset" || e.type === "button") {
        const fallback = e.type === "submit" ? "Submit" : e.type === "reset" ? "Reset" : "";
        return labelsText(e, tag) || squeeze(attr(e, "value") ?? fallback);
      }
      if (e.type === "image") {
        return labelsText(e, tag) || squeeze(attr(e, "alt") || attr(e, "value") || attr(e, "title") || "Submit");
      }
      return labelsText(e, tag) || fieldHint(e);
    case "textarea":
      return labelsText(e, tag) || fieldHint(e);
    case "select":
    case "meter":
    case "progress":
    case "output":
    case "button":
      return labelsText(e, tag);
    case "img":
    case "area":
      return squeeze(attr(e, "alt") || "");
    case "svg":
      return svgTitle(e);
    case "option":
    case "optgroup":
      return squeeze(attr(e, "label") || "");
    case "fieldset":
      return partText(e, "legend");
    case "table":
      return partText(e, "caption");
    case "figure":
      return partText(e, "figcaption");
    case "iframe":
    case "frame":
      return squeeze(attr(e, "title") || attr(e, "name") || "");
    default:
      return role === "textbox" ? squeeze(attr(e, "aria-placeholder") || attr(e, "data-placeholder") || "") : "";
  }
}

const fieldHint = (e) => squeeze(attr(e, "title") || attr(e, "placeholder") || attr(e, "aria-placeholder") || "");

function partText(e, tag) {
  const part = firstChildOf(e, tag);
  return part ? contentText(part) : "";
}

function describe(e, name) {
  const text = referenced(e, "aria-describedby") || squeeze(attr(e, "aria-description") || attr(e, "title") || "");
  return text === name ? "" : text;
}

const identify = (e) =>
  attr(e, "id") || attr(e, "data-testid") || attr(e, "data-test-id") || attr(e, "data-test") || "";

function valueOfSelect(e) {
  const chosen = [];
  for (const option of e.selectedOptions) chosen.push(squeeze(option.label || option.text));
  return chosen.join(", ");
}

const named = (e, tag) => has(e, "aria-label") || has(e, "aria-labelledby") || labelsText(e, tag) !== "";

// What an element holds; null where it holds nothing, and for every secure field.
function valueOf(e, tag, role, secure) {
  if (secure) return null;
  switch (tag) {
    case "input":
      if (role === "button" || e.type === "checkbox" || e.type === "radio" || e.type === "hidden") return null;
      if (e.type === "file") return e.files && e.files.length ? [...e.files].map((f) => f.name).join(", ") : null;
      return e.value;
    case "textarea":
      return e.value;
    case "select":
      return valueOfSelect(e);
    case "progress":
      return e.position < 0 ? null : String(e.value);
    case "meter":
      return String(e.value);
    default:
      if (editingHost(e, tag)) return gInnerText.call(e) ?? "";
      // Read text under a label of its own: the label is its name, so the text is what it holds.
      if (NAMED_BY_OWN_TEXT.has(role) && named(e, tag)) return contentText(e, true);
      if (["slider", "spinbutton", "progressbar", "meter", "scrollbar", "combobox"].includes(role)) {
        return attr(e, "aria-valuetext") ?? attr(e, "aria-valuenow");
      }
      return null;
  }
}
