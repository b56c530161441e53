/** Passkeys in the console: signing in with one, making one by a link in place of a password, and a user's own. */
import { useState } from "preact/hooks";
import { KEY_NAME_MAX_LENGTH } from "../../domain/limits.ts";
import { ApiError, type ApiRequest, call } from "../shared/api.ts";
import { createPasskey, PasskeyError, passkeyObstacle, presentPasskey } from "../shared/passkeys.ts";
import { Answered, Empty, Failure, Grave, Instant } from "./parts.tsx";
import { type SignedIn, signedInAs, useCaller } from "./session.tsx";
import { Field } from "./field.tsx";
import { type Column, Table } from "./table.tsx";
import type { Me, NewPasskey, PasskeyAdded, PasskeyCreation, PasskeyRequest, Passkeys } from "./types.ts";
import { useAction, useAnswer } from "./use_answer.ts";

/** Like {@link useAction}, for what a device may decline: `declined` is what the person is told then. */
function usePasskey<Result>() {
  const action = useAction<Result | null>();
  const [declined, setDeclined] = useState<string | null>(null);
  const run = (act: (patience: AbortSignal) => Promise<Result>) =>
    action.run(async (patience) => {
      setDeclined(null);
      try {
        return await act(patience);
      } catch (error) {
        if (!(error instanceof PasskeyError)) throw error;
        setDeclined(error.message);
        return null;
      }
    });
  return { ...action, declined, run };
}

function Declined({ declined }: { readonly declined: string | null }) {
  return declined === null ? null : <p class="notice fair" role="alert">{declined}</p>;
}

/** Sends a request before anybody is signed in. */
function ask<Answer>(path: string, body: unknown, patience: AbortSignal): Promise<Answer> {
  const request: ApiRequest = { method: "POST", path, withSession: true };
  return call<Answer>(body === null ? request : { ...request, body }, { patience, mayWait: false });
}

/** Offers to sign in with a passkey, if this browser can use one on this page. */
export function WithPasskey({ onSignedIn }: { readonly onSignedIn: (signedIn: SignedIn) => void }) {
  const { busy, error, declined, run } = usePasskey<Me>();
  if (passkeyObstacle() !== null) return null;
  const signIn = async () => {
    const me = await run(async (patience) => {
      const { options } = await ask<PasskeyRequest>("/v1/sign-in/passkey/options", null, patience);
      const passkey = await presentPasskey(options, { signal: patience });
      return await ask<Me>("/v1/sign-in/passkey", { passkey }, patience);
    });
    if (me !== null) onSignedIn(signedInAs(me));
  };
  const isRefused = error instanceof ApiError && error.status === 401;
  return (
    <>
      <h2>With a passkey</h2>
      <p>
        <button type="button" disabled={busy} onClick={signIn}>
          {busy ? "Waiting for the device…" : "Use a passkey"}
        </button>
      </p>
      <Declined declined={declined} />
      {isRefused && (
        <p class="notice bad" role="alert">
          This passkey opens nothing here: it was removed, or the user may not sign in. Ask an admin of your
          organization for a link.
        </p>
      )}
      {error !== null && !isRefused && <Failure error={error} />}
    </>
  );
}

/** Offers to use a one-time link with a passkey in place of a password. */
export function PasskeyByLink({ token, onDone }: {
  readonly token: string;
  readonly onDone: (me: Me) => void;
}) {
  const { busy, error, declined, run } = usePasskey<Me>();
  if (passkeyObstacle() !== null) return null;
  const make = async (name: string) => {
    const me = await run(async (patience) => {
      const { options } = await ask<PasskeyCreation>("/v1/sign-in/link/passkey-options", { token }, patience);
      const registration = await createPasskey(options, { signal: patience });
      const passkey: NewPasskey = { name, registration };
      return await ask<Me>("/v1/sign-in/link/use", { token, passkey }, patience);
    });
    if (me !== null) onDone(me);
  };
  return (
    <>
      <h2>Or make a passkey</h2>
      <p>
        Your device signs you in, by its PIN, a fingerprint or your face, and there is no password to forget.
      </p>
      <NamePasskey busy={busy} label="Make a passkey and sign in" onNamed={make} />
      <Declined declined={declined} />
      {error !== null && <Failure error={error} />}
    </>
  );
}

