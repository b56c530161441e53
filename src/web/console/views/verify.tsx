/** Verifies exported bundles in the browser, by the code with which an auditor verifies them. */
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, callText } from "../../shared/api.ts";
import { announceWait } from "../../shared/waiting.tsx";
import type {
  Progressed,
  Question,
  Told,
  Unusable,
  Verified,
  VerifiedBundle,
} from "../../verify/messages.ts";
import { addressOf, Failure, View } from "../parts.tsx";
import { save } from "../../shared/save.ts";
import { may, SessionContext, useCaller, useSession } from "../session.tsx";
import { useAction } from "../use_answer.ts";

const VERIFIER = document.querySelector<HTMLElement>("#app")!.dataset.verifier!;

/** The choices of keys whose signatures count. */
const TRUSTS = [
  [
    "service",
    "The keys that this service publishes",
    "Tells whether the file is the service's own, unchanged.",
  ],
  ["own", "Keys that I got another way", "What an auditor uses: PEM, JWKS or verifier key, one a line."],
  ["none", "No key", "The file is checked with the key inside it, which proves nothing alone."],
] as const;
type Trust = (typeof TRUSTS)[number][0];

/** The files to be verified, and the keys and checkpoints to verify them with. */
interface Given {
  readonly files: readonly File[];
  readonly trust: Trust;
  readonly keys: string;
  readonly kept: string;
}

/** The outcome that is shown. It belongs to its own input, not to anything chosen since. */
type Outcome =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly given: Given; readonly progress: Progressed | null }
  | { readonly kind: "done"; readonly given: Given; readonly told: Verified }
  | { readonly kind: "refused"; readonly unusable: Unusable }
  /** The service's keys cannot be fetched. */
  | { readonly kind: "failed"; readonly error: ApiError };

/** Verifies files. A new run aborts the earlier one, whose outcome is dropped. */
function useVerifying() {
  const [outcome, setOutcome] = useState<Outcome>({ kind: "idle" });
  const latest = useRef(new AbortController());
  useEffect(() => () => latest.current.abort(), []);

  const start = async (given: Given) => {
    latest.current.abort();
    latest.current = new AbortController();
    const { signal } = latest.current;
    setOutcome({ kind: "running", given, progress: null });
    try {
      const trusted = await trustedKeys(given, signal);
      if (signal.aborted) return;
      const question = { files: given.files, keys: trusted, kept: given.kept };
      startVerifier(question, { signal, tell: (told) => setOutcome(outcomeOf(given, told)) });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      setOutcome({ kind: "failed", error });
    }
  };
  return { outcome, start };
}

export function VerifyView({ reason = null }: {
  /** Why a session is over, if the user did not end it. */
  readonly reason?: string | null;
}) {
  const [trust, setTrust] = useState<Trust>("service");
  const [keys, setKeys] = useState("");
  const [kept, setKept] = useState("");
  const { outcome, start } = useVerifying();
  const session = useContext(SessionContext);

  // A cancelled dialog gives no file: the present outcome stays.
  const choose = (files: readonly File[]) =>
    files.length === 0 ? undefined : start({ files, trust, keys, kept });
  const again = ({ files }: Given) => start({ files, trust, keys, kept });

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
          <div class="explained" key={value}>
            <input
              id={`trust-${value}`}
              type="radio"
              name="trust"
              aria-describedby={`trust-${value}-hint`}
              checked={trust === value}
              onChange={() => setTrust(value)}
            />
            <label for={`trust-${value}`}>{label}</label>
            <p class="hint" id={`trust-${value}-hint`}>{hint}</p>
          </div>
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
        <summary>Compare it with a checkpoint from an earlier visit</summary>
        <div class="field">
          <label for="kept">Checkpoints, or a saved answer that holds one</label>
          <textarea id="kept" rows={5} value={kept} onInput={(event) => setKept(event.currentTarget.value)} />
        </div>
      </details>
      {reason !== null && (
        <p class="notice fair" role="alert">
          {reason} <a href="/console">Sign in</a>
        </p>
      )}
      <Drop onFiles={choose} />
      {session !== null && may(session.signedIn, "export") && <Take />}
      <div aria-live="polite">
        <Shown outcome={outcome} onAgain={again} />
      </div>
    </View>
  );
}

