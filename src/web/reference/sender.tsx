/**
 * Sends a request made from an example. A call that writes has a warning; a grave one asks for confirmation.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ApiRequest, send } from "../shared/api.ts";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { Answer, type Answered } from "./answer.tsx";
import { useReference } from "./context.ts";
import { CopyButton } from "../shared/copy_button.tsx";
import { authenticationOf, type Operation } from "./document.ts";
import {
  curlOf,
  type Draft,
  draftOf,
  effectOf,
  exampleNames,
  isHeaderText,
  NO_EXAMPLE,
  problemsOf,
  requestOf,
} from "./draft.ts";
import { ExampleField, RequestFields } from "./request_fields.tsx";
import { randomHex } from "../shared/random_hex.ts";

type Phase =
  | { readonly kind: "writing" | "asking" | "sending" }
  | { readonly kind: "answered"; readonly answer: Answered }
  | { readonly kind: "failed"; readonly message: string };

const WRITING: Phase = { kind: "writing" };

/** A new name for a call. */
function freshName(): string {
  return randomHex(16);
}

/** Sends a call and follows it until it is answered. `button` takes the focus while it is sent. */
function useSending(operation: Operation, button: RefObject<HTMLButtonElement | null>) {
  const { apiKey } = useReference();
  const [phase, setPhase] = useState<Phase>(WRITING);
  const abort = useRef<AbortController | null>(null);
  const stop = () => abort.current?.abort();
  useEffect(() => stop, []);

  /** Goes back to the form. The button takes the focus, because the element that had it disappears. */
  function leave() {
    setPhase(WRITING);
    button.current?.focus();
  }

  async function go(draft: Draft) {
    if (!isHeaderText(apiKey)) {
      return setPhase({
        kind: "failed",
        message: "The key holds characters that no key has: enter it again.",
      });
    }
    const controller = new AbortController();
    abort.current = controller;
    setPhase({ kind: "sending" });
    button.current?.focus();
    const needsKey = authenticationOf(operation).kind !== "none";
    const request = { ...requestOf(operation, draft), ...(needsKey && apiKey !== "" ? { key: apiKey } : {}) };
    try {
      const answer = await timed(request, controller.signal);
      setPhase({ kind: "answered", answer: { ...answer, method: operation.method, path: request.path } });
    } catch (error) {
      if (controller.signal.aborted) return leave();
      if (!(error instanceof ApiError)) throw error;
      setPhase({ kind: "failed", message: error.message });
    }
  }

  return {
    phase,
    ask: () => setPhase({ kind: "asking" }),
    /** Cancels a confirmation: only what was confirmed is sent. */
    cancelAsking: () => setPhase((before) => before.kind === "asking" ? WRITING : before),
    go,
    leave,
    stop,
  };
}

/** The answer, with the milliseconds that it took without any wait before it. */
async function timed(request: ApiRequest, signal: AbortSignal) {
  let began = performance.now();
  const answer = await send(request, {
    signal,
    onWait(until) {
      announceWait(until);
      if (until === null) began = performance.now();
    },
  });
  return { ...answer, milliseconds: performance.now() - began };
}

export function Sender({ operation }: { readonly operation: Operation }) {
  const [names] = useState(() => exampleNames(operation));
  const [example, setExample] = useState(names[0] ?? NO_EXAMPLE);
  const [draft, setDraft] = useState(() => draftOf(operation, example, freshName()));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const button = useRef<HTMLButtonElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [refused, setRefused] = useState(false);
  const { phase, ask, cancelAsking, go, leave, stop } = useSending(operation, button);
  // The first wrong field takes the focus; its description is the problem.
  useLayoutEffect(() => {
    if (!refused) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    setRefused(false);
  }, [refused]);

  function change(next: Draft) {
    setDraft(next);
    setProblems({});
    cancelAsking();
  }

  function submit() {
    const found = problemsOf(operation, draft);
    setProblems(found);
    const wrong = Object.keys(found).length > 0;
    setRefused(wrong);
    if (wrong) return;
    if (effectOf(operation) === "grave") ask();
    else void go(draft);
  }

  const curl = curlOf(operation, draft, location.origin);
  return (
    <form
      ref={form}
      class="sender"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (phase.kind !== "sending") submit();
      }}
    >
      <ExampleField
        names={names}
        example={example}
        onChange={(name) => {
          setExample(name);
          change(draftOf(operation, name, freshName()));
        }}
      />
      <RequestFields operation={operation} draft={draft} problems={problems} onChange={change} />
      <pre tabIndex={0} aria-label="The same as a command"><code>{curl}</code></pre>
      <CopyButton of="the command" text={() => curl} />
      <Warning operation={operation} />
      <KeyHint operation={operation} />
      <div class="actions">
        <button ref={button} type="submit" class="main">Send</button>
        {phase.kind === "sending" && <button type="button" onClick={stop}>Stop</button>}
        <span role="status" class="muted">{said(phase)}</span>
      </div>
      {phase.kind === "sending" && <Waiting />}
      {phase.kind === "asking" && (
        <Confirmation
          call={`${operation.method} ${requestOf(operation, draft).path}`}
          onConfirm={() => go(draft)}
          onCancel={leave}
        />
      )}
      {phase.kind === "failed" && <p class="notice bad" role="alert">{phase.message}</p>}
      {phase.kind === "answered" && <Answer answer={phase.answer} />}
    </form>
  );
}

/** The state in words, for visitors who do not see the answer appear. */
function said(phase: Phase): string {
  if (phase.kind === "sending") return "Sending…";
  return phase.kind === "answered" ? `Answered: ${phase.answer.status}` : "";
}

function Warning({ operation }: { readonly operation: Operation }) {
  const effect = effectOf(operation);
  if (effect === "reads") return null;
  return effect === "writes"
    ? (
      <p class="notice fair">
        <strong>This really writes.</strong> It goes to this very service, and what it records there stays.
      </p>
    )
    : (
      <p class="notice bad">
        <strong>This really does it,</strong>{" "}
        on this very service, and others feel it at once. You are asked once more before it is sent.
      </p>
    );
}

function KeyHint({ operation }: { readonly operation: Operation }) {
  const { apiKey } = useReference();
  const authentication = authenticationOf(operation);
  if (authentication.kind === "none" || apiKey !== "") return null;
  return (
    <p class="note">
      No key is entered, so the answer will be 401. <a href="#api-key">Enter one</a>
      {authentication.kind === "master" ? ": the master key of this operation." : ": your organization's."}
    </p>
  );
}

interface ConfirmationProps {
  readonly call: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

function Confirmation({ call, onConfirm, onCancel }: ConfirmationProps) {
  const box = useRef<HTMLDivElement>(null);
  // It runs before the next key press: an effect after painting would take the focus from where Tab has moved
  // it.
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <div ref={box} class="notice bad" role="group" aria-label={`Confirm ${call}`} tabIndex={-1}>
      <p>
        Really send <code>{call}</code>? It may not be possible to take it back.
      </p>
      <div class="actions">
        <button type="button" class="grave" onClick={onConfirm}>Yes, send it</button>
        <button type="button" onClick={onCancel}>No, leave it</button>
      </div>
    </div>
  );
}
