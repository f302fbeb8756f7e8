// The walk: one pass over everything drawn, packed into columns so that thousands of nodes cross in one string.

const SKIPPED = new Set(
  ("script style template noscript head meta link title base param source track br wbr datalist desc metadata defs " +
    "symbol clippath mask pattern lineargradient radialgradient filter").split(" "),
);
const NESTED = "a[href],button,input,select,textarea,summary,iframe,[tabindex],[onclick],[role=button],[role=link]," +
  "[role=checkbox],[role=radio],[role=switch],[role=tab],[role=textbox],[role=combobox],[role=menuitem]," +
  "[contenteditable]";
const STRUCTURED = NESTED + ",h1,h2,h3,h4,h5,h6,[role=heading],p,ul,ol,table,img[alt]:not([alt=''])";
// These speak for all they contain, unless a person can act on something inside.
const CLOSED = new Set(
  ("button checkbox image menuitem menuitemcheckbox menuitemradio meter option progressbar radio scrollbar " +
    "separator slider switch tab searchbox spinbutton colorwell date filechooser canvas video heading math").split(" "),
);
const WALK_BUDGET = 250000; // elements looked at in one walk; what lies beyond is counted, not read

class Pack {
  constructor() {
    this.numbers = []; // nine per node, see `add`
    this.names = [];
    this.extras = {}; // index -> [value, identifier, description]
    this.words = []; // roles and native words, by first use
    this.known = new Map();
    this.frames = []; // places where another document begins
    this.count = 0;
  }

  word(text) {
    let at = this.known.get(text);
    if (at === undefined) {
      at = this.words.length;
      this.words.push(text);
      this.known.set(text, at);
    }
    return at;
  }

  // Parent row, element number, role, native word, states, place (tenths of a point; width -1 = none).
  add(up, n, role, native, mask, place, name) {
    this.numbers.push(up, n, this.word(role), this.word(native), mask);
    if (place) {
      this.numbers.push(tenths(place.left), tenths(place.top), tenths(place.right - place.left),
        tenths(place.bottom - place.top));
    } else this.numbers.push(0, 0, -1, 0);
    this.names.push(name);
    return this.count++;
  }
}

const tenths = (v) => Math.round(v * 10);
const box = (left, top, right, bottom) => ({ left, top, right, bottom });

function meet(a, b) {
  const left = Math.max(a.left, b.left), top = Math.max(a.top, b.top);
  const right = Math.min(a.right, b.right), bottom = Math.min(a.bottom, b.bottom);
  return right > left && bottom > top ? { left, top, right, bottom } : null;
}

const NOWHERE = box(0, 0, 0, 0);
const viewport = () => box(0, 0, innerWidth, innerHeight);

function placed(rect, at) {
  const left = at.x + rect.left * at.sx, top = at.y + rect.top * at.sy;
  return { left, top, right: left + rect.width * at.sx, bottom: top + rect.height * at.sy };
}

// The element with the focus, through shadow roots and frames of this world.
function focusedElement(doc = document) {
  let e = gActive.call(doc);
  for (;;) {
    const shadow = e && shadowOf(e);
    const inner = shadow && gActiveIn.call(shadow);
    if (!inner) break;
    e = inner;
  }
  if (!e || e === gBody.call(doc) || e === gRootElement.call(doc)) return null;
  const inside = innerDocument(e, tagOf(e));
  return inside ? focusedElement(inside) || e : e;
}

// Extra columns and states shared by the walk and the look at one element.
function emit(pack, e, tag, role, up, place, mask, secure) {
  const name = limited(nameOf(e, tag, role));
  const value = valueOf(e, tag, role, secure);
  const identifier = identify(e);
  const description = has(e, "title") || has(e, "aria-describedby") || has(e, "aria-description")
    ? describe(e, name) : "";
  const row = pack.add(up, tellingNumber(e, tag), role, nativeOf(e, tag), mask, place, name);
  if (value !== null || identifier || description) {
    pack.extras[row] = [value === null ? null : limited(value), identifier.slice(0, 128), limited(description)];
  }
  return row;
}

