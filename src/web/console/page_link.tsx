/** Issues the link to a reviewer's own page, which is shown once. */
import { useState } from "preact/hooks";
import { instantInWords } from "../../pages/wording.ts";
import { Field } from "./field.tsx";
import { Failure } from "./parts.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { PageLink } from "./types.ts";
import { useAction } from "./use_answer.ts";

export function IssuePageLink({ id }: { readonly id: string }) {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const caller = useCaller();
  const { obtain, signedIn } = useSession();
  const { busy, error, run } = useAction<true>();
  if (!may(signedIn, "act")) return null;
  const isNamed = signedIn.privacy === "named";
  const issue = async () => {
    const done = await run(async (patience) => {
      await obtain(async () => {
        const { name, link, expires_at } = await caller.json<PageLink>({
          method: "POST",
          path: `/v1/operator/${encodeURIComponent(id)}/page-link`,
          body: isNamed ? {} : { reason },
        }, { patience });
        return {
          title: `A link for ${name}`,
          note: `Pass it on to ${name} alone: it shows everything that is kept. It works until ${
            instantInWords(expires_at)
          }, or until there is a newer one.`,
          label: "The link: this is the only time that it is shown.",
          value: link,
        };
      });
      return true;
    });
    if (done !== null) setAsking(false);
  };
  const button = "Link to the reviewer's own page";
  return (
    <>
      {isAsking
        ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              issue();
            }}
          >
            <Field
              id="link-reason"
              label="Reason"
              type="text"
              autocomplete="off"
              value={reason}
              onInput={setReason}
            >
              <p class="small muted">
                The link tells you who the reviewer is. The audit log keeps the reason.
              </p>
            </Field>
            <div class="actions">
              <button class="main" type="submit" disabled={busy}>
                {busy ? "Issuing…" : "Issue the link"}
              </button>
              <button type="button" onClick={() => setAsking(false)}>Cancel</button>
            </div>
          </form>
        )
        : (
          <p>
            <button type="button" disabled={busy} onClick={() => isNamed ? issue() : setAsking(true)}>
              {busy ? "Issuing…" : button}
            </button>
          </p>
        )}
      {error !== null && <Failure error={error} />}
    </>
  );
}
