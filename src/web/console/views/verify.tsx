/** Verify: exported bundles checked here, in the browser, by the code with which an auditor checks them. */
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../shared/api.ts";
import { announceWait } from "../../shared/waiting.tsx";
import type { Progressed, Question, Told, Unusable, VerifiedBundle } from "../../verify/messages.ts";
import { Failure, save, View } from "../parts.tsx";
import { SessionContext, useCaller, useSession } from "../session.tsx";
import { useAction } from "../use_answer.ts";

const VERIFIER = document.querySelector<HTMLElement>("#app")!.dataset.verifier!;

/** Whose signature counts. */
const TRUSTS = [
  [
    "service",
    "The keys that this service publishes",
    "Tells whether the file is the service's own, unchanged.",
  ],
  ["own", "Keys that I got another way", "What an auditor uses: PEM, JWKS or verifier key, one a line."],
  ["none", "No key", "The file is held against the key that it carries itself, which proves nothing alone."],
] as const;
type Trust = (typeof TRUSTS)[number][0];

type Outcome =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly progress: Progressed | null }
  | { readonly kind: "done"; readonly bundles: readonly VerifiedBundle[] }
  | { readonly kind: "refused"; readonly unusable: Unusable };

export function VerifyView() {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [trust, setTrust] = useState<Trust>("service");
  const [keys, setKeys] = useState("");
  const [kept, setKept] = useState("");
  const [outcome, setOutcome] = useState<Outcome>({ kind: "idle" });
  const published = useAction<string>();
  const worker = useRef<Worker | null>(null);
  useEffect(() => () => worker.current?.terminate(), []);

  const start = async (given: readonly File[]) => {
    setFiles(given);
    if (given.length === 0) return;
    const trusted = trust === "service" ? await published.run(publishedKeys) : trust === "own" ? keys : "";
    if (trusted === null) return;
    worker.current?.terminate();
    worker.current = startVerifier({ files: given, keys: trusted, kept }, setOutcome);
    setOutcome({ kind: "running", progress: null });
  };

  return (
    <View title="Verify">
      <p>
        Drop an exported bundle here. It is read by this page alone and goes nowhere: every link, commitment
        and signature is checked, and every score computed anew, by the code that <code>jiss verify</code>
        {" "}
        runs.
      </p>
      <fieldset>
        <legend>Whose signature counts</legend>
        {TRUSTS.map(([value, label, hint]) => (
          <label key={value}>
            <input type="radio" name="trust" checked={trust === value} onChange={() => setTrust(value)} />
            {label} <span class="small muted">{hint}</span>
          </label>
        ))}
        {trust === "own" && (
          <div class="field">
            <label for="keys">Public keys</label>
            <textarea
              id="keys"
              rows={4}
              value={keys}
              onInput={(event) => setKeys(event.currentTarget.value)}
            />
          </div>
        )}
      </fieldset>
      <details>
        <summary>Hold it against a checkpoint from an earlier visit</summary>
        <div class="field">
          <label for="kept">Checkpoints, or a saved answer that holds one</label>
          <textarea id="kept" rows={5} value={kept} onInput={(event) => setKept(event.currentTarget.value)} />
        </div>
      </details>
      <Drop onFiles={start} />
      {useContext(SessionContext) !== null && <Take />}
      {published.error !== null && <Failure error={published.error} />}
      <div aria-live="polite">
        <Shown outcome={outcome} files={files} onAgain={() => start(files)} />
      </div>
    </View>
  );
}

/** The organization's own bundle, for who is signed in. */
function Take() {
  const { signedIn: { orgId } } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<true>();
  const take = () =>
    run(async () => {
      const bundle = await caller.text({ path: "/v1/audit/chain/export" });
      save(`${orgId}.ndjson`, "application/x-ndjson", bundle);
      return true;
    });
  return (
    <>
      <p>
        <button type="button" disabled={busy} onClick={take}>
          {busy ? "Exporting…" : "Save this organization's bundle"}
        </button>{" "}
        <span class="small muted">
          A long history is better exported by its administrator: <code>jiss export</code>.
        </span>
      </p>
      {error !== null && <Failure error={error} />}
    </>
  );
}

