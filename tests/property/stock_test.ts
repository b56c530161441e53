/** The stock of a stratum agrees with a plain list of it. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { Stock } from "../../src/evidence/stock.ts";

Deno.test("a stock gives the place of each item as a plain list does, whatever is added and taken", () => {
  const step = fc.record({ takes: fc.boolean(), at: fc.nat({ max: 60 }) });
  fc.assert(fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
    const [stock, list] = [new Stock<number>(), [] as number[]];
    let added = 0;
    for (const { takes, at } of steps) {
      if (takes) {
        stock.take(at);
        if (list.includes(at)) list.splice(list.indexOf(at), 1);
      } else {
        stock.add(added);
        list.push(added);
        added += 1;
      }
      assert.equal(stock.size, list.length);
      for (let item = 0; item <= added; item += 1) {
        assert.equal(stock.placeOf(item), list.includes(item) ? list.indexOf(item) : null);
      }
    }
  }));
});
