/** The form by which a reviewer contests a record, and the contests so far. */
import { useState } from "preact/hooks";
import type { OwnContest, OwnPage } from "../../domain/own_page.ts";
import { localInWords } from "../shared/local_time.ts";
import { ApiError, call } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";

/** The id of the field in which a reviewer says what is wrong. */
export const STATEMENT = "statement";

export function Contest({ token, page, record, setRecord, onContested }: {
  readonly token: string;
  readonly page: OwnPage;
  /** The id of the record that is contested; empty: the record as a whole. */
  readonly record: string;
  readonly setRecord: (id: string) => void;
  readonly onContested: () => void;
}) {
  const [statement, setStatement] = useState("");
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState<{ readonly tone: "good" | "bad"; readonly sentence: string } | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setTold(null);
    try {
      const body = { record_id: record.trim() === "" ? null : record.trim(), statement };
      const { seq } = await call<OwnContest>({ method: "POST", path: `/me/${token}/contests`, body }, {
        onWait: announceWait,
      });
      setTold({ tone: "good", sentence: `It is recorded, as entry ${seq}. Nobody can remove it unnoticed.` });
      setStatement("");
      onContested();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isUnknown = error.more.details.some(({ path }) => path === "record_id");
      setTold({
        tone: "bad",
        sentence: isUnknown ? "There is no case or decision of yours with this id: check it." : error.message,
      });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <p>
        Say what is wrong and how you see it. Whoever follows up on reviews at {page.organization.name}{" "}
        sees it. A person must look at it; it changes no score by itself.
      </p>
      <div class="field">
        <label for="contested">Case or decision (leave it empty for your record as a whole)</label>
        <input
          id="contested"
          list="records"
          autocomplete="off"
          spellcheck={false}
          value={record}
          onInput={(event) => setRecord(event.currentTarget.value)}
        />
        <datalist id="records">{page.records.map(({ id }) => <option key={id} value={id} />)}</datalist>
      </div>
      <div class="field">
        <label for={STATEMENT}>What is wrong</label>
        <textarea
          id={STATEMENT}
          rows={4}
          required
          maxLength={4000}
          value={statement}
          onInput={(event) => setStatement(event.currentTarget.value)}
        />
      </div>
      <p>
        <button class="main" type="submit" disabled={busy}>{busy ? "Sending…" : "Contest"}</button>
      </p>
      {told !== null && (
        <p class={`notice ${told.tone}`} role={told.tone === "good" ? "status" : "alert"}>{told.sentence}</p>
      )}
    </form>
  );
}

export function Contests({ contests }: { readonly contests: OwnPage["contests"] }) {
  if (contests.length === 0) return null;
  return (
    <>
      <h3>What you have contested</h3>
      <ul>
        {contests.map(({ contest_id, contested_at, record_id, statement, seq }) => (
          <li key={contest_id}>
            {localInWords(contested_at)}, {record_id === null ? "your record" : <code>{record_id}</code>}:
            {" "}
            <bdi>{statement}</bdi> <span class="muted">(entry {seq})</span>
          </li>
        ))}
      </ul>
    </>
  );
}
