/** The words of the audit log: each event has a title of its own. */
import assert from "node:assert/strict";
import { AUDIT_LOG_EVENTS } from "../../src/domain/audit_events.ts";
import { ACTORS } from "../../src/evidence/entry.ts";
import { actorInWords, EVENT_WORDS, eventInWords, fieldInWords } from "../../src/web/console/event_words.ts";

Deno.test("every event of the audit log has words of its own, and no other name has some", () => {
  assert.deepEqual(Object.keys(EVENT_WORDS).toSorted(), AUDIT_LOG_EVENTS.toSorted());
  const words = AUDIT_LOG_EVENTS.map(eventInWords);
  assert.equal(new Set(words).size, words.length);
  for (const title of words) assert.match(title, /^[A-Z][a-z][A-Za-z' :-]+[a-z]$/);
  assert.equal(eventInWords("EVENT_OF_A_LATER_VERSION"), "EVENT_OF_A_LATER_VERSION");
});

Deno.test("whoever made an event that no user made has words, and a field its name in words", () => {
  for (const actor of ACTORS.filter((actor) => actor !== "user")) {
    assert.match(actorInWords(actor), /^[A-Z][a-z ]+$/);
  }
  assert.equal(fieldInWords("link_expires_at"), "Link ends");
  assert.equal(fieldInWords("response_status"), "Response status");
});
