/** The program on a Deno without the API that the listener needs. */
import { shell } from "../main.ts";
import { run } from "../src/cli/program.ts";

Reflect.deleteProperty(Reflect.get(Deno, Reflect.get(Deno, "internal")), "serveHttpOnConnection");
if (import.meta.main) Deno.exit(await run(Deno.args, shell));
