/** Everything that operations are given: the service is composed of it once. */
import type { Reading, Retaining, Scoring, Secrets, Sending } from "./capabilities.ts";
import type { Remembering } from "./registered.ts";
import type { Shadowing } from "./shadow.ts";
import type { Watching } from "./tampering.ts";

export interface Dependencies
  extends Reading, Watching, Scoring, Retaining, Secrets, Sending, Remembering, Shadowing {}
