// Fields: focus, select what is in them, set values the browser's own way, read back without telling secrets.

const NATIVE_VALUES = new Set(["date", "time", "month", "week", "datetime-local", "color", "range"]);
const NO_TEXT = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"]);

const setterOf = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).set;
const sValue = setterOf(HTMLInputElement, "value");

// How a text gets into this element: text, area, rich (editable region), native (own value syntax), select; or
// why it cannot.
function kindOf(e, tag) {
  if (tag === "input") return NO_TEXT.has(e.type) ? "none" : NATIVE_VALUES.has(e.type) ? "native" : "text";
  if (tag === "textarea") return "area";
  if (tag === "select") return "select";
  return editingHost(e, tag) || inEditable(e) ? "rich" : "none";
}

function inEditable(e) {
  try {
    return gEditable.call(e);
  } catch {
    return false; // not an HTML element
  }
}

function takeFocus(e) {
  try {
    HTMLElement.prototype.focus.call(e);
  } catch {
    SVGElement.prototype.focus?.call(e);
  }
  const now = focusedElement();
  for (let up = now; up; up = above(up)) if (up === e) return true;
  return false;
}

function focus(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  return { focused: takeFocus(e) };
}

// Makes a field ready to take text: focused, with everything in it selected.
function ready(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const tag = tagOf(e);
  const kind = kindOf(e, tag);
  const secure = isSecure(e, tag);
  const result = {
    kind, secure, disabled: isDisabled(e, tag), readonly: "readOnly" in e && e.readOnly === true, empty: true,
    type: tag === "input" ? e.type : tag,
  };
  if (kind === "none" || kind === "native" || kind === "select" || result.disabled || result.readonly) return result;
  result.focused = takeFocus(e);
  if (kind === "rich") {
    const doc = documentOf(e);
    const range = mRange.call(doc);
    range.selectNodeContents(e);
    const selection = viewOf(doc).getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    result.empty = textIn(e) === "" && !find(e, "img,hr,table");
  } else {
    e.select();
    result.empty = e.value === "";
  }
  return result;
}

const LASTING = 100; // milliseconds a field has to keep what it was given: pages take back what they do not accept

// What `read` says once it has said so for a while, or as soon as it says that the text is not there.
async function lasting(read) {
  const end = performance.now() + LASTING;
  let now = read(), last = now;
  while (now.same && performance.now() < end) {
    last = now;
    await frame();
    now = read();
  }
  return now.stale && last.same ? { ...last, gone: true } : now;
}

const rests = (options) => lasting(() => holds(options));

function told(e) {
  e.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  e.dispatchEvent(new Event("change", { bubbles: true }));
}

// Sets the value of a field that has a syntax of its own (date, colour, range).
function put(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  takeFocus(e);
  sValue.call(e, options.text);
  told(e);
  return rests(options);
}

// Chooses the options of a select by label, else by value; several lines choose several.
function choose(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const wanted = e.multiple ? options.text.split("\n").map(squeeze).filter(Boolean) : [squeeze(options.text)];
  const all = [...e.options];
  const labels = (option) => squeeze(option.label || option.text);
  const picked = [];
  for (const text of wanted) {
    const option = all.find((o) => labels(o) === text) || all.find((o) => o.value === text) ||
      all.find((o) => labels(o).toLowerCase() === text.toLowerCase());
    if (!option) return { missing: true, options: all.slice(0, 50).map(labels) };
    if (matches(option, ":disabled")) return { closed: true };
    picked.push(option);
  }
  takeFocus(e);
  const before = all.filter((o) => o.selected);
  if (e.multiple) for (const option of all) option.selected = picked.includes(option);
  else picked[0].selected = true;
  if (before.length !== picked.length || before.some((o) => !picked.includes(o))) told(e);
  return lasting(() => {
    if (typeof living(options.n) === "string") return { stale: living(options.n) };
    const now = [...e.selectedOptions];
    return { same: now.length === picked.length && picked.every((o) => now.includes(o)), value: valueOfSelect(e) };
  });
}

const lines = (text) => text.replace(/\r\n?/g, "\n").replace(/[\u200b\ufeff]/g, "").replace(/\u00a0/g, " ")
  .split(/\n+/).map((line) => line.trimEnd()).filter((line) => line !== "").join("\n");

// Reads a field back: whether it holds the text, and (never for secrets) what it holds.
function holds(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const tag = tagOf(e);
  const kind = kindOf(e, tag);
  const rich = kind === "rich";
  const value = rich ? gInnerText.call(e) ?? "" : String(e.value ?? "");
  const wanted = kind === "area" ? options.text.replace(/\r\n?/g, "\n") : options.text;
  const same = rich ? lines(value) === lines(wanted) : value === wanted ||
    (kind === "native" && alike(e.type, value, wanted));
  return isSecure(e, tag) ? { same } : { same, value: value.slice(0, 512) };
}

