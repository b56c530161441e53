/**
 * Where packages and globals may be used: time, entropy, the environment, files and the network are reached in
 * the listed places alone. A name that no table lists is refused; a page of the browser may use most globals.
 */
import type { GlobalUse, Parsed } from "./source_tree.ts";

const WORLD = "src/service/world.ts";

/**
 * Packages and modules of the platform, types included, each with the only folders or files that may import
 * it. `domain`, `scoring`, `evidence` and `simulation` are functions of their arguments: the tables grant them
 * `zod` and the core's cryptography, and nothing else.
 */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  "@libsql/client/http": ["src/store/"],
  "@libsql/hrana-client": ["src/store/"],
  "@noble/curves/ed25519.js": ["src/web/verify/"],
  "@noble/hashes/sha2.js": ["src/web/verify/"],
  "@simplewebauthn/server": ["src/identity/webauthn.ts"],
  "@simplewebauthn/server/helpers": ["src/identity/webauthn.ts"],
  commander: ["src/cli/"],
  "csv-parse/stream": ["src/cli/"],
  "d3-scale": ["src/pages/"],
  "d3-shape": ["src/pages/"],
  "fastest-levenshtein": ["src/cli/", "src/config/"],
  hono: ["src/http/"],
  "hono/accepts": ["src/http/"],
  "hono/cookie": ["src/http/"],
  "hono/html": ["src/pages/"],
  "hono/utils/html": ["src/pages/"],
  jose: ["src/identity/tokens.ts"],
  kysely: ["src/store/"],
  "node:buffer": ["src/keys/"],
  "node:crypto": [WORLD],
  "node:dns/promises": [WORLD],
  "node:fs": ["src/store/file_system.ts"],
  "node:http": ["src/cli/healthcheck.ts", "src/webhooks/delivery.ts"],
  "node:https": ["src/cli/healthcheck.ts", "src/webhooks/delivery.ts"],
  "node:path": ["src/cli/", "src/store/durable_file.ts"],
  "node:sqlite": ["src/store/"],
  "node:zlib": ["src/http/compression.ts"],
  "node:url": ["src/cli/invocation.ts"],
  "node:util": ["src/cli/dev.ts", "src/config/config.ts"],
  oauth4webapi: ["src/identity/"],
  preact: ["src/web/"],
  "preact-iso": ["src/web/"],
  "preact/hooks": ["src/web/"],
  "prom-client": ["src/observability/"],
  ulid: [WORLD],
  zod: [
    "src/config/",
    "src/domain/",
    "src/evidence/",
    "src/exercises/",
    "src/http/",
    "src/identity/",
    "src/scoring/",
    "src/store/",
    "src/web/",
  ],
  "zod-openapi": ["src/http/"],
};

interface Grant {
  readonly names: readonly string[];
  /** Folders, which end with a slash, and files. */
  readonly places: readonly string[];
}

/** Names of modules that give everybody the same result at any time; the modules' other names do not. */
const MODULE_NAMES: Readonly<Record<string, Grant>> = {
  "node:crypto": {
    names: [
      "createCipheriv",
      "createDecipheriv",
      "createHash",
      "createHmac",
      "createPrivateKey",
      "createPublicKey",
      "hash",
      "hkdfSync",
      "KeyObject",
      "scrypt",
      "sign",
      "timingSafeEqual",
      "verify",
      "X509Certificate",
    ],
    places: [
      "src/config/config.ts",
      "src/evidence/node_crypto.ts",
      "src/http/assets.ts",
      "src/identity/",
      "src/keys/",
      "src/operations/installation/installation_seals.ts",
      "src/pages/policy.ts",
      "src/webhooks/signature.ts",
    ],
  },
  "node:net": { names: ["BlockList", "isIP", "isIPv4"], places: ["src/limits/", "src/webhooks/"] },
};

