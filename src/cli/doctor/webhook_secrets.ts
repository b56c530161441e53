/** Checks whether the secrets key in use opens the signing secrets of webhooks. */
import { webhookWrappings } from "../../operations/webhooks/webhooks.ts";
import { type CheckInput, type Finding, listNames, ok } from "./check.ts";

export async function webhookSecrets({ config: { secretsKeys }, database }: CheckInput): Promise<Finding> {
  const wrappings = await webhookWrappings({ database, secretsKeys });
  const idsOf = (found: typeof wrappings) => listNames(found.map(({ row }) => row.webhook_id));
  const lost = wrappings.filter(({ opened }) => opened === null);
  if (lost.length > 0) {
    return {
      state: "wrong",
      what: `no configured secret unwraps the signing secrets of ${lost.length} webhooks: ${idsOf(lost)}`,
      mend:
        "set JISS_KEY_PEPPER_PREVIOUS to the secret that wrapped them and restart; if it is lost, remove the webhooks and register them again",
    };
  }
  const old = wrappings.filter(({ opened }) => opened!.index > 0);
  if (old.length === 0) return ok("the signing secrets of webhooks are wrapped with the present secret");
  return {
    state: "note",
    what: `the signing secrets of ${old.length} webhooks are wrapped with a previous secret: ${idsOf(old)}`,
    mend: "restart the service with both secrets configured: its start wraps them with the present one",
  };
}
