/** The sentences about small groups, as the rule writes them for real operators. */
import assert from "node:assert/strict";
import { dashboardOfGroups, SMALLEST_GROUP } from "../../src/domain/small_groups.ts";
import { activeVerdicts, type OperatorRow, organizationFigures } from "../../src/scoring/organization.ts";
import { JIS_1_0_0, JIS_2_0_0 } from "../models.ts";

const DAY = 86_400_000;
const NOW = 1_780_304_400_000;

const ORDINARY: OperatorRow = {
  jis: 80,
  n: 60,
  t0: NOW - 30 * DAY,
  t1: NOW - DAY,
  domain: "general",
  tcrit: null,
  shareHs: 0,
  shareCrit: 0,
  verdict: null,
  critCount: 0,
};

/** Operators of whom some are high-risk and others take critical decisions. */
function operators({ highRisk, critical }: { readonly highRisk: number; readonly critical: number }) {
  const of = (count: number, fields: Partial<OperatorRow>) =>
    Array.from({ length: count }, () => ({ ...ORDINARY, ...fields }));
  return [
    ...of(10, {}),
    ...of(highRisk, { domain: "financial" }),
    ...of(critical, { tcrit: NOW - DAY, shareCrit: 0.5, critCount: 30 }),
  ];
}

for (const model of [JIS_1_0_0, JIS_2_0_0]) {
  Deno.test(`with ${model.version} each sentence about a small group is withheld, and each about a large one is shown`, () => {
    for (let highRisk = 0; highRisk <= SMALLEST_GROUP + 1; highRisk += 1) {
      for (let critical = 0; critical <= SMALLEST_GROUP + 1; critical += 1) {
        const rows = operators({ highRisk, critical });
        const whole = {
          ...activeVerdicts(model, rows, NOW),
          ...organizationFigures(model, rows, NOW),
          probes: null,
        };
        const rule = whole.organization_rule;
        const shown = dashboardOfGroups(whole, 0);
        for (const part of ["verdict", "organization_rule"] as const) {
          const [before, after] = [whole[part].reasons, shown[part].reasons];
          for (
            const [count, sentence] of [
              [rule.high_risk_operators, /^Of \d+ high-risk operators?, /],
              [rule.critical_operators, /^Of \d+ operators? who takes? critical decisions, /],
            ] as const
          ) {
            const isIn = (all: readonly string[]) => all.some((text) => sentence.test(text));
            assert.equal(isIn(before) && count === 0, false);
            assert.equal(isIn(after), isIn(before) && count >= SMALLEST_GROUP, `${part}: ${after}`);
          }
        }
        assert.equal(rule.critical_operators > 0, critical > 0);
      }
    }
  });
}
