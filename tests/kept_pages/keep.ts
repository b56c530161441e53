/**
 * Keeps the page of a compliance report as the program of one commit drew it, with the public key of that program:
 *
 *   git worktree add /elsewhere COMMIT
 *   (cd /elsewhere && deno task web)
 *   deno run -A --lock=tests/deno.lock tests/kept_pages/keep.ts /elsewhere tests/kept_pages/NAME.json.gz
 *
 * The report is that of the demo organization. The key is gone with the program: nobody signs anything else with it.
 */
import { gzipSync } from "node:zlib";
import { watch } from "../program.ts";
import type { KeptPage } from "./kept.ts";

const ENOUGH_DAYS = 90;

async function keep(checkout: string, file: string): Promise<void> {
  const site = await Deno.makeTempDir({ prefix: "jiss-keep-" });
  const service = await watch(
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--unstable-kv", `${checkout}/main.ts`, "dev"],
      cwd: site,
      env: { JISS_PORT: "0", JISS_LOG: "json" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  try {
    while (!/report\.html\n/.test(service.output())) await new Promise((next) => setTimeout(next, 20));
    const [key] = /jis_\w{26}/.exec(service.output())!;
    const [start, end] = [-ENOUGH_DAYS, 1].map((days) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    );
    const path = `/v1/compliance/report?period_start=${start}&period_end=${end}&format=html`;
    const [page, jwks] = await Promise.all([path, "/.well-known/jwks.json"].map(async (asked) => {
      const response = await fetch(service.url + asked, { headers: { "X-API-Key": key } });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text;
    }));
    const kept: KeptPage = { page: page!, jwks: jwks! };
    await Deno.writeFile(file, gzipSync(JSON.stringify(kept), { level: 9 }));
  } finally {
    await service.stop();
    await Deno.remove(site, { recursive: true });
  }
}

if (import.meta.main) await keep(Deno.args[0]!, Deno.args[1]!);
