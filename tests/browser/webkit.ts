/** WebKitGTK in Debian's MiniBrowser, driven by its own WebKitWebDriver, in a display without a screen. Source: W3C WebDriver. */
import assert from "node:assert/strict";
import { freePort } from "../sqld.ts";
import { type Driver, type Engine, saying, type WindowOptions } from "./driving.ts";

const DRIVER = "/usr/bin/WebKitWebDriver";
const DISPLAY = "/usr/bin/Xvfb";
const BROWSER = `/usr/lib/${Deno.build.arch}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;
const START_MS = 30_000;
const LOAD_MS = 60_000;

/** The browser's toolbar would be wider than a phone. */
const NARROW_TOOLBAR = "toolbar, headerbar, button, entry { min-width: 0; padding: 0; margin: 0; }\n";

/**
 * Keeps what a page complains of, from the moment on at which its document is there: this browser has no such command, and logs nothing
 * while it is driven. What a page does before, while its markup is read, is not seen; the scripts of the service's pages run later. Says
 * how far the page is.
 */
const WATCH = `
  if (globalThis.isLeft) return "left";
  if (globalThis.complaints === undefined) {
    const complaints = Object.defineProperty(globalThis, "complaints", { value: [] }).complaints;
    addEventListener("error", ({ message, target }) =>
      complaints.push(message === undefined ? "could not load " + target.outerHTML : "threw " + message), true);
    addEventListener("unhandledrejection", ({ reason }) => complaints.push("threw " + reason));
    for (const level of ["error", "warn"]) {
      const log = console[level];
      console[level] = (...all) => { complaints.push("wrote " + all.join(" ")); log.apply(console, all); };
    }
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      complaints.push("broke its policy: " + violatedDirective + " " + blockedURI), true);
  }
  return document.readyState;`;

interface Size {
  readonly width: number;
  readonly height: number;
}

export const WEBKIT: Engine = {
  name: "WebKitGTK",
  programs: [DRIVER, BROWSER, DISPLAY],
  async start(options: WindowOptions): Promise<Driver> {
    const home = await Deno.makeTempDir({ prefix: "jiss-webkit-" });
    await Deno.mkdir(`${home}/gtk-3.0`);
    await Deno.writeTextFile(`${home}/gtk-3.0/gtk.css`, NARROW_TOOLBAR);
    const display = new Deno.Command(DISPLAY, {
      args: ["-displayfd", "1", "-screen", "0", "1600x1400x24", "-nolisten", "tcp"],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const [, number] = await saying(display.stdout, /^(\d+)\n/);
    const port = await freePort();
    const program = new Deno.Command(DRIVER, {
      args: ["--host=127.0.0.1", `--port=${port}`],
      env: {
        HOME: home,
        XDG_CACHE_HOME: home,
        XDG_CONFIG_HOME: home,
        XDG_DATA_HOME: home,
        DISPLAY: `:${number}`,
        GDK_BACKEND: "x11",
        GTK_THEME: options.theme === "dark" ? "Adwaita:dark" : "Adwaita",
        NO_AT_BRIDGE: "1",
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const end = async () => {
      for (const child of [program, display]) {
        child.kill("SIGTERM");
        await child.status;
      }
      await Deno.remove(home, { recursive: true });
    };
    try {
      return await windowOf(`http://127.0.0.1:${port}`, options, end);
    } catch (error) {
      await end();
      throw error;
    }
  },
};

async function windowOf(
  origin: string,
  { width, height }: WindowOptions,
  end: () => Promise<void>,
): Promise<Driver> {
  const ask = async (
    path: string,
    body?: unknown,
    method = body === undefined ? "GET" : "POST",
    // deno-lint-ignore no-explicit-any -- as the driver says it
  ): Promise<any> => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = await answer.json();
    assert.ok(answer.ok, `${path}: ${value?.error}: ${value?.message}`);
    return value;
  };
  await eventually("the driver", START_MS, () => ask("/status").then(({ ready }) => ready, () => false));
  const { sessionId, capabilities } = await ask("/session", {
    capabilities: {
      alwaysMatch: {
        pageLoadStrategy: "none",
        "webkitgtk:browserOptions": { binary: BROWSER, args: ["--automation"] },
      },
    },
  });
  const session = `/session/${sessionId}`;
  const run = (script: string, args: readonly unknown[] = []) =>
    ask(`${session}/execute/sync`, { script, args });
  // The window is its page and the toolbar. It takes a new size some moments later.
  const size = (): Promise<Size> => run("return { width: innerWidth, height: innerHeight }");
  let outer = height;
  await eventually(`a page of ${width} to ${height} pixels`, START_MS, async () => {
    await ask(`${session}/window/rect`, { x: 0, y: 0, width, height: outer });
    const inner = await size();
    if (inner.width === width && inner.height === height) return true;
    if (inner.height < outer) outer = height + outer - inner.height;
    return false;
  });
  const act = (type: "key" | "pointer", actions: readonly unknown[]) =>
    ask(`${session}/actions`, { actions: [{ type, id: type, actions }] });
  const complaints: string[] = [];
  const collect = async () => {
    complaints.push(...await run("return (globalThis.complaints ?? []).splice(0)"));
    return complaints;
  };
  return {
    browser: `WebKitGTK ${capabilities.browserVersion}`,
    async open(url) {
      await collect();
      await run("globalThis.isLeft = true");
      await ask(`${session}/url`, { url });
      await eventually(
        url,
        LOAD_MS,
        async () => await run(WATCH).catch(() => "between two pages") === "complete",
      );
    },
    async call(source, args) {
      const answer = await ask(`${session}/execute/async`, {
        script: `const tell = arguments[1];
          (async () => JSON.stringify(await (${source})(...JSON.parse(arguments[0]))) ?? "null")()
            .then((value) => tell({ value }), (error) => tell({ error: String(error) }));`,
        args: [JSON.stringify(args)],
      });
      assert.equal(answer.error, undefined);
      return JSON.parse(answer.value);
    },
    async clickAt(x, y) {
      await act("pointer", [
        { type: "pointerMove", duration: 0, x, y },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ]);
    },
    async press(keys) {
      await act("key", keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]));
    },
    async screenshot() {
      return Uint8Array.fromBase64(await ask(`${session}/screenshot`));
    },
    complaints: collect,
    async close() {
      await ask(session, undefined, "DELETE").catch(() => {});
      await end();
    },
  };
}

async function eventually(what: string, patience: number, holds: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + patience;
  while (!await holds()) {
    assert.ok(performance.now() < until, `WebKitGTK waited for ${what}`);
    await new Promise((next) => setTimeout(next));
  }
}
