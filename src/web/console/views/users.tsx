/** The organization's users: invited, given another role, disabled, enabled and erased. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Role, ROLES } from "../../../domain/access.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { localInWords } from "../../shared/local_time.ts";
import { OpenSessions } from "../open_sessions.tsx";
import { addressOf, Answered, Empty, Failure, Grave, Instant, Pages, View } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import { Field } from "../field.tsx";
import { type Column, Table } from "../table.tsx";
import type { UserInvited, UserLink, Users } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/users";
const PAGE = "100";

type User = Users["users"][number];

export function UsersView() {
  const { query: { sort = "", cursor = "" } } = useLocation();
  const asked = useAnswer<Users>({ path: addressOf("/v1/users", { limit: PAGE, cursor }) });
  return (
    <View title="Users">
      <Answered asked={asked}>
        {({ users, next_cursor: next }) => (
          <>
            <List
              users={users.filter(({ state }) => state !== "erased")}
              onChanged={asked.again}
              sort={sort}
              isWhole={cursor === "" && next === null}
            />
            {(cursor !== "" || next !== null) && (
              <Pages path={PATH} query={{ sort, ...(cursor === "" ? {} : { cursor }) }} next={next} />
            )}
            <h2>Invite</h2>
            <Invite onDone={asked.again} />
          </>
        )}
      </Answered>
    </View>
  );
}

/** The columns of what the service says; the acts stand between and behind them. */
const NAME: Column<User> = {
  head: "Name",
  order: { name: "name", keyOf: ({ name }) => name },
  cell: ({ name, email }) => (
    <>
      <bdi>{name}</bdi>
      <div class="small">{email}</div>
    </>
  ),
};
const STATE: Column<User> = {
  head: "State",
  order: { name: "state", keyOf: ({ state }) => state },
  cell: ({ state }) => nameInWords(state),
};
const CHANGED: Column<User> = {
  head: "Changed",
  order: { name: "changed_at", keyOf: ({ changed_at }) => changed_at },
  cell: ({ changed_at }) => <Instant at={changed_at} />,
};

const CSV = {
  user_id: (row: User) => row.user_id,
  name: (row: User) => row.name,
  email: (row: User) => row.email,
  role: (row: User) => row.role,
  state: (row: User) => row.state,
  created_at: (row: User) => row.created_at,
  changed_at: (row: User) => row.changed_at,
};

function List({ users, onChanged, sort, isWhole }: {
  readonly users: readonly User[];
  readonly onChanged: () => void;
  readonly sort: string;
  /** Whether there is no other page. */
  readonly isWhole: boolean;
}) {
  if (users.length === 0) {
    if (!isWhole) {
      return (
        <Empty>
          <p>All users of this page were erased.</p>
        </Empty>
      );
    }
    return (
      <Empty>
        <p>Nobody has an account: everybody shares the organization's key. Invite the first user below.</p>
      </Empty>
    );
  }
  return (
    <Table
      label="Users"
      rows={users}
      keyOf={(user) => user.user_id}
      columns={[
        NAME,
        {
          head: "Role",
          order: { name: "role", keyOf: ({ role }) => ROLES.indexOf(role) },
          cell: (user) => <RoleOf user={user} onChanged={onChanged} />,
        },
        STATE,
        CHANGED,
        { head: "Actions", cell: (user) => <Acts user={user} onChanged={onChanged} /> },
      ]}
      csv={CSV}
      ordering={{ path: PATH, query: {}, sort, first: "", served: "", isWhole }}
    />
  );
}

/** The link of an invitation, as it is shown once. */
function linkShown(name: string, { link, expires_at }: Pick<UserInvited, "link" | "expires_at">) {
  return {
    title: `A link for ${name}`,
    note: `Pass it on: nothing is sent. It works once, until ${localInWords(expires_at)}.`,
    label: "The link: this is the only time that it is shown.",
    value: link,
  };
}

interface UserProps {
  readonly user: User;
  readonly onChanged: () => void;
}

/** The calls about a user: each reads the list anew when it is done. */
function useActs({ user, onChanged }: UserProps) {
  const { user_id: id, name, role, state } = user;
  const caller = useCaller();
  const { signedIn } = useSession();
  const action = useAction<true>();
  const act = async (request: Parameters<typeof caller.json>[0]) => {
    const done = await action.run(async (patience) => {
      await caller.json(request, { patience });
      return true;
    });
    if (done !== null) onChanged();
  };
  return {
    ...action,
    act,
    put(change: { readonly role?: string; readonly disabled?: boolean }) {
      const body = { name: name ?? id, role, disabled: state === "disabled", ...change };
      return act({ method: "PUT", path: `/v1/users/${id}`, body });
    },
    isOwn: signedIn.user?.user_id === id,
  };
}

