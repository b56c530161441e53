/** Issues the link to an operator's own page, which is shown once. */
import { useState } from "preact/hooks";
import { localInWords } from "../shared/local_time.ts";
import { Confirmed } from "./confirmed.tsx";
import { Field } from "./field.tsx";
import { reviewerInWords } from "./reviewers.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { PageLink } from "./types.ts";
import { useAction } from "./use_answer.ts";

export function IssuePageLink({ id }: { readonly id: string }) {
  const [reason, setReason] = useState("");
  const caller = useCaller();
  const { obtain, signedIn } = useSession();
  const { busy, error, run } = useAction<true>();
  if (!may(signedIn, "act")) return null;
  const isNamed = signedIn.privacy === "named";
  const issue = async () =>
    await run(async (patience) => {
      await obtain(async () => {
        const { name, link, expires_at } = await caller.json<PageLink>({
          method: "POST",
          path: `/v1/operator/${encodeURIComponent(id)}/page-link`,
          body: isNamed ? {} : { reason },
        }, { patience });
        return {
          title: `A link for ${name}`,
          note: `Pass it on to ${name} alone: it shows everything that is kept. It works until ${
            localInWords(expires_at)
          }, or until there is a newer one.`,
          label: "The link: this is the only time that it is shown.",
          value: link,
        };
      });
      return true;
    }) !== null;
  return (
    <Confirmed
      button="Link to the operator's own page"
      title={`A link to the own page of ${reviewerInWords(signedIn, id)}`}
      happens={[
        "A link is made, shown once, that works for a week. Its page shows the operator the own record, gives the copy, and takes contests.",
        "Earlier links of the operator end.",
        "The audit log records that you issued it (SUBJECT_LINK_ISSUED).",
        ...(isNamed ? [] : ["You learn who the operator is: so it takes a reason."]),
      ]}
      stays={["Nothing is sent: pass it on yourself. No score changes."]}
      ways={[{ label: busy ? "Issuing…" : "Issue the link", act: issue }]}
      busy={busy}
      error={error}
    >
      {!isNamed && (
        <Field
          id="link-reason"
          label="Reason"
          type="text"
          autocomplete="off"
          value={reason}
          onInput={setReason}
        >
          <p class="small muted">The audit log keeps it. Name nobody.</p>
        </Field>
      )}
    </Confirmed>
  );
}
