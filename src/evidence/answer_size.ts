/** Limit on the values of a saved answer: a short text can hold millions, which take far more memory. */

/** The most values in one answer: a report has some thousands. */
const VALUE_LIMIT = 262_144;

const OPENERS = ["[", "{", ","];

/** Whether a text, if it is JSON, has more values than any answer of the service. */
export function hasTooManyValues(text: string): boolean {
  let values = 0;
  for (const opener of OPENERS) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) {
      values += 1;
      if (values > VALUE_LIMIT) return true;
    }
  }
  return false;
}
