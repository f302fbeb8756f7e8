// What an element is about. Lists that show many rows with few elements put another row's content into the same
// element, and one dialog is filled for many things: the element lives on and is, to a person, another one. An element
// in such a place is the same only as long as the place is about the same thing.

const PLACES = new Set(["li", "tr", "article", "dialog", "option", "dd", "dt"]);
const PLACE_ROLES = new Set(["listitem", "row", "option", "treeitem", "article", "dialog", "alertdialog", "menuitem"]);
const PLACE_MARKS = ["data-index", "data-id", "data-key", "data-item-index", "aria-posinset", "aria-rowindex"];
const PRESSED = new Set(["button", "select", "summary"]);
const ENTERED = new Set(["input", "textarea", "select", "script", "style", "template", "noscript"]);
const SAID_MOST = 80; // characters that tell one place from another
const SAID_NODES = 300; // nodes looked at to find them

const about = new WeakMap(); // element -> what its place was about when it was last told
const replaced = new Set(); // numbers of elements that are about something else now
let places = new Map(); // of one look: element -> what the place around it is about
let sayings = new Map();

function freshLook() {
  places = new Map();
  sayings = new Map();
}

// A row, a dialog, or one of several boxes of one kind beside each other.
function isPlace(e) {
  const tag = tagOf(e);
  if (PLACES.has(tag)) return true;
  const role = attr(e, "role");
  if (role !== null && PLACE_ROLES.has(role)) return true;
  if (tag !== "div" && tag !== "section" && !tag.includes("-")) return false;
  const kind = attr(e, "class");
  if (!kind && !tag.includes("-")) return false;
  const twin = (other) => other !== null && tagOf(other) === tag && attr(other, "class") === kind;
  return twin(gNextElement.call(e)) || twin(gPreviousElement.call(e));
}

// The first words in a place that nobody entered: of its text, else (`controls`) also of its buttons.
function sayingOf(place, controls) {
  let left = SAID_NODES;
  function first(n) {
    if (--left < 0) return "";
    if (typeOf(n) === 3) return squeeze(dataOf(n)).slice(0, SAID_MOST);
    if (typeOf(n) !== 1) return "";
    const tag = tagOf(n);
    if (ENTERED.has(tag) || editingHost(n, tag)) return "";
    if (!controls && (PRESSED.has(tag) || attr(n, "role") === "button")) return "";
    if (tag === "img" && attr(n, "alt")) return attr(n, "alt").slice(0, SAID_MOST);
    const list = drawnChildren(n, tag);
    if (Array.isArray(list)) {
      for (const node of list) {
        const found = first(node);
        if (found) return found;
      }
      return "";
    }
    for (let node = list; node; node = nextOf(node)) {
      const found = first(node);
      if (found) return found;
    }
    return "";
  }
  return first(place);
}

// What the nearest place around an element that says anything is about, or null.
function placeAbout(e) {
  if (e === null) return null;
  const known = places.get(e);
  if (known !== undefined) return known;
  let found = null;
  const tag = tagOf(e);
  if (tag !== "body" && tag !== "html" && !editingHost(e, tag)) {
    const up = above(e);
    if (isPlace(e)) {
      const marks = PLACE_MARKS.map((name) => attr(e, name) ?? "").join("\u0001");
      const said = sayingOf(e, false);
      if (said) found = marks + "\u0002" + said;
      else {
        const outer = placeAbout(up);
        const own = sayingOf(e, true);
        found = outer || own || marks.length >= PLACE_MARKS.length ? marks + "\u0002" + (outer ?? own) : null;
      }
    } else found = placeAbout(up);
  }
  places.set(e, found);
  return found;
}

// Whether an element that was told before is about something else now.
function aboutOther(e) {
  const was = about.get(e);
  return was !== undefined && was !== placeAbout(e);
}

// The number to tell an element by now: a new one if it is about something else than when it was told.
function tellingNumber(e, tag) {
  if (FRAMES.has(tag)) return numberOf(e);
  const now = placeAbout(e);
  const known = numbers.get(e);
  if (known !== undefined && about.has(e) && about.get(e) !== now) {
    replaced.add(known);
    elements.delete(known);
    numbers.delete(e);
  }
  about.set(e, now);
  return numberOf(e);
}
