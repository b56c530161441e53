/** The error catalogue: every code with its statuses, what it means, and what to do. */
import { ERROR_STATUSES, type ErrorCode } from "../domain/errors.ts";
import { type Markup, markup } from "./markup.ts";

export function errorsContent(): Markup {
  const codes = Object.keys(ERROR_STATUSES) as ErrorCode[];
  return markup`<main id="main" class="prose" tabindex="-1"><h1>Errors</h1>${
    codes.map((code) => markup`<h2 id="${code}">${code}</h2>`)
  }</main>`;
}
