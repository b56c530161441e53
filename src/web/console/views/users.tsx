/** The organization's users: invited, given another role, disabled, enabled and erased. */
import { useState } from "preact/hooks";
import { type Role, ROLES } from "../../../domain/access.ts";
import { instantInWords } from "../../../pages/wording.ts";
import { OpenSessions } from "../open_sessions.tsx";
import { Answered, Empty, Failure, Grave, Instant, Rows, View } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import { Field } from "../field.tsx";
import type { UserInvited, UserLink, Users } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

type User = Users["users"][number];

export function UsersView() {
  const asked = useAnswer<Users>({ path: "/v1/users" });
  return (
    <View title="Users">
      <Answered asked={asked}>
        {({ users }) => (
          <>
            <List users={users.filter(({ state }) => state !== "erased")} onChanged={asked.again} />
            <h2>Invite</h2>
            <Invite onDone={asked.again} />
          </>
        )}
      </Answered>
    </View>
  );
}

function List({ users, onChanged }: { readonly users: readonly User[]; readonly onChanged: () => void }) {
  if (users.length === 0) {
    return (
      <Empty>
        <p>Nobody has an account: everybody shares the organization's key. Invite the first user below.</p>
      </Empty>
    );
  }
  return (
    <Rows label="Users" columns={["Name", "Role", "State", "Changed", "Do"]}>
      {users.map((user) => <UserRow key={user.user_id} user={user} onChanged={onChanged} />)}
    </Rows>
  );
}

/** The link of an invitation, as it is shown once. */
function linkShown(name: string, { link, expires_at }: Pick<UserInvited, "link" | "expires_at">) {
  return {
    title: `A link for ${name}`,
    note: `Pass it on: nothing is sent. It works once, until ${instantInWords(expires_at)}.`,
    label: "The link: this is the only time that it is shown.",
    value: link,
  };
}

function UserRow({ user, onChanged }: { readonly user: User; readonly onChanged: () => void }) {
  const { user_id: id, name, email, role, state, changed_at } = user;
  const caller = useCaller();
  const { obtain, signedIn } = useSession();
  const { busy, error, run } = useAction<true>();
  const isOwn = signedIn.user?.user_id === id;
  const act = async (request: Parameters<typeof caller.json>[0]) => {
    const done = await run(async (patience) => {
      await caller.json(request, { patience });
      return true;
    });
    if (done !== null) onChanged();
  };
  const put = (change: { readonly role?: string; readonly disabled?: boolean }) => {
    const body = { name: name ?? id, role, disabled: state === "disabled", ...change };
    return act({ method: "PUT", path: `/v1/users/${id}`, body });
  };
  const [isShowing, setShowing] = useState(false);
  const [nextRole, setNextRole] = useState<string | null>(null);
  const giveRole = async () => {
    await put({ role: nextRole! });
    setNextRole(null);
  };
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
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        <div class="small">{email}</div>
      </th>
      <td>
        <select
          aria-label={`Role of ${name}`}
          value={nextRole ?? role}
          disabled={busy || isOwn}
          onChange={({ currentTarget: { value } }) => setNextRole(value === role ? null : value)}
        >
          {ROLES.map((one) => <option key={one} value={one}>{one}</option>)}
        </select>
        {nextRole !== null && (
          <div class="actions">
            <button class="grave" type="button" disabled={busy} onClick={giveRole}>
              Really change to {nextRole}
            </button>
            <button type="button" onClick={() => setNextRole(null)}>Keep</button>
          </div>
        )}
      </td>
      <td>{state}</td>
      <td>
        <Instant at={changed_at} />
      </td>
      <td>
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
      </td>
    </tr>
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
