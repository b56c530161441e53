/** Checks whether the secrets key in use opens the signing secrets of webhooks. */
import { webhookWrappings } from "../../operations/webhooks/webhooks.ts";
import { type Examined, type Finding, ok, someOf } from "./check.ts";

export async function webhookSecrets({ config: { secretsKeys }, database }: Examined): Promise<Finding> {
  const wrappings = await webhookWrappings({ database, secretsKeys });
  const idsOf = (found: typeof wrappings) => someOf(found.map(({ row }) => row.webhook_id));
  const lost = wrappings.filter(({ opened }) => opened === null);
  if (lost.length > 0) {
    return {
      state: "wrong",
      what: `no configured secret opens the signing secrets of ${lost.length} of the webhooks: ${
        idsOf(lost)
      }`,
      mend:
        "put what wrapped them back as JISS_KEY_PEPPER_PREVIOUS and restart; else remove and register them anew",
    };
  }
  const old = wrappings.filter(({ opened }) => opened!.index > 0);
  if (old.length === 0) return ok("the signing secrets of webhooks are wrapped under the present secret");
  return {
    state: "note",
    what: `the signing secrets of ${old.length} of the webhooks open only with a previous secret: ${
      idsOf(old)
    }`,
    mend: "restart the service with both configured: its start wraps them anew",
  };
}
