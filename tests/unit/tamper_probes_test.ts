/** Tampering with probes: the rows of tests/probe_rows.ts. */
import { PROBE_ROWS } from "../probe_rows.ts";
import { run } from "../verification.ts";

run(PROBE_ROWS);
