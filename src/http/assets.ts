/**
 * The files that browsers load, and the script of the storage thread. `scripts/web.ts` builds them into the
 * program's one file. An asset's name changes with its content, so a browser may cache it for ever.
 */
import { createHash } from "node:crypto";
import collectorScript from "../../dist/web/collector.js" with { type: "text" };
import consoleScript from "../../dist/web/console.js" with { type: "text" };
import demoScript from "../../dist/web/demo.js" with { type: "text" };
import evidenceFormatHtml from "../../dist/web/evidence-format.html" with { type: "text" };
import exerciseScript from "../../dist/web/exercise.js" with { type: "text" };
import meScript from "../../dist/web/me.js" with { type: "text" };
import formulasHtml from "../../dist/web/formulas.html" with { type: "text" };
import referenceScript from "../../dist/web/reference.js" with { type: "text" };
import storageThread from "../../dist/web/storage_thread.js" with { type: "text" };
import styleSheet from "../../dist/web/style.css" with { type: "text" };
import themeScript from "../../dist/web/theme.js" with { type: "text" };
import verifierScript from "../../dist/web/verifier.js" with { type: "text" };
import verifyOfflineHtml from "../../dist/web/verify-offline.html" with { type: "text" };

export interface Asset {
  /** The path that it is served at. */
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
}

function asset(name: string, contentType: string, text: string): Asset {
  const digest = createHash("sha256").update(text, "utf8").digest("hex").slice(0, 16);
  const [stem, extension] = name.split(".");
  return { path: `/assets/${stem}-${digest}.${extension}`, contentType, text };
}

function script(name: string, text: string): Asset {
  return asset(name, "text/javascript; charset=utf-8", text);
}

/** The assets that pages load. */
export const ASSETS = {
  style: asset("style.css", "text/css; charset=utf-8", styleSheet),
  console: script("console.js", consoleScript),
  demo: script("demo.js", demoScript),
  exercise: script("exercise.js", exerciseScript),
  me: script("me.js", meScript),
  reference: script("reference.js", referenceScript),
  /** The one script that is no module: it runs before the page is painted. */
  theme: script("theme.js", themeScript),
  /** A web worker that verifies bundles. */
  verifier: script("verifier.js", verifierScript),
} as const satisfies Record<string, Asset>;

/** Script of the thread that writes to the embedded database; it is never served. */
export const STORAGE_THREAD: string = storageThread;

/** The script for customers' own pages; its path never changes. */
export const COLLECTOR: Asset = { ...script("collector.js", collectorScript), path: "/collector.js" };

/** The documents that are also served as pages, by their names in `docs/verify/`. */
export const DOCUMENTS = {
  "verify-offline": verifyOfflineHtml,
  "evidence-format": evidenceFormatHtml,
  formulas: formulasHtml,
} as const satisfies Record<string, string>;