/** Globals of the language that give everybody the same result at any time. */
const PURE_GLOBALS = [
  "Array",
  "ArrayBuffer",
  "BigInt",
  "Boolean",
  "DataView",
  "Error",
  "Float64Array",
  "Infinity",
  "Int32Array",
  "JSON",
  "Map",
  "NaN",
  "Number",
  "Object",
  "Promise",
  "RangeError",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "SyntaxError",
  "TextDecoder",
  "TextEncoder",
  "TypeError",
  "URL",
  "URLSearchParams",
  "Uint16Array",
  "Uint32Array",
  "Uint8Array",
  "WeakMap",
  "encodeURIComponent",
  "parseInt",
  "structuredClone",
];

function isPureGlobal({ name, member, isMade }: GlobalUse): boolean {
  // Not the present time.
  if (name === "Date") return isMade || member === "parse" || member === "UTC";
  if (name === "Math") return member !== null && member !== "random";
  return PURE_GLOBALS.includes(name);
}

/** All other globals that are used, each with the only places where it may be. */
const GLOBALS: Readonly<Record<string, Grant>> = {
  clock: { names: ["Date.now", "performance.now"], places: [WORLD] },
  entropy: { names: ["crypto.getRandomValues"], places: [WORLD] },
  environment: { names: ["Deno.env"], places: [WORLD] },
  network: {
    names: ["Deno.connect", "Deno.createHttpClient", "Deno.listen", "Deno.listenTls", "fetch"],
    places: [
      "src/http/acceptor.ts",
      "src/http/tls_relay.ts",
      "src/identity/wire.ts",
      "src/service/databases.ts",
      "src/web/shared/api.ts",
    ],
  },
  "messages of HTTP": {
    names: ["Headers", "ReadableStream", "Response"],
    places: ["src/http/", "src/identity/"],
  },
  "streams of bytes": {
    names: ["ReadableStream.from", "TextDecoderStream", "TextEncoderStream"],
    places: ["src/cli/decision_table.ts"],
  },
  timers: {
    names: ["clearInterval", "clearTimeout", "setImmediate", "setInterval", "setTimeout"],
    places: [
      "src/cli/run_service.ts",
      "src/http/",
      "src/limits/shared_counters.ts",
      "src/observability/patient_write.ts",
      "src/operations/verification/",
      "src/service/",
      "src/store/",
      "src/webhooks/",
    ],
  },
  cancellation: {
    names: ["AbortController", "AbortSignal", "DOMException"],
    places: [
      "src/identity/wire.ts",
      "src/service/background.ts",
      "src/store/request_timeouts.ts",
      "src/webhooks/",
    ],
  },
  // A thread communicates through its own scope.
  threads: {
    names: ["Blob", "Worker", "globalThis"],
    places: ["src/service/databases.ts", "src/store/storage_thread.ts"],
  },
  "a store of Deno's": { names: ["Deno.openKv"], places: ["src/service/rate_windows.ts"] },
  files: {
    names: [
      "Deno.FsFile",
      "Deno.SeekMode",
      "Deno.chmodSync",
      "Deno.chownSync",
      "Deno.copyFileSync",
      "Deno.lstatSync",
      "Deno.mkdirSync",
      "Deno.open",
      "Deno.openSync",
      "Deno.readTextFileSync",
      "Deno.realPathSync",
      "Deno.remove",
      "Deno.removeSync",
      "Deno.renameSync",
      "Deno.statSync",
      "Deno.writeTextFileSync",
    ],
    places: ["src/cli/", "src/service/data_directory.ts", "src/service/key_files.ts", "src/store/"],
  },
  "errors of the platform": {
    names: ["Deno.errors"],
    places: ["src/cli/", "src/http/", "src/observability/", "src/service/", "src/store/"],
  },
  "standard streams": {
    names: ["Deno.stderr", "Deno.stdin", "Deno.stdout", "console"],
    places: ["src/cli/", WORLD],
  },
  processes: {
    names: [
      "Deno.Command",
      "Deno.addSignalListener",
      "Deno.exit",
      "Deno.permissions",
      "Deno.pid",
      "Deno.removeSignalListener",
    ],
    places: ["src/cli/browser.ts", "src/cli/output.ts", "src/cli/run_service.ts"],
  },
  "the machine": { names: ["Deno.build"], places: ["src/cli/browser.ts", "src/store/durable_file.ts"] },
  "Deno's version": {
    names: ["Deno.version"],
    places: ["src/cli/version.ts", "src/http/deno_connection.ts"],
  },
  "Deno's internals": { names: ["Deno", "Reflect"], places: ["src/http/deno_connection.ts"] },
};