/** The form that asks what the user calls the device. */
function NamePasskey({ busy, label, onNamed }: {
  readonly busy: boolean;
  readonly label: string;
  readonly onNamed: (name: string) => Promise<void>;
}) {
  const [name, setName] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    return onNamed(name.trim());
  };
  const isLong = name.trim().length > KEY_NAME_MAX_LENGTH;
  return (
    <form onSubmit={submit}>
      <Field
        id="passkey-name"
        label="Name of this device, such as work laptop"
        type="text"
        autocomplete="off"
        value={name}
        onInput={setName}
        wrong={isLong ? `At most ${KEY_NAME_MAX_LENGTH} characters.` : null}
      />
      <p>
        <button type="submit" disabled={busy || isLong || name.trim() === ""}>
          {busy ? "Waiting for the device…" : label}
        </button>
      </p>
    </form>
  );
}

/**
 * The user's passkeys: each can be removed, and this device can get one.
 * @param hasPassword whether the user can sign in without one, too.
 */
export function OwnPasskeys({ hasPassword }: { readonly hasPassword: boolean }) {
  const asked = useAnswer<Passkeys>({ path: "/v1/me/passkeys" });
  const caller = useCaller();
  const making = usePasskey<PasskeyAdded>();
  const obstacle = passkeyObstacle();
  const make = async (name: string) => {
    const added = await making.run(async (patience) => {
      const { options } = await caller.json<PasskeyCreation>(
        { method: "POST", path: "/v1/me/passkeys/options" },
        { patience },
      );
      const registration = await createPasskey(options, { signal: patience });
      const body: NewPasskey = { name, registration };
      return await caller.json<PasskeyAdded>({ method: "POST", path: "/v1/me/passkeys", body }, { patience });
    });
    if (added !== null) asked.again();
  };
  return (
    <>
      <Answered asked={asked}>
        {({ passkeys }) =>
          passkeys.length === 0
            ? (
              <Empty>
                <p>
                  {obstacle === null
                    ? "There is none. Add one to sign in without a password."
                    : "There is none."}
                </p>
              </Empty>
            )
            : (
              <Table
                label="Passkeys"
                rows={passkeys}
                keyOf={(row) => row.passkey_id}
                columns={[...COLUMNS, {
                  head: "Actions",
                  cell: (row) => (
                    <RemovePasskey
                      row={row}
                      isLast={passkeys.length === 1 && !hasPassword}
                      onChanged={asked.again}
                    />
                  ),
                }]}
                csv={CSV}
              />
            )}
      </Answered>
      {obstacle !== null
        ? <p class="notice fair">No passkey can be added on this page. {obstacle.message}</p>
        : (
          <NamePasskey
            key={making.result?.passkey_id}
            busy={making.busy}
            label="Add a passkey"
            onNamed={make}
          />
        )}
      <Declined declined={making.declined} />
      {making.error !== null && <Failure error={making.error} />}
    </>
  );
}

type Passkey = Passkeys["passkeys"][number];

const COLUMNS: readonly Column<Passkey>[] = [{
  head: "Device",
  cell: (row) => <bdi>{row.name}</bdi>,
}, {
  head: "Made",
  cell: (row) => <Instant at={row.created_at} />,
}, {
  head: "Last used",
  cell: ({ used_at: at }) => at === null ? <span class="muted">not yet</span> : <Instant at={at} />,
}];

const CSV = {
  passkey_id: (row: Passkey) => row.passkey_id,
  name: (row: Passkey) => row.name,
  created_at: (row: Passkey) => row.created_at,
  used_at: (row: Passkey) => row.used_at,
};

function RemovePasskey({ row: { passkey_id, name }, isLast, onChanged }: {
  readonly row: Passkey;
  /** Whether the user has no password and no other passkey. */
  readonly isLast: boolean;
  readonly onChanged: () => void;
}) {
  const caller = useCaller();
  const { busy, error, run } = useAction<unknown>();
  const remove = async () => {
    const path = `/v1/me/passkeys/${encodeURIComponent(passkey_id)}`;
    const done = await run((patience) => caller.json({ method: "DELETE", path }, { patience }));
    if (done !== null) onChanged();
  };
  return (
    <>
      <div class="actions">
        <Grave
          verb="Remove"
          what={name}
          busy={busy}
          warning={isLast
            ? "You have no password: afterwards you need your organization's account, or a link of an admin."
            : null}
          onSure={remove}
        />
      </div>
      {error !== null && <Failure error={error} />}
    </>
  );
}
