/** Regular work that is done for one organization after another. */
import { AlteredError, BehindIssued, isUnavailable } from "../../domain/errors.ts";
import { errorFields } from "../../observability/log.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/**
 * Does an organization's part of the work. If it fails, or the organization's rows were altered, the others' part is
 * still done, and the next run tries again.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if that is so for all organizations.
 */
export async function forOneOf(
  dependencies: Watching,
  { orgId, now, failure, run }: {
    readonly orgId: string;
    readonly now: number;
    /** The log's message about a failure. */
    readonly failure: string;
    readonly run: () => Promise<unknown>;
  },
): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (isUnavailable(error) && !(error instanceof BehindIssued)) throw error;
    if (error instanceof AlteredError) await raiseTampering(dependencies, tamperingOf(error), now);
    dependencies.log.error(failure, { org_id: orgId, ...errorFields(error) });
  }
}
