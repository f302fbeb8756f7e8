// Access to the document that a page cannot bend. Runs in an isolated world, so prototypes are the browser's own;
// but forms and documents let named children shadow their properties (<input name="parentNode">), in every
// world, so properties of arbitrary elements are read through the prototypes' own getters.

const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;

const gLocalName = getter(Element, "localName");
const gParent = getter(Node, "parentNode");
const gFirst = getter(Node, "firstChild");
const gNext = getter(Node, "nextSibling");
const gType = getter(Node, "nodeType");
const gConnected = getter(Node, "isConnected");
const gOwner = getter(Node, "ownerDocument");
const gText = getter(Node, "textContent");
const gData = getter(CharacterData, "data");
const gShadow = getter(Element, "shadowRoot");
const gSlot = getter(Element, "assignedSlot");
const gHost = getter(ShadowRoot, "host");
const gId = getter(Element, "id");
const gFirstElement = getter(Element, "firstElementChild");
const gNextElement = getter(Element, "nextElementSibling");
const gPreviousElement = getter(Element, "previousElementSibling");
const gClientLeft = getter(Element, "clientLeft");
const gClientTop = getter(Element, "clientTop");
const gClientWidth = getter(Element, "clientWidth");
const gClientHeight = getter(Element, "clientHeight");
const gOffsetWidth = getter(HTMLElement, "offsetWidth");
const gOffsetHeight = getter(HTMLElement, "offsetHeight");
const gInnerText = getter(HTMLElement, "innerText");
const gView = getter(Document, "defaultView");
const gRootElement = getter(Document, "documentElement");
const gBody = getter(Document, "body");
const gTitle = getter(Document, "title");
const gActive = getter(Document, "activeElement");
const gScroller = getter(Document, "scrollingElement");
const gDesign = getter(Document, "designMode");
const gContentType = getter(Document, "contentType");
const gScrollLeft = getter(Element, "scrollLeft");
const gScrollTop = getter(Element, "scrollTop");
const gScrollWidth = getter(Element, "scrollWidth");
const gScrollHeight = getter(Element, "scrollHeight");
const gEditable = getter(HTMLElement, "isContentEditable");
const gActiveIn = getter(ShadowRoot, "activeElement");

const mAttr = Element.prototype.getAttribute;
const mHas = Element.prototype.hasAttribute;
const mRect = Element.prototype.getBoundingClientRect;
const mRects = Element.prototype.getClientRects;
const mMatches = Element.prototype.matches;
const mClosest = Element.prototype.closest;
const mQuery = Element.prototype.querySelector;
const mVisible = Element.prototype.checkVisibility;
const mRoot = Node.prototype.getRootNode;
const mById = Document.prototype.getElementById;
const mByIdIn = DocumentFragment.prototype.getElementById;
const mFromPoint = Document.prototype.elementFromPoint;
const mFromPointIn = ShadowRoot.prototype.elementFromPoint;
const mRange = Document.prototype.createRange;
const mAssigned = HTMLSlotElement.prototype.assignedNodes;

const tagOf = (e) => gLocalName.call(e);
const parentOf = (n) => gParent.call(n);
const firstOf = (n) => gFirst.call(n);
const nextOf = (n) => gNext.call(n);
const typeOf = (n) => gType.call(n);
const connected = (n) => gConnected.call(n);
const documentOf = (n) => gOwner.call(n) || n;
const textIn = (n) => gText.call(n) || "";
const dataOf = (n) => gData.call(n);
const shadowOf = (e) => gShadow.call(e);
const slotOf = (e) => gSlot.call(e);
const attr = (e, name) => mAttr.call(e, name);
const has = (e, name) => mHas.call(e, name);
const rectOf = (e) => mRect.call(e);
const matches = (e, selector) => mMatches.call(e, selector);
const closest = (e, selector) => mClosest.call(e, selector);
const find = (e, selector) => mQuery.call(e, selector);
const rendered = (e) => mVisible.call(e);
const styleOf = (e) => getComputedStyle(e);
const viewOf = (doc) => gView.call(doc);
const isElement = (n) => n != null && typeOf(n) === 1;
const isShadow = (n) => n != null && typeOf(n) === 11 && gHostOrNull(n) !== null;

