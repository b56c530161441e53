/** Finds members that an object has twice: parsers take different ones. Source: RFC 8259, section 4. */

/** Whether any object of a text, which must be valid JSON, has two members of one name. */
export function hasDuplicateMembers(json: string): boolean {
  /** The names so far of each open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === "{" || token === "[") open.push(token === "{" ? new Set() : null);
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const names = open.at(-1)!;
      const name: string = JSON.parse(token.slice(0, -colon.length));
      if (names!.has(name)) return true;
      names!.add(name);
    }
  }
  return false;
}
