/**
 * docs/operate/privacy.md names what is stored: a new table or field of an interaction must be named there.
 */
import assert from "node:assert/strict";
import { decisionRequestSchema } from "../../src/http/routes/decisions.ts";
import { interactionSchema } from "../../src/domain/interaction.ts";

const ROOT = `${import.meta.dirname}/../..`;
const text = await Deno.readTextFile(`${ROOT}/docs/operate/privacy.md`);

Deno.test("every table of the schema is named in docs/operate/privacy.md, and no other", async () => {
  const source = await Deno.readTextFile(`${ROOT}/src/store/schema.ts`);
  const [, schema] = /export interface Schema \{([^}]*)\}/.exec(source)!;
  const tables = [...schema!.matchAll(/^ {2}(\w+):/gm)].map(([, table]) => table!);
  assert.ok(tables.length >= 30);
  assert.deepEqual(tables.filter((table) => !text.includes(`\`${table}\``)), []);
  const kept = text.split("\n## What is kept")[1]!.split("\n### Elsewhere")[0]!;
  const rows = [...kept.matchAll(/^\| +(`[^|]*?)(?: \([^|]*\))? +\|/gm)];
  const named = rows.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, table]) => table!));
  assert.deepEqual(named.filter((table) => !tables.includes(table)), []);
});

Deno.test("every table with an operator's id, and every field of a case, is named there as being about reviewers", async () => {
  const source = await Deno.readTextFile(`${ROOT}/src/store/schema.ts`);
  const reviewers = text.split("\n### About reviewers")[1]!.split("\n### ")[0]!;
  const interfaces = [...source.matchAll(/export interface (\w+)Table \{([^}]*)\}/g)];
  const personal = interfaces.filter(([, , fields]) => /^ {2}operator_id:/m.test(fields!))
    .map(([, name]) => name!.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase());
  assert.ok(personal.length >= 6);
  assert.deepEqual(personal.filter((table) => !reviewers.includes(`\`${table}\``)), []);
  const fields = [...Object.keys(interactionSchema.shape), ...Object.keys(decisionRequestSchema.in.shape)];
  assert.ok(fields.length >= 12);
  assert.deepEqual(fields.filter((field) => !text.includes(`\`${field}\``)), []);
});
