/** Everything that can be done with an operator's records, each after it was said what will happen. */
import { useState } from "preact/hooks";
import { localInWords } from "../shared/local_time.ts";
import { save } from "../shared/save.ts";
import { Confirmed } from "./confirmed.tsx";
import { Field } from "./field.tsx";
import { IssuePageLink } from "./page_link.tsx";
import { reviewerInWords, WhoIs } from "./reviewers.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { Erased } from "./types.ts";
import { useAction } from "./use_answer.ts";

interface About {
  /** The operator, as the API is asked. */
  readonly id: string;
}

export function Records({ id, onErased }: About & { readonly onErased: (erased: Erased) => void }) {
  const { signedIn } = useSession();
  const acts = ["act", "copy", "export", "administer"] as const;
  return (
    <section class="acts" aria-labelledby="records">
      <h2 id="records">Records of this operator</h2>
      {acts.some((access) => may(signedIn, access))
        ? <p>Each of these says first what will happen, and is done only when you confirm it.</p>
        : (
          <p>
            Your role may read. An officer, an auditor or an admin exports evidence and gives the operator a
            copy; an admin erases.
          </p>
        )}
      <div class="row">
        <WhoIs pseudonym={id} />
        <IssuePageLink id={id} />
        <Copy id={id} />
        <Export />
        <div class="apart">
          <Erase id={id} onErased={onErased} />
        </div>
      </div>
    </section>
  );
}

/** The operator's copy of everything, as data or as a page. */
function Copy({ id }: About) {
  const { signedIn } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<true>();
  if (!may(signedIn, "copy")) return null;
  if (signedIn.privacy === "pseudonymous") {
    return (
      <p class="small muted">
        A copy names its operator, so users get none here: give the operator the link to the own page, which
        has the copy.
      </p>
    );
  }
  const name = reviewerInWords(signedIn, id);
  const path = `/v1/operator/${encodeURIComponent(id)}/export`;
  const take = (format: "json" | "html") => async () =>
    await run(async (patience) => {
      const text = await caller.text({ path: `${path}?format=${format}` }, { patience });
      save(`${fileName(id)}.${format}`, format === "json" ? "application/json" : "text/html", text);
      return true;
    }) !== null;
  return (
    <Confirmed
      button="Copy for the operator"
      title={`A copy of everything about ${name}`}
      happens={[
        "Your browser saves a file with every record of the operator, what moved each score, how long it is kept, and how to contest it.",
        "The audit log records that a copy was made, when and by whom (SUBJECT_ACCESS), and the operator's own copy shows it.",
      ]}
      stays={[
        "No record changes, and the operator is not told: pass the file on yourself.",
        "The file is not protected, and an erasure does not reach it: whoever has it can read it.",
      ]}
      ways={[
        { label: busy ? "Saving…" : "Save as a page", act: take("html") },
        { label: "Save as data (JSON)", act: take("json") },
      ]}
      busy={busy}
      error={error}
    />
  );
}

/** The evidence chain of the organization, which is the only one that a stranger can verify. */
function Export() {
  const { signedIn } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<true>();
  if (!may(signedIn, "export")) return null;
  const isNamed = signedIn.privacy === "named";
  const take = async () =>
    await run(async (patience) => {
      const path = `/v1/audit/chain/export${isNamed ? "" : "?parts=structural"}`;
      save(`${signedIn.orgId}.ndjson`, "application/x-ndjson", await caller.text({ path }, { patience }));
      return true;
    }) !== null;
  return (
    <Confirmed
      button="Export the evidence"
      title="Export the evidence chain"
      happens={[
        "Your browser saves a bundle that “jiss verify”, or the view Verify, checks without this service.",
        isNamed
          ? "It has the records of all operators of the organization: a chain can be verified only as a whole."
          : "It has the entries of the whole organization without what they say of anybody, since operators are pseudonyms here: the chain verifies, scores cannot be computed anew.",
        "A long history makes a large file: let it finish.",
      ]}
      stays={[
        "No record changes, and no entry is written: the export is a reading.",
        "An erasure does not reach a file that was exported before it.",
      ]}
      ways={[{ label: busy ? "Exporting…" : "Export", act: take }]}
      busy={busy}
      error={error}
    />
  );
}

function Erase({ id, onErased }: About & { readonly onErased: (erased: Erased) => void }) {
  const { signedIn } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<Erased>();
  const [typed, setTyped] = useState("");
  if (!may(signedIn, "administer")) return null;
  const name = reviewerInWords(signedIn, id);
  const isSure = [name, id].includes(typed.trim()) || typed === id;
  const erase = async () => {
    const erased = await run((patience) =>
      caller.json<Erased>({ method: "DELETE", path: `/v1/operator/${encodeURIComponent(id)}` }, { patience })
    );
    if (erased === null) return false;
    onErased(erased);
    return true;
  };
  return (
    <Confirmed
      button="Erase this operator"
      title={`Erase ${name} for ever`}
      happens={[
        "The content of all records of the operator is destroyed: what was sent, what was computed, the score, the history, the exercises, the cases with their notes, what the operator contested, the team, and the tie between the name and the entries.",
        "This cannot be undone by anybody.",
        "The operator's links, to the own page and to exercises, end.",
        "The evidence chain records that somebody was erased (SUBJECT_ERASED), and the audit log who did it and when (OPERATOR_ERASED); neither names the operator.",
      ]}
      stays={[
        "The entries themselves stay on the chain, empty, so that the evidence of all others still verifies.",
        "Reports that were issued, usage figures, and used session and decision ids stay.",
        "Backups, and files that were exported or copied before, are not reached; nor is what your organization appended to the chain itself.",
        "The application that sends reviews is not told: if it sends the same operator_id again, that is a new operator.",
      ]}
      ways={[{ label: busy ? "Erasing…" : "Erase for ever", act: erase, isGrave: true }]}
      ready={isSure}
      busy={busy}
      error={error}
    >
      <Field
        id="erase-name"
        label={`To be sure, type “${name}”`}
        type="text"
        autocomplete="off"
        value={typed}
        onInput={setTyped}
      />
    </Confirmed>
  );
}

const PHYSICAL: Readonly<Record<Erased["physical"], string>> = {
  done: "The bytes are overwritten.",
  pending: "A reader still uses the bytes: they are overwritten within a minute after it has finished.",
  server: "The database server overwrites the bytes, and only its own log tells when.",
};

/** The notice after an erasure. */
export function ErasedNotice({ name, erased }: { readonly name: string; readonly erased: Erased }) {
  return (
    <div class="notice good" role="status">
      <p>
        The records of {name} were erased on {localInWords(erased.erased_at)}. {PHYSICAL[erased.physical]}
        {" "}
        The empty entries stay on the chain, which still verifies.
      </p>
      <p>
        <a class="button" href="/console">To the home view</a>
      </p>
    </div>
  );
}

/** An id as the name of a file: what file systems refuse becomes a dash. */
function fileName(id: string): string {
  return id.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
}
