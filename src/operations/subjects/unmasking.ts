/**
 * Tells who a reviewer is where people see pseudonyms, or which pseudonym a reviewer has. Each look is recorded with its
 * reason before it is answered. Source: oversight-loop design, section 6.
 */
import type { Reading, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Unmasked, UnmaskRequest } from "../../domain/subject.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { subjects } from "../../store/records.ts";
import { type Call, type OrganizationCaller, selfServing } from "../shared/call.ts";
import { eventDraft } from "../shared/drafts.ts";
import { operatorOf, pseudonymsOf } from "../shared/pseudonyms.ts";

type Needs = Reading & Writing;

/** @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE; {AlteredRows}. */
export async function unmask(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call }: { readonly request: UnmaskRequest; readonly call: Call },
): Promise<Unmasked> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const found = await find(dependencies, orgId, request);
  const draft = eventDraft(world, {
    type: "SUBJECT_UNMASKED",
    caller: selfServing(caller),
    now: call.now,
    detail: {
      asked_by: request.reviewer === found.pseudonym ? "pseudonym" : "name",
      reason: request.reason,
    },
  });
  await writer.submit({
    needs: [{ kind: subjects, key: [orgId, found.name] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      // The reviewer may have been erased since, and may even have come back under another pseudonym.
      if (unit.get(subjects, [orgId, found.name])?.pseudonym !== found.pseudonym) throw unknown(request);
      unit.append(adminChain(orgId), { ...draft, subject: found.pseudonym });
      return () => undefined;
    },
  });
  return found;
}

async function find(
  dependencies: Needs,
  orgId: string,
  request: UnmaskRequest,
): Promise<Unmasked> {
  const { reviewer } = request;
  const named = await operatorOf(dependencies, orgId, reviewer);
  if (named !== null) return { pseudonym: reviewer, name: named };
  const pseudonym = (await pseudonymsOf(dependencies, orgId, [reviewer])).get(reviewer);
  if (pseudonym !== undefined) return { pseudonym, name: reviewer };
  throw unknown(request);
}

function unknown({ reviewer }: UnmaskRequest): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    `No reviewer has the pseudonym or the operator_id ${reviewer}: check it.`,
  );
}
