/** Everything that operations are given: the service is composed of it once. */
import type {
  Logging,
  Proving,
  Reading,
  Retaining,
  Scoring,
  Secrets,
  Sending,
  Writing,
} from "./capabilities.ts";
import type { RegisteredRows } from "./registered.ts";
import type { Shadow } from "./shadow.ts";
import type { TamperedChains } from "./tampering.ts";

export interface Dependencies
  extends Reading, Proving, Writing, Logging, Scoring, Retaining, Secrets, Sending {
  /** The registered rows of organizations that were found whole. */
  readonly registered: RegisteredRows;
  /** The chains that were found altered; null: nobody is told of any. */
  readonly tampered: TamperedChains | null;
  /** The candidate model that runs beside it; null: none. */
  readonly shadow: Shadow | null;
}
