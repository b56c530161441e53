/**
 * Follows docs/operate/install.md to the letter: its commands, in order, in one shell, from an empty
 * directory. So install, first score, first verification, backup, restore, rotation and upgrade work as they
 * are written.
 */
import assert from "node:assert/strict";
import { freePort } from "../sqld.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/../..`);

async function output(command: string, ...args: string[]): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command(command, { args, cwd: ROOT, stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout).trim() : null;
  } catch {
    return null;
  }
}

const mirror = await output("npm", "config", "get", "registry");
const isClone = await output("git", "rev-parse", "HEAD") !== null;
const isHere = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

Deno.test({
  name:
    "the commands of docs/operate/install.md run in their order, from an empty directory [needs npm, and a clone by git]",
  ignore: mirror === null || !isClone || !isHere,
  async fn() {
    const page = await Deno.readTextFile(`${ROOT}/docs/operate/install.md`);
    const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
    assert.ok(blocks.length >= 12, `${blocks.length}`);
    const directory = await Deno.makeTempDir({ prefix: "jiss-install-" });
    const kept = ["PATH", "HOME", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "NPM_CONFIG_CAFILE"];
    const { success, stdout, stderr } = await new Deno.Command("sh", {
      // The shell ends what a failure leaves running.
      args: ["-c", `trap 'kill "\${SERVICE:-}" 2> /dev/null || true' EXIT\n${blocks.join("\n")}`],
      cwd: directory,
      clearEnv: true,
      env: {
        ...Object.fromEntries(
          Object.entries(Deno.env.toObject()).filter(([name]) =>
            kept.includes(name) || name.toLowerCase().startsWith("npm_config_")
          ),
        ),
        NPM_MIRROR: mirror!,
        SOURCE: ROOT,
        JISS_PORT: String(await freePort()),
      },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.ok(success, `${text.slice(-2_000)}\n${new TextDecoder().decode(stderr).slice(-4_000)}`);
    // Four verifications: the first visit, the one after the restore, of several bundles, and the one after
    // the upgrade.
    assert.ok(text.match(/^INTACT/gm)!.length >= 3, text);
    assert.doesNotMatch(text, /TAMPERED|DIVERGED|NOT VERIFIABLE/);
    assert.match(text, /was verified and is now the database/);
    await Deno.remove(directory, { recursive: true });
  },
});