function gHostOrNull(n) {
  try {
    return gHost.call(n);
  } catch {
    return null; // a fragment that is no shadow root
  }
}

// The element above in the tree as it is drawn: through slots and out of shadow roots.
function above(e) {
  const slot = slotOf(e);
  if (slot) return slot;
  const up = parentOf(e);
  if (!up) return null;
  if (typeOf(up) === 1) return up;
  return typeOf(up) === 11 ? gHostOrNull(up) : null;
}

// First of the nodes drawn inside an element; `following` goes on from one to the next.
function drawnChildren(e, tag) {
  const shadow = shadowOf(e);
  if (shadow) return firstOf(shadow);
  if (tag === "slot") {
    const assigned = mAssigned.call(e);
    if (assigned.length) return assigned;
  }
  return firstOf(e);
}

function byIdNear(e, id) {
  const root = mRoot.call(e);
  if (typeOf(root) === 9) return mById.call(root, id);
  return typeOf(root) === 11 ? mByIdIn.call(root, id) : null;
}

const FRAMES = new Set(["iframe", "frame", "object", "embed"]);
const gFrameDocument = {
  __proto__: null,
  iframe: getter(HTMLIFrameElement, "contentDocument"),
  frame: getter(HTMLFrameElement, "contentDocument"),
  object: getter(HTMLObjectElement, "contentDocument"),
};

// The document inside a frame element, or null where another origin's is not ours to touch.
function innerDocument(e, tag) {
  const get = gFrameDocument[tag];
  try {
    return get ? get.call(e) : null;
  } catch {
    return null;
  }
}

// The frame element a document sits in, or null at the top of what this world can reach.
function frameOf(doc) {
  if (doc === document) return null;
  const view = viewOf(doc);
  return view ? view.frameElement : null;
}

// Where a frame's content lies in its parent document: origin of the content box, scale, size.
// Scaling by transform or zoom is covered; rotation is not.
function frameBox(e) {
  const rect = rectOf(e);
  const style = styleOf(e);
  const width = gOffsetWidth.call(e);
  const height = gOffsetHeight.call(e);
  const sx = width ? rect.width / width : 1;
  const sy = height ? rect.height / height : 1;
  const left = gClientLeft.call(e) + parseFloat(style.paddingLeft || 0);
  const top = gClientTop.call(e) + parseFloat(style.paddingTop || 0);
  const innerWidth = gClientWidth.call(e) - parseFloat(style.paddingLeft || 0) - parseFloat(style.paddingRight || 0);
  const innerHeight = gClientHeight.call(e) - parseFloat(style.paddingTop || 0) - parseFloat(style.paddingBottom || 0);
  return { x: rect.x + left * sx, y: rect.y + top * sy, sx, sy, width: innerWidth * sx, height: innerHeight * sy };
}

// How points of a document map to points of this world's top document.
function placeOf(doc) {
  const frame = frameOf(doc);
  if (!frame) return { x: 0, y: 0, sx: 1, sy: 1 };
  const box = frameBox(frame);
  const up = placeOf(documentOf(frame));
  return { x: up.x + box.x * up.sx, y: up.y + box.y * up.sy, sx: box.sx * up.sx, sy: box.sy * up.sy };
}

// --- identity: a number per element, never given twice -------------------------------------------------

const numbers = new WeakMap();
const elements = new Map();
const collected = new FinalizationRegistry((n) => elements.delete(n));
const secrets = new WeakSet(); // fields that were ever seen as password fields
let nextNumber = 1;

function numberOf(e) {
  let n = numbers.get(e);
  if (n === undefined) {
    n = nextNumber++;
    numbers.set(e, n);
    elements.set(n, new WeakRef(e));
    collected.register(e, n);
  }
  return n;
}

// The living element of a number, or the reason why there is none.
function living(n) {
  const e = elements.get(n)?.deref();
  if (replaced.has(n)) return SHOWS_OTHER;
  if (e === undefined) return n < nextNumber ? "the element was removed" : "no such element";
  if (!connected(e)) return "the element was removed from the page";
  if (viewOf(documentOf(e)) === null) return "the frame the element was in is gone";
  freshLook();
  return aboutOther(e) ? SHOWS_OTHER : e;
}

const SHOWS_OTHER = "its place shows something else now";
