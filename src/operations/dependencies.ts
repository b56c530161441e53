/** All dependencies of the operations: the service composes them once. */
import type { Naming, Reading, Retaining, Scoring, Secrets, Sending } from "./shared/capabilities.ts";
import type { Remembering } from "./organizations/registered.ts";
import type { Shadowing } from "./scoring/shadow.ts";
import type { Sessioning } from "./users/sessions.ts";
import type { Watching } from "./shared/tampering.ts";

export interface Dependencies
  extends
    Reading,
    Watching,
    Scoring,
    Retaining,
    Secrets,
    Sending,
    Remembering,
    Sessioning,
    Shadowing,
    Naming {}
