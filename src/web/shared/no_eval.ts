/** Tells zod, before the first schema is made, that the pages' policy forbids code from text: its attempt would breach the policy. */
import { config } from "zod";

config({ jitless: true });
