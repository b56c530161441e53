/*! JISS collector: measures how a case is reviewed. No content, no keystroke is read; nothing is sent or stored. */
/**
 * `/collector.js`: measures one review in a customer's own page, and hands the figures to that page's code.
 * The counting rules and their reasons are in docs/integrate/send-reviews.md. It has at most 4,096 bytes and
 * one global, `JissCollector`.
 *
 * A value that was not measured is null, never 0: the model counts a 0 against the reviewer, and leaves a
 * null out.
 *
 * It throws into the page only if `start` is given no element. If the page has replaced a function of the
 * browser by one that fails, the time is still measured, and the rest is null.
 */

/** How long an activity of the reviewer is taken to last, unless the page sets another time. */
const IDLE_MS = 30_000;
const TICK_MS = 1000;
/** If ticks are further apart than this, the machine slept or the page stood still. */
const GAP_MS = 2000;
/** Rest that counts as a visit: a pointer that only passes over a part has left it by then. */
const REST_MS = 200;
/** The largest values that a score accepts. */
const LONGEST_MS = 86_400_000;
const MOST_HOVERS = 100_000;

const PARTS = "[data-jiss-part]";
/** The parts if the page marks none. */
const COMMON_PARTS = "p,li,dd,tr,pre,blockquote,figure,img";
const VIEW = "data-jiss-view";
const VIEWS = `[${VIEW}]`;
/** A view that is open from the start is no alternative view. */
const OPEN = "[open],[aria-selected=true],[aria-expanded=true]";

/** Events that show that somebody is present. */
const SIGNS = "pointermove pointerdown keydown input wheel scroll focusin selectionchange";
const PRESENCE = "visibilitychange pagehide pageshow freeze resume";

const { max, min } = Math;

/** Named like the fields of an interaction. */
export interface JissMeasurement {
  time_to_decision_ms: number;
  hover_events: number | null;
  scroll_depth: number | null;
  alternative_views_checked: number | null;
}

export interface JissCollection {
  /** The measurement so far. */
  measure(): JissMeasurement;
  /** Ends the measurement and removes every listener; a second call returns the same. */
  stop(): JissMeasurement;
}

export interface JissCollectorApi {
  /**
   * @param options `idleMs`: 30,000 if it is no finite number above 0.
   * @throws {TypeError} if `element` is no element of this page; then nothing has begun.
   */
  start(element: Element, options?: { idleMs?: number } | null): JissCollection;
}

/** A property as the browser defines it: a field of a form hides the form's own property of the same name. */
function own<Name extends keyof HTMLElement>(node: Node, name: Name): HTMLElement[Name] {
  const value: unknown = Reflect.get(HTMLElement.prototype, name, node);
  return (typeof value === "function" ? value.bind(node) : value) as HTMLElement[Name];
}

function parentOf(node: Node): Node | null {
  return node instanceof ShadowRoot ? node.host : own(node, "parentNode");
}

function isHidden(): boolean {
  return Reflect.get(Document.prototype, "hidden", document);
}

/** The innermost matching element around the node and inside the case; null if there is none. */
function around(node: EventTarget | null | undefined, selector: string, element: Element): Element | null {
  let found: Element | null = null;
  for (let at = node as Node | null | undefined; at; at = parentOf(at)) {
    if (at === element) return found;
    if (at instanceof Element && own(at, "matches")(selector)) found ??= at;
  }
  return null;
}

function overflowOf(element: Element): string {
  return getComputedStyle(element).overflowY;
}

/** Height and width of the content, and how far down its lower visible edge is: 0 if none of it is visible. */
function extentOf(element: Element): [height: number, width: number, seen: number] {
  const box = own(element, "getBoundingClientRect")();
  let { top, height } = box;
  let from = 0;
  let to = innerHeight;
  function clip(scroller: Element): void {
    const edge = own(scroller, "getBoundingClientRect")().top + own(scroller, "clientTop");
    from = max(from, edge);
    to = min(to, edge + own(scroller, "clientHeight"));
  }
  if (/auto|scroll/.test(overflowOf(element))) {
    clip(element);
    top += own(element, "clientTop") - own(element, "scrollTop");
    height = own(element, "scrollHeight");
  }
  for (let at: Node | null = element; (at = parentOf(at));) {
    // The window does the clipping of these two.
    const isPage = at instanceof HTMLBodyElement || at instanceof HTMLHtmlElement;
    if (isPage || !(at instanceof HTMLElement)) continue;
    if (overflowOf(at) !== "visible") clip(at);
  }
  return [height, box.width, to > from && to > top && from < top + height ? to - top : 0];
}

