/** The API reference: fetched from /openapi.json, filtered, and linkable to each of its parts. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, call } from "../shared/api.ts";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { Contents, Tools } from "./contents.tsx";
import { ReferenceContext } from "./context.ts";
import { type Group, groupsOf, matches, type OpenApi } from "./document.ts";
import { Events } from "./events.tsx";
import { Introduction } from "./introduction.tsx";
import { OperationView } from "./operation.tsx";

type Loaded = { readonly document: OpenApi } | { readonly problem: string } | null;

export function Page() {
  const [loaded, setLoaded] = useState<Loaded>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    call<OpenApi>({ path: "/openapi.json" }, { signal: controller.signal, onWait: announceWait }).then(
      (document) => setLoaded({ document }),
      (error) => {
        if (controller.signal.aborted) return;
        setLoaded({ problem: error instanceof ApiError ? error.message : "The document cannot be read." });
      },
    );
    return () => controller.abort();
  }, [attempt]);
  return (
    <main id="main" class="reference" tabIndex={-1}>
      <h1>API reference</h1>
      {loaded === null && (
        <>
          <Waiting />
          <p class="loading" role="status">Fetching the reference…</p>
        </>
      )}
      {loaded !== null && "problem" in loaded && (
        <div class="notice bad" role="alert">
          <h2>The reference is not here</h2>
          <p>{loaded.problem}</p>
          <p>
            <button
              type="button"
              onClick={() => {
                document.getElementById("main")!.focus();
                setLoaded(null);
                setAttempt((count) => count + 1);
              }}
            >
              Try again
            </button>
          </p>
        </div>
      )}
      {loaded !== null && "document" in loaded && <Reference document={loaded.document} />}
    </main>
  );
}

function Reference({ document: openApi }: { readonly document: OpenApi }) {
  const groups = useMemo(() => groupsOf(openApi), [openApi]);
  const [apiKey, setKey] = useState("");
  const [filter, setFilter] = useState("");
  const operations = useMemo(() => groups.flatMap((group) => group.operations), [groups]);
  const shown = useMemo(
    () => new Set(operations.filter((one) => matches(one, filter.trim())).map((one) => one.operationId)),
    [operations, filter],
  );
  useTarget(() => setFilter(""));
  const isFiltered = filter.trim() !== "";
  function showAll() {
    setFilter("");
    // The button disappears, so the filter takes the focus.
    document.getElementById("filter")?.focus();
  }
  const isShown = (operationId: string) => shown.has(operationId);
  const context = useMemo(() => ({ document: openApi, apiKey }), [openApi, apiKey]);
  return (
    <ReferenceContext.Provider value={context}>
      <div class="split">
        <div class="side">
          <Tools
            apiKey={apiKey}
            onKey={setKey}
            filter={filter}
            onFilter={setFilter}
            shown={shown.size}
            all={operations.length}
          />
          <Contents groups={groups} isShown={isShown} />
        </div>
        <div class="content">
          {!isFiltered && <Introduction />}
          {groups.slice(0, -1).map((group) => <GroupView key={group.id} group={group} isShown={isShown} />)}
          {shown.size === 0 && (
            <div class="empty">
              <p>No operation has all of these words.</p>
              <p>
                <button type="button" onClick={showAll}>Show all</button>
              </p>
            </div>
          )}
          {!isFiltered && <Events />}
          {groups.slice(-1).map((group) => <GroupView key={group.id} group={group} isShown={isShown} />)}
        </div>
      </div>
    </ReferenceContext.Provider>
  );
}

interface GroupViewProps {
  readonly group: Group;
  readonly isShown: (operationId: string) => boolean;
}

function GroupView({ group: { id, name, description, operations }, isShown }: GroupViewProps) {
  return (
    <section aria-labelledby={id} hidden={!operations.some(({ operationId }) => isShown(operationId))}>
      <h2 id={id} tabIndex={-1}>{name}</h2>
      <p>{description}</p>
      {operations.map((operation) => (
        <OperationView
          key={operation.operationId}
          operation={operation}
          hidden={!isShown(operation.operationId)}
        />
      ))}
    </section>
  );
}

/**
 * Goes to the target of the address or of a link on the page, once it is drawn: unfolds it, scrolls to it and
 * gives it the focus. `reveal` removes the filter that hides it.
 */
function useTarget(reveal: () => void): void {
  // A visitor who has moved on is not called back: a busy machine may report a link late, and draw late.
  const inputs = useRef(0);
  // A new object each time: a link may be followed twice.
  const [target, setTarget] = useState(() => ({ id: location.hash.slice(1), asked: 0 }));
  useEffect(() => {
    let clickedAt: number | null = null;
    const count = () => {
      inputs.current += 1;
    };
    const follow = () => {
      setTarget({ id: location.hash.slice(1), asked: clickedAt ?? inputs.current });
      clickedAt = null;
    };
    const click = ({ target }: MouseEvent) => {
      const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
      if (link === null) return;
      clickedAt = inputs.current;
      if (link.hash === location.hash) follow();
    };
    const left = new AbortController();
    const { signal } = left;
    addEventListener("hashchange", follow, { signal });
    addEventListener("click", click, { signal });
    addEventListener("keydown", count, { signal });
    addEventListener("pointerdown", count, { signal });
    return () => left.abort();
  }, []);
  useEffect(() => {
    const element = document.getElementById(target.id);
    if (target.id !== "" && (element === null || element.closest("[hidden]") !== null)) reveal();
    // It waits until the revealed target is drawn.
    const frame = requestAnimationFrame(() => {
      if (inputs.current === target.asked) goTo(target.id);
    });
    return () => cancelAnimationFrame(frame);
  }, [target]);
}

function goTo(id: string): void {
  const element = document.getElementById(id);
  if (element === null) return;
  if (element instanceof HTMLDetailsElement) element.open = true;
  element.scrollIntoView();
  (element.querySelector<HTMLElement>(":scope > summary") ?? element).focus({ preventScroll: true });
}