function walk(options) {
  textLimit = options.text;
  textCut = 0;
  freshLook();
  const pack = new Pack();
  const omitted = { offscreen: 0, nodes: 0, depth: 0, text: 0, unread: 0 };
  const inViewport = options.mode === "viewport", interactive = options.mode === "interactive";
  const full = options.mode === "full";
  const focus = focusedElement();
  let looked = 0;

  // `at`: up (row), depth, clip and hold (clips for static and for absolute content), base (clip for fixed
  // content), map (to points of the top document), parent's cursor, disabled by an ancestor, absorbed (own
  // text already told by the parent).
  function visit(e, at, deep) {
    if (++looked > WALK_BUDGET || deep > 1500) {
      omitted.unread++;
      return;
    }
    const tag = tagOf(e);
    if (SKIPPED.has(tag) || attr(e, "aria-hidden") === "true") return;
    const style = styleOf(e);
    if (!rendered(e)) {
      if (tag === "option" || tag === "optgroup") return;
      if (style.display === "contents") children(e, tag, at, deep, at.absorbed);
      return;
    }
    let role = roleOf(e, tag);
    if (tag === "input" && role === "") return; // type=hidden
    let cursor;
    const ownCursor = () => (cursor ??= style.cursor);
    const standIn = standsFor(e, tag);
    if (standIn) role = standIn.type === "file" ? "filechooser" : standIn.type;
    let press = INTERACTIVE.has(role);
    if (!press && !NOT_CLICKABLE.has(role) && looksClickable(e, tag, at.cursor, style)) {
      press = true;
      if (role === "") role = "clickable";
    }
    const disabled = at.disabled || has(e, "inert") || attr(e, "aria-disabled") === "true" ||
      (DISABLEABLE.has(tag) && matches(e, ":disabled"));

    let absorbed = at.absorbed;
    if (role === "" && !full && !inViewport) absorbed = true;
    else if (role === "" || NAMED_BY_OWN_TEXT.has(role)) {
      const block = !INLINE.has(tag);
      if (absorbed && !block && role === "") absorbed = true; // told by the block it runs in
      else if (tag === "label" && namesField(e)) absorbed = true; // told by its field
      else if ((role === "" ? ownText(e, tag) : speaks(e, tag)) && style.visibility === "visible") {
        role ||= "text";
        absorbed = true;
      } else {
        if (block) absorbed = false;
        else if (style.visibility !== "visible") absorbed = false;
        if (role === "paragraph" || role === "text") role = ""; // nothing of its own to read
      }
    }
    if (role === "" && !interactive) {
      if (has(e, "aria-label")) role = "group";
      else if (has(e, "data-testid")) role = "generic";
    }
    if (interactive && role !== "" && !INTERACTIVE.has(role) && role !== "heading" && role !== "frame" && !press) {
      role = "";
    }

    const rect = rectOf(e);
    const place = placed(rect, at.map);
    let { clip, hold } = at;
    if (clip !== at.base || hold !== at.base) {
      const position = style.position;
      if (position === "fixed") clip = hold = at.base;
      else if (position === "absolute") clip = hold;
    }
    let row = at.up;
    let depth = at.depth;
    if (role !== "") {
      const visible = rect.width > 0 && rect.height > 0;
      if ((visible || ALWAYS_PLACED.has(role)) && style.visibility === "visible") {
        const shown = visible ? meet(place, clip) : null;
        if (inViewport && !shown) omitted.offscreen++;
        else if (depth >= options.depth) omitted.depth++;
        else if (pack.count >= options.nodes) omitted.nodes++;
        else {
          const secure = isSecure(e, tag);
          let mask = statesOf(e, tag, role, disabled, secure);
          if (e === focus) mask |= STATE.focused;
          if (!shown) mask |= STATE.offscreen;
          if (press && !disabled) mask |= PRESS;
          if (press && shown && !reaches(e, standIn, (shown.left + shown.right) / 2,
            (shown.top + shown.bottom) / 2, at.map, clip)) mask |= COVERED;
          row = emit(pack, e, tag, role, at.up, visible ? place : null, mask, secure);
          depth++;
        }
      }
    }
    if (role === "frame") {
      if (row !== at.up) enterFrame(e, tag, row, depth, clip, at, disabled, deep);
      return;
    }
    if (tag === "select") {
      if (full) options_(e, row, depth, disabled, deep, at);
      return;
    }
    if (INPUTS.has(tag) || (role === "textbox" && editingHost(e, tag))) return;
    if (gFirstElement.call(e) === null && shadowOf(e) === null && tag !== "slot") return;
    if (CLOSED.has(role) && !find(e, NESTED)) return;
    if ((role === "link" || role === "clickable" || CELLS.has(role)) && !find(e, STRUCTURED) && !shadowOf(e)) return;

    // What this element clips, and for whom it is the containing block.
    let inner = clip, innerHold = hold;
    if (tag !== "body" && tag !== "html" && style.overflow !== "visible") {
      inner = meet(clip, placed(paddingBox(e, rect), at.map)) || NOWHERE;
      if (style.position !== "static" || style.transform !== "none") innerHold = inner;
    } else if (clip !== hold && (style.position !== "static" || style.transform !== "none")) innerHold = clip;
    children(e, tag, {
      up: row, depth, clip: inner, hold: innerHold, base: at.base, map: at.map, cursor: ownCursor, disabled,
    }, deep, absorbed);
  }

  function children(e, tag, at, deep, absorbed) {
    at.absorbed = absorbed;
    const list = drawnChildren(e, tag);
    if (Array.isArray(list)) {
      for (const node of list) if (typeOf(node) === 1) visit(node, at, deep + 1);
      return;
    }
    for (let node = list; node; node = nextOf(node)) if (typeOf(node) === 1) visit(node, at, deep + 1);
  }

  function options_(e, row, depth, disabled, deep, at) {
    for (let node = firstOf(e); node; node = nextOf(node)) {
      if (typeOf(node) !== 1) continue;
      const tag = tagOf(node);
      if (tag === "optgroup") options_(node, row, depth, disabled || node.disabled, deep + 1, at);
      if (tag !== "option" || node.hidden) continue;
      looked++;
      if (depth >= options.depth) omitted.depth++;
      else if (pack.count >= options.nodes) omitted.nodes++;
      else {
        const rect = rectOf(node);
        const visible = rect.width > 0 && rect.height > 0;
        const place = visible ? placed(rect, at.map) : null;
        const off = disabled || matches(node, ":disabled");
        let mask = statesOf(node, tag, "option", off, false);
        if (!place || !meet(place, at.clip)) mask |= STATE.offscreen;
        if (place && !off) mask |= PRESS;
        emit(pack, node, tag, "option", row, place, mask, false);
      }
    }
  }

  function enterFrame(e, tag, row, depth, clip, at, disabled, deep) {
    const rect = rectOf(e);
    if (!rect.width || !rect.height) return;
    const place = frameBox(e);
    const map = {
      x: at.map.x + place.x * at.map.sx, y: at.map.y + place.y * at.map.sy,
      sx: place.sx * at.map.sx, sy: place.sy * at.map.sy,
    };
    const view = box(map.x, map.y, map.x + place.width * at.map.sx, map.y + place.height * at.map.sy);
    const inner = meet(clip, view);
    const doc = innerDocument(e, tag);
    if (doc) {
      const root = gRootElement.call(doc);
      if (!root) return;
      const base = inner || NOWHERE;
      visit(root, { up: row, depth, clip: base, hold: base, base, map, cursor: noCursor, disabled, absorbed: false },
        deep + 1);
    } else if (tag === "iframe" || tag === "frame") {
      const c = inner || NOWHERE;
      pack.frames.push([row, numberOf(e), depth, map.x, map.y, map.sx, map.sy,
        c.left, c.top, c.right, c.bottom, disabled]);
    }
  }

  let root = gRootElement.call(document);
  let at = rootPlace();
  if (options.root) {
    root = living(options.root);
    if (typeof root === "string") return JSON.stringify({ stale: root });
    if (root === gRootElement.call(document)) options.root = 0;
    else at = placeAbove(root);
  }
  if (!options.root) {
    const screen = viewport();
    pack.add(-1, root ? numberOf(root) : 0, "document", "html", 0, options.nested ? null : screen,
      options.nested ? "" : limited(squeeze(gTitle.call(document))));
    at.up = 0;
    at.depth = 1;
  }
  if (root) visit(root, at, 0);
  omitted.text = textCut;
  return JSON.stringify({
    ...page(), words: pack.words, numbers: pack.numbers.join(","), names: pack.names, extras: pack.extras,
    frames: pack.frames, omitted,
  });
}

