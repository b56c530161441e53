/** Debian's Firefox ESR as it is, driven by WebDriver BiDi. Source: W3C WebDriver BiDi. */
import assert from "node:assert/strict";
import { type Driver, type Engine, saying, type WindowOptions } from "./driving.ts";

const PROGRAM = "/usr/bin/firefox-esr";

/** The browser asks nobody on its own. */
const QUIET = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.newtabpage.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage": "about:blank",
  "browser.startup.page": 0,
  "captivedetect.canonicalURL": "",
  "datareporting.policy.dataSubmissionEnabled": false,
  "extensions.systemAddon.update.enabled": false,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.disablePrefetch": true,
  "network.prefetch-next": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "toolkit.telemetry.enabled": false,
  "ui.prefersReducedMotion": 1,
} as const;

interface Message {
  readonly id?: number;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- as the browser sends it
  readonly params?: any;
  // deno-lint-ignore no-explicit-any -- as the browser sends it
  readonly result?: any;
  readonly error?: string;
  readonly message?: string;
}

/** Commands and events over one socket. */
class Connection {
  #socket: WebSocket;
  #last = 0;
  // deno-lint-ignore no-explicit-any -- as the browser sends it
  #waiting = new Map<number, PromiseWithResolvers<any>>();
  readonly #onEvent: (method: string, params: Message["params"]) => void;

  private constructor(socket: WebSocket, onEvent: (method: string, params: Message["params"]) => void) {
    this.#socket = socket;
    this.#onEvent = onEvent;
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = () => {
      for (const one of this.#waiting.values()) one.reject(new Error("Firefox has ended"));
    };
  }

  static async to(
    url: string,
    onEvent: (method: string, params: Message["params"]) => void,
  ): Promise<Connection> {
    const socket = new WebSocket(url);
    await new Promise((opened, failed) => {
      socket.onopen = opened;
      socket.onerror = failed;
    });
    return new Connection(socket, onEvent);
  }

  // deno-lint-ignore no-explicit-any -- as the browser sends it
  async send(method: string, params: unknown): Promise<any> {
    const id = this.#last += 1;
    // deno-lint-ignore no-explicit-any -- as the browser sends it
    const answered = Promise.withResolvers<any>();
    this.#waiting.set(id, answered);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return await answered.promise;
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((done) => this.#socket.addEventListener("close", done));
    this.#socket.close();
    await closed;
  }

  #take({ id, method, params, result, error, message }: Message): void {
    if (id === undefined) return this.#onEvent(method ?? "", params);
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answered?.resolve(result);
    else answered?.reject(new Error(`${error}: ${message}`));
  }
}

export const FIREFOX: Engine = {
  name: "Firefox ESR",
  programs: [PROGRAM],
  async start({ theme, width, height }: WindowOptions): Promise<Driver> {
    const home = await Deno.makeTempDir({ prefix: "jiss-firefox-" });
    const settings = {
      ...QUIET,
      // 0 is dark, 1 is light.
      "layout.css.prefers-color-scheme.content-override": theme === "dark" ? 0 : 1,
    };
    await Deno.writeTextFile(
      `${home}/user.js`,
      Object.entries(settings).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
        .join(""),
    );
    const child = new Deno.Command(PROGRAM, {
      args: ["--headless", "--no-remote", "--profile", home, "--remote-debugging-port", "0"],
      env: { HOME: home },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const complaints: string[] = [];
    const [, address] = await saying(child.stderr, /WebDriver BiDi listening on (ws:\S+)/);
    const connection = await Connection.to(`${address}/session`, (method, params) => {
      if (method !== "log.entryAdded" || !["error", "warn"].includes(params.level)) return;
      complaints.push(`${params.type === "javascript" ? "threw" : "wrote"} ${params.text}`);
    });
    const { capabilities } = await connection.send("session.new", { capabilities: {} });
    const { contexts: [{ context }] } = await connection.send("browsingContext.getTree", {});
    await connection.send("session.subscribe", { events: ["log.entryAdded"] });
    await connection.send("browsingContext.setViewport", { context, viewport: { width, height } });
    const act = (type: "key" | "pointer", actions: readonly unknown[]) =>
      connection.send("input.performActions", { context, actions: [{ type, id: type, actions }] });
    return {
      browser: `${capabilities.browserName} ${capabilities.browserVersion}`,
      async open(url) {
        await connection.send("browsingContext.navigate", { context, url, wait: "complete" });
      },
      async call(source, args) {
        const answer = await connection.send("script.callFunction", {
          functionDeclaration: `async (args) =>
            JSON.stringify(await (${source})(...JSON.parse(args))) ?? "null"`,
          arguments: [{ type: "string", value: JSON.stringify(args) }],
          awaitPromise: true,
          target: { context },
        });
        assert.equal(answer.type, "success", answer.exceptionDetails?.text);
        return JSON.parse(answer.result.value);
      },
      async clickAt(x, y) {
        await act("pointer", [
          { type: "pointerMove", x, y },
          { type: "pointerDown", button: 0 },
          { type: "pointerUp", button: 0 },
        ]);
      },
      async press(keys) {
        await act("key", keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]));
      },
      async screenshot() {
        const { data } = await connection.send("browsingContext.captureScreenshot", { context });
        return Uint8Array.fromBase64(data);
      },
      complaints: () => Promise.resolve(complaints),
      async close() {
        await connection.send("browser.close", {}).catch(() => {});
        await connection.close();
        await child.status;
        await Deno.remove(home, { recursive: true });
      },
    };
  },
};