function RoleOf({ user, onChanged }: UserProps) {
  const { user_id: id, name, role } = user;
  const { busy, error, put, isOwn } = useActs({ user, onChanged });
  const [nextRole, setNextRole] = useState<string | null>(null);
  const giveRole = async () => {
    await put({ role: nextRole! });
    setNextRole(null);
  };
  return (
    <>
      <select
        aria-label={`Role of ${name}`}
        value={nextRole ?? role}
        disabled={busy || isOwn}
        aria-describedby={isOwn ? `role-hint-${id}` : undefined}
        onChange={({ currentTarget: { value } }) => setNextRole(value === role ? null : value)}
      >
        {ROLES.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
      {isOwn && <span class="second" id={`role-hint-${id}`}>Another admin must change your role.</span>}
      {nextRole !== null && (
        <div class="actions">
          <button class="grave" type="button" disabled={busy} onClick={giveRole}>
            Really change to {nextRole}
          </button>
          <button type="button" onClick={() => setNextRole(null)}>Keep</button>
        </div>
      )}
      {error !== null && <Failure error={error} />}
    </>
  );
}

function Acts({ user, onChanged }: UserProps) {
  const { user_id: id, name, state } = user;
  const caller = useCaller();
  const { obtain } = useSession();
  const { busy, error, run, act, put, isOwn } = useActs({ user, onChanged });
  const [isShowing, setShowing] = useState(false);
  const renew = () =>
    run(async (patience) => {
      await obtain(async () =>
        linkShown(
          name ?? id,
          await caller.json<UserLink>({ method: "POST", path: `/v1/users/${id}/link` }, { patience }),
        )
      );
      return true;
    });
  return (
    <>
      <div class="actions">
        {state !== "disabled" && (
          <button type="button" disabled={busy} onClick={renew} aria-label={`New link for ${name}`}>
            New link
          </button>
        )}
        {!isOwn && state === "active" && (
          <button
            type="button"
            aria-expanded={isShowing}
            onClick={() => setShowing(!isShowing)}
            aria-label={`Sessions of ${name}`}
          >
            Sessions
          </button>
        )}
        {!isOwn && state === "disabled" && (
          <button
            type="button"
            disabled={busy}
            onClick={() => put({ disabled: false })}
            aria-label={`Enable ${name}`}
          >
            Enable
          </button>
        )}
        {!isOwn && state !== "disabled" && (
          <Grave
            verb="Disable"
            what={name ?? id}
            busy={busy}
            warning="All sessions end at once, and an open link too."
            onSure={() => put({ disabled: true })}
          />
        )}
        {!isOwn && (
          <Grave
            verb="Erase"
            what={name ?? id}
            busy={busy}
            onSure={() => act({ method: "DELETE", path: `/v1/users/${id}` })}
          />
        )}
      </div>
      {error !== null && <Failure error={error} />}
      {isShowing && <OpenSessions path={`/v1/users/${id}/sessions`} isOwn={false} />}
    </>
  );
}

function Invite({ onDone }: { readonly onDone: () => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const caller = useCaller();
  const { obtain } = useSession();
  const { busy, error, run } = useAction<true>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const done = await run(async (patience) => {
      await obtain(async () =>
        linkShown(
          name,
          await caller.json<UserInvited>({ method: "POST", path: "/v1/users", body: { email, name, role } }, {
            patience,
          }),
        )
      );
      return true;
    });
    if (done === null) return;
    setEmail("");
    setName("");
    onDone();
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="invite-email"
        label="Email address"
        type="email"
        autocomplete="off"
        value={email}
        onInput={setEmail}
      />
      <Field id="invite-name" label="Name" type="text" autocomplete="off" value={name} onInput={setName} />
      <div class="field">
        <label for="invite-role">Role</label>
        <select
          id="invite-role"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        >
          {ROLES.map((one) => <option key={one} value={one}>{one}: {ROLE_WORDS[one]}</option>)}
        </select>
      </div>
      <p>
        <button class="main" type="submit" disabled={busy}>{busy ? "Inviting…" : "Invite"}</button>
      </p>
      {error !== null && <Failure error={error} />}
    </form>
  );
}

const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: "reads",
  officer: "reads, labels, sets exercises",
  auditor: "reads, exports, verifies",
  admin: "all of that, and users, keys and webhooks",
};
