/** The case set in the examples of the API: as small as a set can be. */
import type { CaseSet } from "./case_set.ts";

type Case = CaseSet["cases"][number];

const CHOICES = (amount: string): Case["choices"] => [
  { decision: "accepted", label: `Approve ${amount}` },
  { decision: "overridden", label: "Refuse the loan" },
  { decision: "escalated", label: "Hand it to the credit department" },
];

function loan(
  id: string,
  { income, instalments, amount, ai_correct, explanation }: {
    readonly income: string;
    readonly instalments: string;
    readonly amount: string;
    readonly ai_correct: boolean;
    readonly explanation: string;
  },
): Case {
  return {
    id,
    title: "A loan application",
    task: "Decide on the loan.",
    facts: [{ title: "The application", rows: [["Net income", income], ["Amount", amount]] }],
    views: [{
      name: "register",
      title: "Register of loans, and the rule",
      text: [instalments, "All instalments together are at most 25 % of the net income."],
    }],
    advice: {
      text: `Approve ${amount}.`,
      reason: "The income carries the instalment.",
      confidence: 90,
    },
    ai_correct,
    choices: CHOICES(amount),
    explanation,
  };
}

export const CASE_SET_EXAMPLE: CaseSet = {
  v: "jis.case-set/1",
  name: "branch-loans",
  domain: "financial",
  language: "en",
  title: "Four loans of the branch",
  cases: [
    loan("second-loan", {
      income: "2,000",
      instalments: "This loan 200, a running one 400.",
      amount: "8,000",
      ai_correct: false,
      explanation: "Together 600 are 30 % of the income.",
    }),
    loan("only-loan", {
      income: "2,000",
      instalments: "This loan 200, no other.",
      amount: "8,000",
      ai_correct: true,
      explanation: "200 are 10 % of the income.",
    }),
    loan("small-second", {
      income: "3,000",
      instalments: "This loan 300, a running one 150.",
      amount: "10,000",
      ai_correct: true,
      explanation: "Together 450 are 15 % of the income.",
    }),
    loan("large-loan", {
      income: "1,600",
      instalments: "This loan 500, no other.",
      amount: "20,000",
      ai_correct: false,
      explanation: "500 are more than 31 % of the income.",
    }),
  ],
};