function canHover({ pointerType }: PointerEvent): boolean {
  return pointerType !== "touch";
}

function targetOf(event: Event): EventTarget | undefined {
  return event.composedPath()[0];
}

/** Runs code in the page and listens there. Nothing that fails is thrown into the page. */
function guard() {
  const listening = new AbortController();
  /** True once something was missed: then the figures are no longer known. */
  let failed = false;

  function guarded<Of extends readonly unknown[], To>(run: (...of: Of) => To): (...of: Of) => To | undefined {
    return (...of) => {
      try {
        return run(...of);
      } catch {
        failed = true;
      }
    };
  }

  /** @param types separated by single spaces. */
  function listen(target: EventTarget, types: string, handle: (event: never) => void): void {
    const guardedHandle = guarded((event: Event) => event.isTrusted && handle(event as never));
    for (const type of types.split(" ")) {
      guarded(() =>
        EventTarget.prototype.addEventListener.call(
          target,
          type,
          guardedHandle,
          { capture: true, passive: true, signal: listening.signal },
        )
      )();
    }
  }

  const known = (figure: () => number | null) => failed ? null : figure();
  return [guarded, listen, known, guarded(() => listening.abort())] as const;
}

type Find = HTMLElement["querySelector"];
type Guarded = ReturnType<typeof guard>[0];
type Listen = ReturnType<typeof guard>[1];

// The four parts return tuples of functions: the minifier shortens names of variables, but none of properties.

/** Counts the time while the page is visible; from a sign of activity to the next at most `idleMs`. */
function watchTime(guarded: Guarded, given: number | undefined, look: () => void) {
  const idleMs = Number.isFinite(given) && given! > 0 ? given! : IDLE_MS;
  let clock: { now(): number } = performance;
  const read = () => Number(clock.now());
  let last = guarded(read)()!;
  if (!isFinite(last)) {
    clock = Date;
    last = guarded(read)()!;
  }
  let total = 0;
  /** Milliseconds since the last sign of activity. */
  let quiet = 0;
  let away = isHidden();

  const advance = guarded(() => {
    const now = read();
    // Without ticks a silence does not show a gap.
    const passed = min(now - last, ticks ? GAP_MS : idleMs);
    if (!away && passed > 0) {
      total += max(0, min(passed, idleMs - quiet));
      quiet += passed;
    }
    if (isFinite(now)) last = now;
  });
  const sign = (isAway = away) => {
    advance();
    away = isAway;
    quiet = 0;
  };
  const lookIfVisible = guarded(() => {
    if (!away) look();
  });
  const update = () => {
    advance();
    lookIfVisible();
  };
  const ticks = guarded(() => setInterval(update, TICK_MS))();
  const figure = () => Math.round(min(total, LONGEST_MS));
  return [sign, lookIfVisible, update, figure, ticks] as const;
}

/** Counts the parts on which a pointer, the focus or a selection rested, and those that were clicked. */
function watchParts(guarded: Guarded, listen: Listen, element: Element) {
  /** True if a pointer that hovers is in use: a part on which it never rested was not examined. */
  let hovering = false;
  let byKey = false;
  let moved = false;
  let place = "";

  let hovers = 0;
  let parts = PARTS;
  let hasParts = false;
  let visited: Element | null = null;
  let byFocus = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  const partAt = (node: EventTarget | null | undefined) => around(node, parts, element);

  const visit = (part: Element | null, focus = false) => {
    if (part === visited) return;
    clearTimeout(rest);
    visited = part;
    byFocus = focus;
    rest = part ? setTimeout(count, REST_MS) : undefined;
  };
  const count = guarded(() => {
    clearTimeout(rest);
    rest = undefined;
    hovers++;
  });

  listen(element, "pointermove", (event: PointerEvent) => {
    if (moved && canHover(event)) visit(partAt(targetOf(event)));
  });
  listen(element, "pointerout", (event: PointerEvent) => {
    if (canHover(event) && !byFocus && partAt(event.relatedTarget) !== visited) visit(null);
  });
  listen(element, "focusin", (event: FocusEvent) => visit(partAt(targetOf(event)), true));
  listen(element, "focusout", () => {
    if (byFocus) visit(null);
  });
  listen(document, "selectionchange", () => {
    const selection = getSelection();
    const part = partAt(selection?.focusNode);
    // A caret set by a click stands where the pointer is.
    if (part && (byKey || selection!.type === "Range")) visit(part, true);
  });
  listen(element, "click", (event: Event) => {
    const part = partAt(targetOf(event));
    visit(part, true);
    if (part && rest) count();
  });

  /** Whether an event shows activity; if the place is the same, the content moved, not the pointer. */
  const isSign = (event: PointerEvent) => {
    if (event.type === "pointermove") {
      moved = place !== (place = `${event.screenX},${event.screenY}`);
      if (!moved) return false;
    }
    if (event.pointerType) {
      byKey = false;
      hovering ||= canHover(event);
    }
    if (event.type === "keydown") byKey = true;
    return true;
  };
  const look = (find: Find) => {
    const marked = find(PARTS);
    parts = marked ? PARTS : COMMON_PARTS;
    hasParts ||= Boolean(marked ?? find(parts));
  };
  const figure = () => hovers || (hovering && hasParts) ? min(hovers, MOST_HOVERS) : null;
  return [isSign, look, figure, visit] as const;
}

