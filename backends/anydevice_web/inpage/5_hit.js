// Where input for an element lands: its visible part, and whether the element is really what is hit there.

// Clip that a document's frames leave of its viewport, in points of the top document.
function frameClip(doc) {
  const frame = frameOf(doc);
  if (!frame) return viewport();
  const up = placeOf(documentOf(frame));
  const place = frameBox(frame);
  const view = box(up.x + place.x * up.sx, up.y + place.y * up.sy, up.x + (place.x + place.width) * up.sx,
    up.y + (place.y + place.height) * up.sy);
  return meet(clipAround(frame), view) || NOWHERE;
}

// What the scrolling and clipping ancestors of an element leave visible, in points of the top document.
function clipAround(e) {
  const doc = documentOf(e);
  const map = placeOf(doc);
  let clip = frameClip(doc);
  let mode = styleOf(e).position;
  for (let up = above(e); up; up = above(up)) {
    const tag = tagOf(up);
    if (tag === "body" || tag === "html") continue;
    const style = styleOf(up);
    const holds = style.position !== "static" || style.transform !== "none";
    if (mode === "fixed" && style.transform === "none") continue;
    if (mode === "absolute" && !holds) continue;
    if (style.overflow !== "visible") clip = meet(clip, placed(paddingBox(up, rectOf(up)), map)) || NOWHERE;
    mode = style.position;
  }
  return clip;
}

function deepest(doc, x, y) {
  let hit = mFromPoint.call(doc, x, y);
  while (hit) {
    const shadow = shadowOf(hit);
    const inner = shadow && mFromPointIn.call(shadow, x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

// Whether a hit counts for the target: the target itself, something drawn inside it, or its label.
function counts(hit, target, standIn) {
  for (let e = hit; e; e = above(e)) {
    if (e === target) return true;
    if (tagOf(e) === "label" && e.control && (e.control === target || e.control === standIn)) return true;
    if (tagOf(e) === "area" && tagOf(target) === "img") return true;
  }
  return tagOf(target) === "area" && hit !== null && tagOf(hit) === "img";
}

// What is hit instead of the target at a point of the top document: null = the target is, else the cover.
// Every document above the target's must show the frame there, or something lies over the frame.
function coverAt(target, standIn, x, y) {
  let doc = documentOf(target), wanted = target, stand = standIn;
  for (;;) {
    const map = placeOf(doc);
    const hit = deepest(doc, (x - map.x) / map.sx, (y - map.y) / map.sy);
    if (!hit) return wanted === target ? gRootElement.call(doc) : wanted;
    if (!counts(hit, wanted, stand)) return hit;
    const frame = frameOf(doc);
    if (!frame) return null;
    wanted = frame;
    stand = null;
    doc = documentOf(frame);
  }
}

function reaches(e, standIn, x, y) {
  if (tagOf(e) === "option" && closest(e, "select")) return true;
  return coverAt(e, standIn, x, y) === null;
}

// Something a person would call the cover: the hit element, or the nearest one around it that has a role or id.
function coverOf(hit) {
  let e = hit;
  for (let up = hit; up; up = above(up)) {
    const tag = tagOf(up);
    if (tag === "body" || tag === "html") break;
    if (roleOf(up, tag) || identify(up)) {
      e = up;
      break;
    }
  }
  const tag = tagOf(e);
  const role = roleOf(e, tag) || tag;
  const name = nameOf(e, tag, roleOf(e, tag) || "text").slice(0, 80);
  const id = identify(e).slice(0, 80);
  return { text: role + (name ? ` "${name}"` : "") + (id ? ` #${id}` : ""), key: numberOf(e) };
}

// Rectangles an element is drawn in, largest first; a label stands in for a control that has no size.
function drawnRects(e, map) {
  let source = e;
  let rect = rectOf(e);
  if ((!rect.width || !rect.height) && e.labels && e.labels.length) {
    source = [...e.labels].find((label) => rendered(label) && rectOf(label).width > 0) || e;
    rect = rectOf(source);
  }
  const many = mRects.call(source);
  const rects = many.length > 1 && styleOf(source).display.startsWith("inline") ? [...many] : [rect];
  return rects.filter((r) => r.width > 0 && r.height > 0).map((r) => placed(r, map))
    .sort((a, b) => (b.right - b.left) * (b.bottom - b.top) - (a.right - a.left) * (a.bottom - a.top));
}

// A fresh look at one element: its row, and the point where input for it lands. `view`: what of this document
// its outer frames (other processes) leave visible. `x`, `y`: judge this point and no other.
function probe(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const tag = tagOf(e);
  const looked = look(e, tag);
  const result = { ...looked, point: null, cover: null };
  const standIn = standsFor(e, tag);
  if (options.x !== undefined) {
    const hit = coverAt(e, standIn, options.x, options.y);
    result.point = [options.x, options.y];
    result.cover = hit && coverOf(hit);
    return result;
  }
  if (!rendered(e) || styleOf(e).visibility !== "visible") return result;
  let clip = clipAround(e);
  if (options.view) clip = meet(clip, box(...options.view)) || NOWHERE;
  for (const rect of drawnRects(e, placeOf(documentOf(e)))) {
    const shown = meet(rect, clip);
    if (!shown) continue;
    const width = shown.right - shown.left, height = shown.bottom - shown.top;
    // The middle first; where something lies over the middle, a part that shows is as good for a person too.
    for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]]) {
      const x = shown.left + width * fx, y = shown.top + height * fy;
      const hit = coverAt(e, standIn, x, y);
      if (hit === null) {
        result.point = [x, y];
        result.cover = null;
        return result;
      }
      if (result.point === null) {
        result.point = [x, y];
        result.cover = coverOf(hit);
      }
    }
    break;
  }
  return result;
}

