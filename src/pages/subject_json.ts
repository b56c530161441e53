/** A person's copy of everything that is kept about them, as JSON. */
import type { SubjectCopy } from "../domain/subject.ts";

/** One JSON object with the envelope of every body; its records are written as they are read. */
export async function* subjectJson(
  { head, records, requestId, madeAt }: SubjectCopy,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"records":[`;
  let separator = "";
  for await (const record of records) {
    yield separator + JSON.stringify(record);
    separator = ",";
  }
  const envelope = { request_id: requestId, timestamp: madeAt };
  yield `],${JSON.stringify(envelope).slice(1)}`;
}