/** Fetches and saves the organization's own bundle, for whoever may export it. */
function Take() {
  const { signedIn: { orgId, privacy } } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<true>();
  // If operators are pseudonyms, a bundle has no records: they name operators.
  const parts = privacy === "named" ? "" : "structural";
  const take = () =>
    run(async (patience) => {
      const path = addressOf("/v1/audit/chain/export", { parts });
      const bundle = await caller.text({ path }, { patience });
      save(`${orgId}.ndjson`, "application/x-ndjson", bundle);
      return true;
    });
  return (
    <>
      <p>
        <button type="button" disabled={busy} onClick={take}>
          {busy ? "Exporting…" : "Save this organization's bundle"}
        </button>
      </p>
      <p class="small muted">
        A long history is better exported by its administrator: <code>jiss export</code>.
      </p>
      {error !== null && <Failure error={error} />}
    </>
  );
}

/** Trusted keys in a form in which they are handed on; empty if there are none. @throws {ApiError} */
async function trustedKeys({ trust, keys }: Given, signal: AbortSignal): Promise<string> {
  if (trust !== "service") return trust === "own" ? keys : "";
  return await callText({ path: "/.well-known/jwks.json" }, { onWait: announceWait, signal });
}

/** Starts a verifier; the signal ends it. */
function startVerifier(
  question: Question,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (told: Told) => void },
): void {
  const verifier = new Worker(VERIFIER, { type: "module" });
  signal.addEventListener("abort", () => verifier.terminate());
  verifier.onmessage = ({ data }: MessageEvent<Told>) => {
    tell(data);
    if (data.kind !== "progress") verifier.terminate();
  };
  verifier.onerror = () =>
    tell({
      kind: "unusable",
      field: "files",
      message: "The verifier stopped; this browser may be too old for it. `jiss verify` reads the same file.",
    });
  verifier.postMessage(question);
}

function outcomeOf(given: Given, told: Told): Outcome {
  switch (told.kind) {
    case "progress":
      return { kind: "running", given, progress: told };
    case "verified":
      return { kind: "done", given, told };
    case "unusable":
      return { kind: "refused", unusable: told };
  }
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
      <label for="bundle">Drop bundles here, or choose them</label>
      <p class="hint" id="bundle-hint">Of several, the first is that of the system chain.</p>
      <input
        id="bundle"
        aria-describedby="bundle-hint"
        type="file"
        multiple
        onChange={(event) => onFiles([...event.currentTarget.files ?? []])}
      />
    </div>
  );
}

function Shown({ outcome, onAgain }: {
  readonly outcome: Outcome;
  readonly onAgain: (given: Given) => void;
}) {
  switch (outcome.kind) {
    case "idle":
      return null;
    case "running": {
      const { progress } = outcome;
      return (
        <>
          <p>Verifying {namesOf(outcome.given)}{progress === null ? "" : `: ${progress.entries} entries`}…</p>
          <progress
            aria-label="Share of the files that was read"
            max={progress?.total ?? 1}
            value={progress?.bytes ?? 0}
          />
        </>
      );
    }
    case "failed":
      return <Failure error={outcome.error} />;
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
          {outcome.told.bundles.map((bundle, index) => <Verdict key={index} {...bundle} />)}
          {outcome.told.others !== null && <p>{outcome.told.others}</p>}
          <p class="small muted">
            Of {namesOf(outcome.given)}, held against {AGAINST[outcome.given.trust]}
            {outcome.given.kept.trim() === "" ? "" : " and the checkpoint that you gave"}.
          </p>
          <p>
            <button type="button" onClick={() => onAgain(outcome.given)}>Verify again</button>
          </p>
        </>
      );
  }
}

const AGAINST: Readonly<Record<Trust, string>> = {
  service: "the keys that this service publishes",
  own: "the keys that you gave",
  none: "no key but the file's own",
};

function namesOf({ files }: Given): string {
  return files.map(({ name }) => name).join(", ");
}

const REFUSED: Readonly<Record<Unusable["field"], string>> = {
  keys: "The keys cannot be used",
  kept: "The checkpoint cannot be used",
  files: "The file cannot be verified",
};

function Verdict(bundle: VerifiedBundle) {
  const { verdict, words, sentence, origin, findings, checkpoint, keyFingerprint } = bundle;
  const isUnsure = verdict === "NOT VERIFIABLE" || verdict === "INTACT, NOT COMPARED";
  const look = isUnsure ? "fair" : verdict.startsWith("INTACT") ? "good" : "bad";
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
              {finding.others !== null && <span class="small">, {finding.others}</span>}
            </li>
          ))}
        </ul>
      )}
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
