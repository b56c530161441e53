/**
 * Arrays in lines of a file. Only one bad item is reported, because a line can hold half a million of them.
 */
import * as z from "zod";

/**
 * The schema of an array. It reports only the first bad item. The schema `item` must not change the items.
 */
export function listOf<Item>(item: z.ZodType<Item>, limit = Infinity): z.ZodType<Item[]> {
  return z.array(z.unknown()).check((context) => {
    const { value, issues } = context;
    if (value.length > limit) {
      issues.push({ code: "too_big", origin: "array", maximum: limit, inclusive: true, input: value });
      return;
    }
    for (const [index, element] of value.entries()) {
      const parsed = item.safeParse(element);
      if (parsed.success) continue;
      issues.push({
        code: "custom",
        input: element,
        message: parsed.error.issues[0]!.message,
        path: [index, ...parsed.error.issues[0]!.path],
      });
      return;
    }
  }) as unknown as z.ZodType<Item[]>;
}