const INPUTS = new Set(["input", "textarea"]);
const noCursor = () => "auto";

function rootPlace() {
  const base = viewport();
  return {
    up: -1, depth: 0, clip: base, hold: base, base, map: { x: 0, y: 0, sx: 1, sy: 1 }, cursor: noCursor,
    disabled: false, absorbed: false,
  };
}

// As `rootPlace`, for a walk that starts in the middle of the page.
function placeAbove(e) {
  const at = rootPlace();
  at.map = placeOf(documentOf(e));
  at.clip = at.hold = clipAround(e);
  at.base = frameClip(documentOf(e));
  const up = above(e);
  at.cursor = up ? () => styleOf(up).cursor : noCursor;
  at.disabled = up !== null && isDisabled(up, tagOf(up));
  return at;
}

// Whether an element has text of its own, not only inside its child elements.
function ownText(e, tag) {
  const list = drawnChildren(e, tag);
  if (Array.isArray(list)) return list.some((node) => typeOf(node) === 3 && /\S/.test(dataOf(node)));
  for (let node = list; node; node = nextOf(node)) {
    if (typeOf(node) === 3 && /\S/.test(dataOf(node))) return true;
  }
  return false;
}

// Whether an element, or what runs inline inside it, has text of its own (a link's text is the link's).
function speaks(e, tag) {
  if (ownText(e, tag)) return true;
  const list = drawnChildren(e, tag);
  for (let node = Array.isArray(list) ? null : list; node; node = nextOf(node)) {
    if (typeOf(node) !== 1) continue;
    const inner = tagOf(node);
    if (!INLINE.has(inner) || inner === "svg" || inner === "a" || (inner === "label" && namesField(node))) continue;
    if (speaks(node, inner)) return true;
  }
  return false;
}

function paddingBox(e, rect) {
  const left = rect.left + gClientLeft.call(e), top = rect.top + gClientTop.call(e);
  return { left, top, width: gClientWidth.call(e), height: gClientHeight.call(e) };
}

function page() {
  const root = gRootElement.call(document);
  const scroller = gScroller.call(document);
  return {
    title: limited(squeeze(gTitle.call(document))), url: location.href,
    view: [innerWidth, innerHeight, scrollX, scrollY, scroller ? gScrollWidth.call(scroller) : innerWidth,
      scroller ? gScrollHeight.call(scroller) : innerHeight, devicePixelRatio],
    ready: root !== null,
  };
}