/** Counts the alternative views that were opened. */
function watchViews(guarded: Guarded, listen: Listen, element: Element) {
  const views = new Set<string | null>();
  const shown = new Set(guarded(() => own(element, "querySelectorAll")(OPEN))());
  let hasViews = false;

  const viewAt = (event: Event, selector = VIEWS) => around(targetOf(event), selector, element);

  const see = (view: Element | null) => {
    if (view && !shown.has(view)) views.add(own(view, "getAttribute")(VIEW));
  };

  listen(element, "focusin", (event: FocusEvent) => {
    // Arrow keys select a tab by focusing it.
    const view = viewAt(event);
    if (view) setTimeout(guarded(() => own(view, "matches")("[aria-selected=true]") && see(view)), REST_MS);
  });
  listen(element, "click", (event: Event) => see(viewAt(event, `${VIEWS}:not(details)`)));
  listen(element, "toggle", (event: Event) => {
    const opened = targetOf(event) as HTMLDetailsElement;
    if (opened.open && own(opened, "matches")(VIEWS)) see(opened);
  });

  const look = (find: Find) => {
    hasViews ||= Boolean(find(VIEWS));
  };
  const figure = () => hasViews || views.size ? views.size : null;
  return [look, figure] as const;
}

/** Measures how far down the content the lower edge of what is visible has come. */
function watchDepth(element: Element) {
  let reach = 0;
  let height = 0;
  let width = 0;
  let scrolls = false;

  const look = () => {
    const [full, wide, seen] = extentOf(element);
    if (!full) return;
    // A new width rewraps the lines and moves everything; any other growth is taken to be below.
    if (width && width !== wide) reach *= full / height;
    width = wide;
    height = full;
    if (seen) reach = max(reach, seen);
    scrolls ||= reach < full - 1;
  };
  const figure = () => {
    const depth = reach < height - 1 ? Math.floor(reach / height * 1000) / 1000 : 1;
    return scrolls && depth >= 0 ? depth : null;
  };
  return [look, figure] as const;
}

function start(element: Element, options?: { idleMs?: number } | null): JissCollection {
  if (!(element instanceof Element)) throw new TypeError("JissCollector.start takes an element of this page");
  const [guarded, listen, known, end] = guard();
  const [isSign, lookAtParts, hovers, visit] = watchParts(guarded, listen, element);
  const [lookAtViews, viewsSeen] = watchViews(guarded, listen, element);
  const [lookAtDepth, depth] = watchDepth(element);
  const [sign, look, update, time, ticks] = watchTime(guarded, options?.idleMs, () => {
    const find = own(element, "querySelector");
    lookAtParts(find);
    lookAtViews(find);
    lookAtDepth();
  });
  let result: JissMeasurement | undefined;

  listen(window, PRESENCE, ({ type }: Event) => {
    sign(isHidden() || type === "pagehide" || type === "freeze");
    visit(null);
    look();
  });
  listen(window, SIGNS, (event: PointerEvent) => {
    if (isSign(event)) sign();
    if (event.type === "scroll") look();
  });
  listen(window, "resize", look);

  const measure = () => {
    if (result) return { ...result };
    update();
    return {
      time_to_decision_ms: time(),
      hover_events: known(hovers),
      scroll_depth: known(depth),
      alternative_views_checked: known(viewsSeen),
    };
  };

  look();
  return {
    measure,
    stop() {
      result ??= measure();
      end();
      guarded(clearInterval)(ticks);
      guarded(visit)(null);
      return { ...result };
    },
  };
}

(globalThis as { JissCollector?: JissCollectorApi }).JissCollector = { start };
