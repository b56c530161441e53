/** Pages of compliance reports as programs of earlier versions drew them; `keep.ts` makes them. */
import { gunzipSync } from "node:zlib";

export interface KeptPage {
  /** The page, byte for byte. */
  readonly page: string;
  /** The public keys of the program that signed its report. */
  readonly jwks: string;
}

/** Every kept page, by what it shows. */
export const KEPT_PAGES = {
  "0.2.0, whose reports have no verdicts": "without-verdicts.json.gz",
  "the days before the page had a summary": "without-summary.json.gz",
} as const;

/** Reads a page that was kept. */
export async function keptPage(name: keyof typeof KEPT_PAGES): Promise<KeptPage> {
  const file = await Deno.readFile(`${import.meta.dirname}/${KEPT_PAGES[name]}`);
  return JSON.parse(gunzipSync(file).toString());
}
