import { cyclesOf, parseSources, readSources } from "./source_tree.ts";
Deno.test("g", async () => {
  const parsed = parseSources(await readSources());
  console.log(cyclesOf(parsed).map((c) => c.join(" ")).join("\n"));
  for (const [p, { imports }] of parsed) {
    if (p.startsWith("src/operations/") || p.startsWith("src/cli")) {
      for (const i of imports) {
        if (
          /kysely|store\/database/.test(i.specifier ?? "") && !i.isType && /sql|query/.test(i.names.join())
        ) console.log(p, i.specifier, i.names.join());
      }
    }
  }
});
