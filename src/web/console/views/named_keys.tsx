/** The organization's named keys: made, listed and removed. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Scope, SCOPES } from "../../../domain/access.ts";
import { Answered, Empty, Failure, Grave, Instant } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import { Field } from "../field.tsx";
import { type Column, Table } from "../table.tsx";
import type { NamedKeyCreated, NamedKeys as Listed } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

export function NamedKeys() {
  const asked = useAnswer<Listed>({ path: "/v1/keys" });
  return (
    <>
      <h2>Named keys</h2>
      <p>For applications that need not do everything: each can do only what its scopes say.</p>
      <Answered asked={asked}>
        {({ keys }) => (
          <>
            <List keys={keys} onChanged={asked.again} />
            <Make onDone={asked.again} />
          </>
        )}
      </Answered>
    </>
  );
}

type Key = Listed["keys"][number];

const COLUMNS: readonly Column<Key>[] = [{
  head: "Name",
  order: { name: "name", keyOf: (row) => row.name },
  cell: (row) => <bdi>{row.name}</bdi>,
}, {
  head: "Begins with",
  cell: (row) => <code>{row.prefix}</code>,
}, {
  head: "Scopes",
  cell: (row) => row.scopes.join(", "),
}, {
  head: "Ends",
  order: { name: "expires_at", keyOf: (row) => row.expires_at },
  cell: ({ expires_at: at }) => at === null ? <span class="muted">never</span> : <Instant at={at} />,
}, {
  head: "Last used",
  order: { name: "last_used_at", keyOf: (row) => row.last_used_at },
  cell: ({ last_used_at: at }) => at === null ? <span class="muted">not yet</span> : <Instant at={at} />,
}];

const CSV = {
  key_id: (row: Key) => row.key_id,
  name: (row: Key) => row.name,
  prefix: (row: Key) => row.prefix,
  scopes: (row: Key) => row.scopes.join(" "),
  created_at: (row: Key) => row.created_at,
  expires_at: (row: Key) => row.expires_at,
  last_used_at: (row: Key) => row.last_used_at,
};

function List({ keys, onChanged }: { readonly keys: readonly Key[]; readonly onChanged: () => void }) {
  const { query: { sort = "" } } = useLocation();
  if (keys.length === 0) {
    return (
      <Empty>
        <p>There is none. Make one below for each application that sends or reads.</p>
      </Empty>
    );
  }
  return (
    <Table
      label="Named keys"
      rows={keys}
      keyOf={(row) => row.key_id}
      columns={[...COLUMNS, { head: "Do", cell: (row) => <RemoveKey row={row} onChanged={onChanged} /> }]}
      csv={CSV}
      ordering={{ path: "/console/key", query: {}, sort, first: "", served: "", isWhole: true }}
    />
  );
}

function RemoveKey({ row, onChanged }: {
  readonly row: Key;
  readonly onChanged: () => void;
}) {
  const caller = useCaller();
  const { busy, error, run } = useAction<unknown>();
  const remove = async () => {
    const done = await run((patience) =>
      caller.json({ method: "DELETE", path: `/v1/keys/${row.key_id}` }, { patience })
    );
    if (done !== null) onChanged();
  };
  return (
    <>
      <div class="actions">
        <Grave verb="Remove" what={row.name} busy={busy} onSure={remove} />
      </div>
      {error !== null && <Failure error={error} />}
    </>
  );
}

/** The form explains each scope by what a key with it may do. */
const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  score:
    "It sends what operators decided, commits and labels it, and draws probes. A review application needs this alone.",
  read: "It reads figures, records, reports and proofs.",
  export: "It exports evidence, the audit log and operators' own copies.",
  probe: "It seals and recalls probes.",
};

function Make({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["score"]);
  const [end, setEnd] = useState("");
  const caller = useCaller();
  const { obtain } = useSession();
  const { busy, error, run } = useAction<true>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const done = await run(async (patience) => {
      await obtain(async () => {
        const made = await caller.json<NamedKeyCreated>(
          { method: "POST", path: "/v1/keys", body: { name, scopes, expires_at: end === "" ? null : end } },
          { patience },
        );
        return {
          title: `The key ${made.name}`,
          note: made.warning,
          label: "The key: this is the only time that it is shown.",
          value: made.api_key,
        };
      });
      return true;
    });
    if (done === null) return;
    setName("");
    setEnd("");
    onDone();
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="key-name"
        label="Name of a new key"
        type="text"
        autocomplete="off"
        value={name}
        onInput={setName}
      />
      <fieldset>
        <legend>Scopes</legend>
        {SCOPES.map((scope) => (
          <div class="explained" key={scope}>
            <input
              id={`scope-${scope}`}
              type="checkbox"
              aria-describedby={`scope-${scope}-does`}
              checked={scopes.includes(scope)}
              onChange={(event) =>
                setScopes(
                  event.currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope),
                )}
            />
            <label for={`scope-${scope}`}>{scope}</label>
            <p class="hint" id={`scope-${scope}-does`}>{SCOPE_WORDS[scope]}</p>
          </div>
        ))}
      </fieldset>
      <div class="field">
        <label for="key-end">Ends (optional; at the beginning of that day, UTC)</label>
        <input id="key-end" type="date" value={end} onInput={(event) => setEnd(event.currentTarget.value)} />
      </div>
      <p>
        <button class="main" type="submit" disabled={busy || scopes.length === 0}>
          {busy ? "Making…" : "Make the key"}
        </button>
      </p>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