async function publishedKeys(): Promise<string> {
  const keys = await call({ path: "/.well-known/jwks.json" }, { onWait: announceWait });
  return JSON.stringify(keys);
}

function startVerifier(question: Question, show: (outcome: Outcome) => void): Worker {
  const verifier = new Worker(VERIFIER, { type: "module" });
  verifier.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.kind === "progress") return show({ kind: "running", progress: data });
    show(
      data.kind === "verified"
        ? { kind: "done", bundles: data.bundles }
        : { kind: "refused", unusable: data },
    );
    verifier.terminate();
  };
  verifier.onerror = () =>
    show({
      kind: "refused",
      unusable: {
        kind: "unusable",
        field: "files",
        message:
          "The verifier stopped; this browser may be too old for it. `jiss verify` reads the same file.",
      },
    });
  verifier.postMessage(question);
  return verifier;
}

function Drop({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer?.files ?? []]);
  };
  return (
    <div
      class={`drop${isOver ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={take}
    >
      <label for="bundle">Drop bundles here, or choose them; the system chain's first</label>
      <input
        id="bundle"
        type="file"
        multiple
        onChange={(event) => onFiles([...event.currentTarget.files ?? []])}
      />
    </div>
  );
}

function Shown({ outcome, files, onAgain }: {
  readonly outcome: Outcome;
  readonly files: readonly File[];
  readonly onAgain: () => void;
}) {
  switch (outcome.kind) {
    case "idle":
      return null;
    case "running": {
      const { progress } = outcome;
      return (
        <>
          <p>Verifying{progress === null ? "" : `: ${progress.entries} entries`}…</p>
          <progress
            aria-label="Share of the files that was read"
            max={progress?.total ?? 1}
            value={progress?.bytes ?? 0}
          />
        </>
      );
    }
    case "refused":
      return (
        <div class="notice bad">
          <h2>{REFUSED[outcome.unusable.field]}</h2>
          <p>{outcome.unusable.message}</p>
        </div>
      );
    case "done":
      return (
        <>
          {outcome.bundles.map((bundle, index) => <Verdict key={index} {...bundle} />)}
          <p class="small muted">{files.map(({ name }) => name).join(", ")}</p>
          <p>
            <button type="button" onClick={onAgain}>Verify again</button>
          </p>
        </>
      );
  }
}

const REFUSED: Readonly<Record<Unusable["field"], string>> = {
  keys: "The keys cannot be used",
  kept: "The checkpoint cannot be used",
  files: "The file cannot be verified",
};

function Verdict(bundle: VerifiedBundle) {
  const { verdict, words, sentence, origin, findings, dropped, checkpoint, keyFingerprint } = bundle;
  const look = verdict.startsWith("INTACT") ? "good" : verdict === "NOT VERIFIABLE" ? "fair" : "bad";
  return (
    <section class={`notice ${look}`} data-verdict={verdict}>
      <h2>{words}</h2>
      <p>{sentence}</p>
      <p class="small">
        {origin !== "" && (
          <>
            <code>{origin}</code>,{" "}
          </>
        )}
        {bundle.entries} entries, {bundle.replayed} computed anew
        {bundle.erased > 0 && `, ${bundle.erased} contents erased by rule`}
        {bundle.withheld > 0 && `, ${bundle.withheld} contents withheld`}
        {keyFingerprint !== null && (
          <>
            ; key <code>{keyFingerprint}</code>
          </>
        )}
      </p>
      {findings.length > 0 && (
        <ul>
          {findings.map((finding, index) => (
            <li key={index}>
              {finding.sentence} <span class="small muted">{placeOf(finding)}</span>
            </li>
          ))}
        </ul>
      )}
      {dropped > 0 && <p>And {dropped} more.</p>}
      {checkpoint !== null && (
        <details>
          <summary>Its checkpoint, to be kept for the next visit</summary>
          <pre tabIndex={0}>{checkpoint}</pre>
          <button type="button" onClick={() => save("checkpoint.txt", "text/plain", checkpoint)}>
            Save it
          </button>
        </details>
      )}
    </section>
  );
}

function placeOf({ code, file, line, detail }: VerifiedBundle["findings"][number]): string {
  return [code, file, line === null ? null : `line ${line}`, detail].filter((part) => part !== null).join(
    ", ",
  );
}
