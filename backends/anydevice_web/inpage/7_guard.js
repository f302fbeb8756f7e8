// Input meant for one element: what would begin on anything else is kept from the page. Between the look at an
// element and the input for it a page may move it away, or put something else in its place.

// What begins an input, and all that may follow; a verdict on the first holds for the rest.
const BEGINS = new Set(["pointerdown", "keydown", "beforeinput"]);
const KEPT = [
  "pointerdown", "mousedown", "touchstart", "pointerup", "mouseup", "touchend", "click", "auxclick", "dblclick",
  "contextmenu", "dragstart", "keydown", "keypress", "keyup", "beforeinput",
];

let guarding = null; // what is meant, until when, and what was seen
const listening = new WeakSet(); // windows whose input is looked at

// `n`: the element meant, 0 = nothing in this document. `count`: how often input begins. `ms`: forget it after.
// `keys`: the input is text, not a press.
function guard(options) {
  const e = options.n ? living(options.n) : null;
  if (typeof e === "string") return { stale: e };
  if (e && tagOf(e) === "option") return {}; // drawn and hit by the select's own means
  guarding = {
    e, standIn: e && standsFor(e, tagOf(e)), left: options.count, until: performance.now() + options.ms,
    keys: options.keys === true, event: null, blocking: false, landed: 0, hit: null,
  };
  listen(window);
  return {};
}

// What became of the input since `guard`: how often it landed, and what it was kept from.
function guarded() {
  const seen = guarding;
  guarding = null;
  return seen && { landed: seen.landed, kept: seen.hit && coverOf(seen.hit) };
}

function listen(view) {
  try {
    view.__anydevice_judge = judge; // asked first of all in browsers of ours, see KEEPER
    if (!listening.has(view)) {
      listening.add(view);
      for (const kind of KEPT) view.addEventListener(kind, judge, { capture: true, passive: false });
    }
    for (let i = 0; i < Math.min(view.length, 100); i++) listen(view[i]);
  } catch {
    return; // another origin's: it is asked on its own
  }
}

function judge(event) {
  const g = guarding;
  if (!g || !event.isTrusted || performance.now() > g.until) return;
  if (BEGINS.has(event.type) && event !== g.event) {
    g.event = event;
    const hit = event.composedPath()[0];
    freshLook();
    if (g.e !== null && !aboutOther(g.e) && (g.keys ? takesFor(hit, g.e) : counts(hit, g.e, g.standIn))) {
      g.blocking = false;
      g.landed++;
      if (!g.keys && g.landed >= g.left) g.until = 0; // what a page does from here on is its own
    } else {
      g.blocking = true;
      g.hit ??= isElement(hit) ? hit : gRootElement.call(document);
    }
  }
  if (!g.blocking) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// Whether text that goes to `hit` goes into the field: into itself, or into the editable region it is part of.
function takesFor(hit, e) {
  for (let up = hit; up; up = above(up)) if (up === e) return true;
  if (!inEditable(e)) return false;
  for (let up = e; up; up = above(up)) if (up === hit) return true;
  return false;
}
