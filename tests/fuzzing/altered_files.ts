/** Files of evidence altered by the byte and by the line, carelessly or on purpose. */
import fc from "fast-check";

/** One alteration; places are shares of the whole. */
export type Alteration =
  | { readonly kind: "flip"; readonly at: number; readonly mask: number }
  | { readonly kind: "cut" | "drop line" | "double line" | "double all"; readonly at: number }
  | { readonly kind: "exchange lines" | "move bytes"; readonly at: number; readonly to: number }
  | { readonly kind: "insert"; readonly at: number; readonly bytes: Uint8Array };

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const inserted = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    "\n",
    " ",
    "\u0000",
    "{}\n",
    '{"kind":"jis.part/1"}\n',
    "[".repeat(50_000),
    "9".repeat(200_000),
  )
    .map((text) => new TextEncoder().encode(text)),
);

export const alterations: fc.Arbitrary<readonly Alteration[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("flip" as const), at: place, mask: fc.integer({ min: 1, max: 255 }) }),
    fc.record({
      kind: fc.constantFrom(
        "cut" as const,
        "drop line" as const,
        "double line" as const,
        "double all" as const,
      ),
      at: place,
    }),
    fc.record({
      kind: fc.constantFrom("exchange lines" as const, "move bytes" as const),
      at: place,
      to: place,
    }),
    fc.record({ kind: fc.constant("insert" as const), at: place, bytes: inserted }),
  ),
  { minLength: 1, maxLength: 4 },
);

/** Bytes that "move bytes" moves. */
const MOVED = 64;

export function altered(bytes: Uint8Array, done: readonly Alteration[]): Uint8Array {
  return done.reduce(alteredOnce, bytes);
}

function alteredOnce(bytes: Uint8Array, one: Alteration): Uint8Array {
  if (bytes.length === 0) return bytes;
  const at = Math.floor(one.at * bytes.length);
  switch (one.kind) {
    case "flip":
      return bytes.map((byte, index) => index === at ? byte ^ one.mask : byte);
    case "cut":
      return bytes.subarray(0, at);
    case "double all":
      return joined(bytes, bytes);
    case "insert":
      return joined(bytes.subarray(0, at), one.bytes, bytes.subarray(at));
    case "move bytes": {
      const rest = joined(bytes.subarray(0, at), bytes.subarray(at + MOVED));
      const to = Math.floor(one.to * rest.length);
      return joined(rest.subarray(0, to), bytes.subarray(at, at + MOVED), rest.subarray(to));
    }
    default:
      return alteredLines(bytes, one);
  }
}

function alteredLines(
  bytes: Uint8Array,
  one: Exclude<Alteration, { readonly kind: "flip" | "cut" | "double all" | "insert" | "move bytes" }>,
): Uint8Array {
  const lines = linesOf(bytes);
  const at = Math.floor(one.at * lines.length);
  if (one.kind === "drop line") return joined(...lines.toSpliced(at, 1));
  if (one.kind === "double line") return joined(...lines.toSpliced(at, 0, lines[at]!));
  const to = Math.floor(("to" in one ? one.to : 0) * lines.length);
  return joined(...lines.with(at, lines[to]!).with(to, lines[at]!));
}

/** Each with its line feed. */
function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const feed = bytes.indexOf(10, start);
    const end = feed === -1 ? bytes.length : feed + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