/** A browser's page may use all but these: it reaches the network by the service's interface alone. */
const REFUSED_TO_BROWSERS = [
  "Deno",
  "EventSource",
  "Function",
  "RTCPeerConnection",
  "WebSocket",
  "WebTransport",
  "XMLHttpRequest",
  "eval",
  "fetch",
  "global",
  "navigator.sendBeacon",
  "process",
  "require",
];
const GLOBAL_OBJECTS = ["globalThis", "self", "window"];
const BROWSERS = "src/web/";

/** Packages and modules that the file may not import. */
export function moduleOffences(path: string, { imports }: Parsed): readonly string[] {
  return imports.flatMap(({ specifier, target, names }) => {
    if (specifier === null || target !== null || isIn(path, MODULES[specifier])) return [];
    const grant = MODULE_NAMES[specifier];
    if (!isIn(path, grant?.places)) return [`${path} → ${specifier}`];
    const others = names.filter((name) => !grant!.names.includes(name));
    return others.length === 0 && names.length > 0 ? [] : [`${path} → ${specifier} (${others.join(", ")})`];
  });
}

/** Globals that the file may not use. */
export function globalOffences(path: string, { globals }: Parsed): readonly string[] {
  return globals.filter((use) => !isAllowed(path, use)).map((use) => `${path}:${use.line}: ${nameOf(use)}`);
}

function isAllowed(path: string, use: GlobalUse): boolean {
  const isGranted = Object.values(GLOBALS).some((grant) =>
    isIn(path, grant.places) && grant.names.some((name) => isNamed(use, name))
  );
  return isPureGlobal(use) || isGranted || (path.startsWith(BROWSERS) && isOfBrowsers(use));
}

function isOfBrowsers(use: GlobalUse): boolean {
  const { name, member } = use;
  const isRefused = REFUSED_TO_BROWSERS.includes(name) || REFUSED_TO_BROWSERS.includes(nameOf(use));
  // `window.navigator` would hide which member is used.
  const hides = GLOBAL_OBJECTS.includes(name) && member !== null &&
    (member === "navigator" || REFUSED_TO_BROWSERS.includes(member));
  return !isRefused && !hides;
}

/** A global's name grants its members, but `Deno` has too many: each of them needs its own name. */
function isNamed(use: GlobalUse, name: string): boolean {
  return name === nameOf(use) || (name === use.name && name !== "Deno");
}

/** Whether a file is one of the places, or in one. */
function isIn(path: string, places: readonly string[] | undefined): boolean {
  return places?.some((place) => place.endsWith("/") ? path.startsWith(place) : path === place) === true;
}

/** Names that no file in their places uses, and places that use none of their names. */
export function unusedGrants(parsed: ReadonlyMap<string, Parsed>): readonly string[] {
  const grants: readonly Grant[] = [
    ...Object.values(GLOBALS),
    ...Object.entries(MODULES).map(([specifier, places]) => ({ names: [specifier], places })),
    ...Object.entries(MODULE_NAMES).map(([specifier, { names, places }]) => ({
      names: names.map((name) => `${specifier} ${name}`),
      places,
    })),
  ];
  const used = [...parsed].map(([path, { globals, imports }]) => ({
    path,
    names: new Set([
      ...globals.flatMap((use) => [use.name, nameOf(use)]),
      ...imports.flatMap((
        { specifier, names },
      ) => [specifier, ...names.map((name) => `${specifier} ${name}`)]),
    ]),
  }));
  const isUsed = (name: string, places: readonly string[]) =>
    used.some(({ path, names }) => isIn(path, places) && names.has(name));
  return grants.flatMap(({ names, places }) => [
    ...names.filter((name) => !isUsed(name, places)),
    ...places.filter((place) => !names.some((name) => isUsed(name, [place])))
      .map((place) => `${place}: ${names.join(", ")}`),
  ]);
}

function nameOf({ name, member }: GlobalUse): string {
  return member === null ? name : `${name}.${member}`;
}