// The browser writes some values in one form only: #ABC as #aabbcc, 07:30:00 as 07:30, 5.0 as 5.
function alike(type, value, wanted) {
  if (type === "color") {
    const full = wanted.trim().toLowerCase().replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
    return value.toLowerCase() === full;
  }
  if (type === "range") return wanted.trim() !== "" && Number(value) === Number(wanted);
  if (type === "time" || type === "datetime-local") return value.replace(/:00$/, "") === wanted.replace(/:00$/, "");
  return false;
}

// The row of the element that has the focus, or the number of the frame that has it.
function focused() {
  const e = focusedElement();
  if (!e) return null;
  const tag = tagOf(e);
  const row = look(e, tag);
  return (tag === "iframe" || tag === "frame") && !innerDocument(e, tag) ? { ...row, frame: numberOf(e) } : row;
}

// --- scrolling, turns -----------------------------------------------------------------------------------------

let marked = [];

// Remembers how far everything that scrolls under a point is scrolled. A frame of another process: as in `at`.
function markScroll(options) {
  let doc = document, x = options.x, y = options.y;
  marked = [];
  for (;;) {
    let hit = deepest(doc, x, y);
    const tag = hit ? tagOf(hit) : "";
    for (let e = hit; e; e = above(e)) marked.push([e, gScrollLeft.call(e), gScrollTop.call(e)]);
    const top = gScroller.call(doc);
    if (top) marked.push([top, gScrollLeft.call(top), gScrollTop.call(top)]);
    const inner = hit && (tag === "iframe" || tag === "frame") ? innerDocument(hit, tag) : undefined;
    if (inner === undefined) return null;
    const place = frameBox(hit);
    x = (x - place.x) / place.sx;
    y = (y - place.y) / place.sy;
    if (inner === null) return { frame: numberOf(hit), x, y };
    doc = inner;
  }
}

function scrolledBy() {
  let dx = 0, dy = 0;
  const seen = new Set();
  for (const [e, left, top] of marked) {
    if (seen.has(e)) continue;
    seen.add(e);
    dx += gScrollLeft.call(e) - left;
    dy += gScrollTop.call(e) - top;
  }
  return [dx, dy];
}

// The next drawing of the page; a tab in the background draws none.
const frame = () => new Promise((done) => {
  const timer = setTimeout(done, 60);
  requestAnimationFrame(() => (clearTimeout(timer), done()));
});

// Answers when what is here now has been drawn: until then the browser may send a frame's input elsewhere.
async function drawn() {
  await frame();
  await frame();
}

// How far things have scrolled since `markScroll`, once they rest (or time is up).
async function scrolled(options) {
  const end = performance.now() + options.patience;
  let last = scrolledBy(), still = 0;
  while (performance.now() < end) {
    await frame();
    const now = scrolledBy();
    still = now[0] === last[0] && now[1] === last[1] ? still + 1 : 0;
    last = now;
    const moved = now[0] !== 0 || now[1] !== 0;
    if (still >= (moved ? 2 : options.quiet)) break;
  }
  return last;
}

const TAKEN = ["pointerdown", "mousedown", "touchstart", "keydown", "beforeinput", "input", "click", "dragstart", "drop"];

// How much trusted input the documents of this world have been given, by the browser's own count (no page can
// bend it), which links to other programs were kept from leaving, and whether the window is closing.
function takenIn(view) {
  const counts = view.performance.eventCounts;
  let count = 0;
  for (const kind of TAKEN) count += counts.get(kind) || 0;
  const kept = view.__anydevice_kept ? view.__anydevice_kept.splice(0) : [];
  for (let i = 0; i < Math.min(view.length, 100); i++) {
    try {
      const inner = takenIn(view[i]);
      count += inner.count;
      kept.push(...inner.kept);
    } catch {
      continue; // another origin's: it is asked on its own
    }
  }
  return { count, kept, closing: view.closed };
}

const taken = () => takenIn(window);

// Answers after everything the page has queued until now had its turn.
const turn = () => new Promise((done) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(0);
  channel.port2.postMessage(0);
});

const status = () => {
  const entry = performance.getEntriesByType("navigation")[0];
  return {
    url: location.href, title: squeeze(gTitle.call(document)).slice(0, 256),
    status: entry ? entry.responseStatus || null : null, type: gContentType.call(document),
  };
};

const element = (options) => {
  const e = living(options.n);
  return typeof e === "string" ? null : e;
};