const LOOKED_AT = 100000; // characters of one element's text: what was written into it is read back whole

// One element as a packed walk of a single row.
function look(e, tag) {
  freshLook();
  textLimit = LOOKED_AT;
  const pack = new Pack();
  const standIn = standsFor(e, tag);
  let role = standIn ? (standIn.type === "file" ? "filechooser" : standIn.type) : roleOf(e, tag);
  const style = styleOf(e);
  const drawn = rendered(e) && style.visibility === "visible";
  const up = above(e);
  let press = INTERACTIVE.has(role);
  if (!press && !NOT_CLICKABLE.has(role) && looksClickable(e, tag, () => (up ? styleOf(up).cursor : "auto"), style)) {
    press = true;
    if (role === "") role = "clickable";
  }
  if (role === "") role = e === gRootElement.call(document) ? "document" : ownText(e, tag) ? "text" : "generic";
  const disabled = isDisabled(e, tag);
  const secure = isSecure(e, tag);
  let mask = statesOf(e, tag, role, disabled, secure);
  if (e === focusedElement()) mask |= STATE.focused;
  if (press && !disabled) mask |= PRESS;
  const rect = rectOf(e);
  const place = rect.width > 0 && rect.height > 0 ? placed(rect, placeOf(documentOf(e))) : null;
  if (!drawn) mask |= STATE.hidden;
  else if (!place || !meet(place, clipAround(e))) mask |= STATE.offscreen;
  emit(pack, e, tag, role, -1, drawn ? place : null, mask, secure);
  return { words: pack.words, numbers: pack.numbers.join(","), names: pack.names, extras: pack.extras };
}

// What is hit at a point, through the frames this world can enter. In one it cannot enter: that frame's number
// and the point in its own coordinates.
function hitAt(x, y) {
  let doc = document;
  for (;;) {
    const hit = deepest(doc, x, y);
    if (!hit) return { hit };
    const tag = tagOf(hit);
    if (tag !== "iframe" && tag !== "frame") return { hit };
    const place = frameBox(hit);
    const inside = x >= place.x && y >= place.y && x < place.x + place.width && y < place.y + place.height;
    if (!inside) return { hit };
    const inner = innerDocument(hit, tag);
    x = (x - place.x) / place.sx;
    y = (y - place.y) / place.sy;
    if (!inner) return { hit, frame: numberOf(hit), x, y };
    if (!gRootElement.call(inner)) return { hit };
    doc = inner;
  }
}

// The element at a point: the deepest one a person would name, not the span inside the button.
function at(options) {
  const { hit, ...inside } = hitAt(options.x, options.y);
  if (!hit) return null;
  const named = "frame" in inside ? hit : speaker(hit);
  return { ...look(named, tagOf(named)), ...inside };
}

// The frame of another world at a point, or null.
function frameAt(options) {
  const { hit, ...inside } = hitAt(options.x, options.y);
  return "frame" in inside ? inside : null;
}

function speaker(hit) {
  let outer = null, near = null;
  for (let e = hit; e; e = above(e)) {
    const tag = tagOf(e);
    const role = roleOf(e, tag);
    if (!role || role === "document") continue;
    near ??= e;
    if (INTERACTIVE.has(role)) {
      outer = e;
      break;
    }
  }
  if (outer && (outer === near || CLOSED.has(roleOf(outer, tagOf(outer))) || roleOf(outer, tagOf(outer)) === "link")) {
    return outer;
  }
  return ownText(hit, tagOf(hit)) || !near ? hit : near;
}

// What a frame element of another process leaves of its document: origin, scale, visible part; and, when a
// point is given, whether the frame is what is hit there.
function frameView(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const up = placeOf(documentOf(e));
  const place = frameBox(e);
  const x = up.x + place.x * up.sx, y = up.y + place.y * up.sy;
  const view = box(x, y, x + place.width * up.sx, y + place.height * up.sy);
  const shown = rendered(e) ? meet(clipAround(e), view) || NOWHERE : NOWHERE;
  const result = {
    x, y, sx: place.sx * up.sx, sy: place.sy * up.sy, shown: [shown.left, shown.top, shown.right, shown.bottom],
    cover: null,
  };
  if (options.x !== undefined) {
    const hit = coverAt(e, null, options.x, options.y);
    result.cover = hit && coverOf(hit);
  }
  return result;
}

// Scrolls an element into view, unless all of it is in view already.
function reveal(options) {
  const e = living(options.n);
  if (typeof e === "string") return { stale: e };
  const scrolled = !whollyShown(e);
  if (scrolled) {
    const target = rectOf(e).width || !e.labels || !e.labels.length ? e : e.labels[0];
    Element.prototype.scrollIntoView.call(target, { block: "center", inline: "center", behavior: "instant" });
  }
  return { scrolled, shown: whollyShown(e) || partlyShown(e) };
}

function whollyShown(e) {
  const place = placed(rectOf(e), placeOf(documentOf(e)));
  const shown = meet(place, clipAround(e));
  return shown !== null && shown.left <= place.left + 0.5 && shown.top <= place.top + 0.5 &&
    shown.right >= place.right - 0.5 && shown.bottom >= place.bottom - 0.5;
}

const partlyShown = (e) => drawnRects(e, placeOf(documentOf(e))).some((rect) => meet(rect, clipAround(e)) !== null);
