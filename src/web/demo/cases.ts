/**
 * The twelve cases of the demo: written for it, about nobody, each to be checked against its own facts in under a
 * minute. The advice is wrong in four of them, in a way that the facts or the material beside them reveal.
 *
 * A visitor judges the first four of them, and the other eight if they like. The first four have as much wrong
 * advice as right, because both kinds of error count.
 *
 * Nothing on the surface of a case tells whether its advice is right: not the AI's confidence, not the number of
 * choices or of folded pieces, and no pattern in the order.
 *
 * Their order is fixed, because the score is made case by case: the same decisions give every visitor the
 * same score, "case 4" of a shared run is the same case for every reader, and the first case is an easy one.
 */
import type { Decision, ScenarioType } from "../../domain/enums.ts";
import type { Material, View } from "../shared/case_parts.tsx";

export interface Advice {
  readonly text: string;
  readonly reason: string;
  /** The AI's own confidence in percent: no sign of whether it is right. */
  readonly confidence: number;
  readonly isRight: boolean;
}

export interface Choice {
  readonly decision: Decision;
  readonly label: string;
  /**
   * For `modified`: the share of the advice that it replaces, 0 to 1. For an amount it is the share by which
   * the amount changes, for sentences the share that is replaced. For a decision it is a half for one of its
   * two parts, and a quarter for an added condition.
   */
  readonly extent?: number;
  /**
   * For `modified` and for a case without advice: true if the facts support it. For other choices it follows.
   */
  readonly isRight?: boolean;
}

export interface DemoCase {
  readonly id: string;
  readonly title: string;
  /** The decision to be made. */
  readonly task: string;
  readonly facts: readonly Material[];
  readonly views: readonly View[];
  /** null if the advice is withheld. */
  readonly advice: Advice | null;
  readonly scenario: ScenarioType;
  readonly choices: readonly Choice[];
  /** The right decision and how the material shows it; shown at the end. */
  readonly truth: string;
}

/**
 * The value of the field `outcome_correct` for a choice.
 *
 * Accepting is correct if the advice is right; declining it, deciding otherwise, and handing the case on are
 * correct if it is wrong: a case whose facts settle it as advised needed no second look (scoring model,
 * section 2.3). A change is as right as what it decides, and so is a decision without advice. A case without
 * advice that is handed on is not decided, and nobody knows how it ends: null.
 *
 * No choice has an exception: a departure whose outcome is false tells the model that the advice was right, and its
 * sentences would say so. If an expert would judge a choice otherwise, the choice is reworded.
 */
export function outcomeOf({ advice }: Pick<DemoCase, "advice">, choice: Choice): boolean | null {
  const isReferral = choice.decision === "deferred" || choice.decision === "escalated";
  if (advice === null) return isReferral ? null : choice.isRight === true;
  switch (choice.decision) {
    case "accepted":
      return advice.isRight;
    case "modified":
      return choice.isRight === true;
    default:
      return !advice.isRight;
  }
}

const TODAY: readonly [name: string, value: string] = ["Today", "3 June 2026"];

/** How many cases a visitor judges who asks for no more: the first ones of {@link CASES}. */
export const FIRST_CASES = 4;

export const CASES: readonly DemoCase[] = [
  {
    id: "invoice",
    title: "An invoice for the office",
    task: "An invoice came in. Decide what is paid.",
    facts: [
      {
        title: "Invoice 2026-0418, Okafor Office Supplies",
        rows: [
          ["12 seat cushions at 30.00", "360.00"],
          ["6 desk lamps at 75.00", "450.00"],
          ["3 wall shelves at 90.00", "270.00"],
          ["Total, delivery included", "1,080.00"],
        ],
      },
      {
        title: "Goods received",
        rows: [["Signed for", "22 May 2026"], TODAY],
        text: ["12 cushions, 6 lamps, 3 shelves, all undamaged."],
      },
    ],
    views: [
      {
        name: "order",
        title: "The order",
        rows: [
          ["Seat cushions", "12 at 30.00"],
          ["Desk lamps", "6 at 75.00"],
          ["Wall shelves", "3 at 90.00"],
          ["Delivery", "free from 500.00"],
        ],
      },
      {
        name: "terms",
        title: "The supplier's terms",
        text: ["Goods are paid within 30 days of delivery. Damage is reported within seven days."],
      },
    ],
    advice: {
      text: "Pay 1,080.00.",
      reason: "Quantities and prices are those of the order, everything was received, and the sum is right.",
      confidence: 96,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Pay 1,080.00" },
      {
        decision: "modified",
        label: "Pay 810.00 and leave out the shelves",
        extent: 0.25,
        isRight: false,
      },
      { decision: "rejected", label: "Do not pay; send the invoice back" },
      { decision: "deferred", label: "Ask the supplier for a new delivery note first" },
      { decision: "escalated", label: "Hand it to the head of purchasing" },
    ],
    truth: "360.00, 450.00 and 270.00 are 1,080.00; order, delivery and invoice agree.",
  },
  {
    id: "loan",
    title: "A loan application",
    task: "Mr Keller asks for 10,000 over 36 months. Decide on the loan.",
    facts: [
      {
        title: "The application",
        rows: [
          ["Net income", "2,400 a month, permanent employment since 2019"],
          ["Rent", "780 a month"],
          ["Instalment of this loan", "290 a month"],
          ["Purpose", "a used car"],
          TODAY,
        ],
      },
      {
        title: "Credit report of 1 June 2026",
        rows: [
          ["Late payments", "none in five years"],
          ["Running loans", "one, for furniture: 340 a month until March 2028"],
        ],
      },
    ],
    views: [
      {
        name: "policy",
        title: "The bank's lending rules",
        text: [
          "1. Applicants have a regular income and have been employed for at least twelve months.",
          "2. The instalments of all loans together, the new one included, are at most 25 % of the net income.",
          "3. No payment was late by more than 30 days in the last two years.",
          "4. Where a smaller loan keeps to these rules, it may be offered instead. A guarantor does not replace any of them.",
          "5. Rent is looked at only where it exceeds 40 % of the net income.",
        ],
      },
      {
        name: "offers",
        title: "Other amounts over 36 months",
        rows: [
          ["5,000", "145.00 a month"],
          ["7,500", "217.50 a month"],
          ["10,000", "290.00 a month"],
        ],
      },
    ],
    advice: {
      text: "Approve 10,000 over 36 months.",
      reason:
        "The instalment of 290 is 12 % of the net income, well under the limit of 25 %. Nothing was ever paid late.",
      confidence: 93,
      isRight: false,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Approve 10,000" },
      { decision: "modified", label: "Offer 7,500 instead", extent: 0.25, isRight: true },
      { decision: "modified", label: "Approve 10,000, with a guarantor", extent: 0.25, isRight: false },
      { decision: "overridden", label: "Refuse the loan" },
      { decision: "deferred", label: "Ask him first whether a smaller loan would do" },
      { decision: "escalated", label: "Hand it to the credit department" },
    ],
    truth:
      "The advice leaves out the furniture loan. 340 and 290 are 630, which is 26.25 % of 2,400 and over the limit of 25 %. With 7,500 it would be 557.50, or 23.2 %; that may be offered, or the loan refused.",
  },
  {
    id: "application",
    title: "A job application",
    task: "Maria Lindner applied as a warehouse clerk. Decide what she is answered.",
    facts: [
      {
        title: "What the post requires",
        text: [
          "Two years in a warehouse or in shipping, and a forklift licence that is valid on 1 July 2026. Whoever meets both is invited to an interview.",
        ],
      },
      {
        title: "Application 117",
        rows: [
          ["Name", "Maria Lindner"],
          ["Experience", "shipping clerk, September 2021 to April 2026"],
          ["Forklift licence", "FL-20931, see the register of licences"],
          ["Could begin", "1 July 2026"],
          TODAY,
        ],
      },
    ],
    views: [
      {
        name: "register",
        title: "Register of licences, extract",
        rows: [
          ["FL-20918, Lindemann, Jonas", "valid until 30 November 2026"],
          ["FL-20931, Lindner, Maria", "valid until 31 August 2027"],
          ["FL-20933, Lindner, Mario", "expired on 31 March 2025"],
          ["FL-20940, Lindqvist, Eva", "valid until 28 February 2028"],
        ],
      },
      {
        name: "letter",
        title: "Her letter",
        text: [
          "For almost five years I packed, labelled and booked up to eighty consignments a day, and drove the forklift for about half of my time. In April my firm moved to another city, and I stayed.",
        ],
      },
    ],
    advice: {
      text: "Send a refusal.",
      reason: "The experience suffices, but by the register the forklift licence expired on 31 March 2025.",
      confidence: 97,
      isRight: false,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Send a refusal" },
      {
        decision: "modified",
        label: "Refuse, and suggest to apply again with a new licence",
        extent: 0.25,
        isRight: false,
      },
      { decision: "rejected", label: "Do not send the refusal; have the application looked at again" },
      { decision: "overridden", label: "Invite her to an interview" },
      { decision: "escalated", label: "Hand it to the head of the warehouse" },
    ],
    truth:
      "The expired licence is that of Mario Lindner. Hers, FL-20931, is valid until August 2027: she meets both requirements, and is invited.",
  },
  {
    id: "post",
    title: "A post on a neighbourhood forum",
    task: "A post was reported by a reader. Decide whether it stays.",
    facts: [
      {
        title: "The post",
        text: [
          "“For the third week running the skip at 14 Mill Lane blocks half the pavement, and nobody at the building firm answers. I have a pram. It is plain lazy, and the council is asleep. If you are as fed up as I am, ring the site manager at home: Peter, 555 0148, he is up until ten.”",
        ],
      },
      { title: "The report", text: ["“Rude and unfair to the council.”"] },
    ],
    views: [
      {
        name: "rules",
        title: "The forum's rules",
        text: [
          "1. Criticism may be harsh. Firms, clubs and authorities have to bear it, fair or not.",
          "2. Insults of single persons are removed.",
          "3. Calls for violence are removed and reported.",
          "4. Private telephone numbers and home addresses of others are not posted, whether or not they agreed. Such a post is removed as a whole; moderators do not edit what members write. Its author is told why and may post it again without them.",
          "5. Advertising belongs in the market section.",
        ],
      },
      {
        name: "earlier",
        title: "Earlier posts of its author",
        rows: [
          ["On a broken street lamp", "not reported"],
          ["On the bins at the market", "reported as rude, and left as it was"],
        ],
      },
    ],
    advice: {
      text: "Remove the post and tell its author why.",
      reason:
        "The criticism would be allowed, but the post gives a named person's telephone number at home (rule 4).",
      confidence: 94,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Remove the post and tell its author why" },
      { decision: "modified", label: "Black out the number and leave the rest", extent: 0.5, isRight: false },
      { decision: "overridden", label: "Leave the post as it is" },
      { decision: "deferred", label: "Ask the author first whether Peter agreed" },
      { decision: "escalated", label: "Hand it to the head moderator" },
    ],
    truth:
      "Being rude to the council is allowed; the private number is not. Rule 4 removes the whole post, whether or not Peter agreed, and moderators do not edit.",
  },
  {
    id: "claim",
    title: "Water damage in a flat",
    task: "A policyholder reports water damage. Decide how much the insurer pays.",
    facts: [
      {
        title: "The claim",
        rows: [
          ["Cause", "a water hose under the kitchen sink burst"],
          ["Happened", "18 May 2026"],
          ["Reported", "22 May 2026"],
          ["Repair of the floor, by the floor layer's bill", "1,000.00"],
          TODAY,
        ],
      },
      {
        title: "What the policyholder writes",
        text: [
          "When I came home in the evening the kitchen floor was under water. I turned off the main tap at once and mopped up; the fitter put in a new hose the next day at his own cost. The laminate had to be taken out and laid anew on about six square metres. Kitchen and floor were fitted in January, which I paid for myself; the bills are enclosed.",
        ],
      },
      {
        title: "The policy",
        rows: [["Household contents and fittings", "in force since 1 January 2024, premiums paid"], [
          "Deductible",
          "200.00 for each claim",
        ]],
      },
    ],
    views: [
      {
        name: "terms",
        title: "Terms of insurance",
        text: [
          "1. What is insured. Damage to contents and to fixed fittings of the insured flat by mains water that escapes against its purpose. Fixed fittings are floors, kitchens and wall coverings that the policyholder paid for or is liable for.",
          "2. What is not insured. Damage by rain, by groundwater, by water from aquariums or water beds, and by slow seepage over more than four weeks.",
          "3. Duties before damage. Pipes and hoses are kept in working order. Flats that stand empty for more than 60 days are drained.",
          "4. Duties after damage. The policyholder keeps the damage small, and reports it within seven days of learning of it.",
          "5. What is paid. The necessary cost of repairing what the water damaged, less the deductible. The age of a floor is not deducted where it is younger than ten years.",
          "6. What shortens a payment. Where a duty was breached by gross negligence, the payment may be shortened by as much as the breach weighs.",
        ],
      },
      {
        name: "inspection",
        title: "The assessor's note",
        text: [
          "Kitchen and floor were fitted in January 2026. A new flexible hose broke where it was pressed together when it was made; nobody could see that. No sign of older moisture. Photographs are on file. The cost of repair is in line with the area affected.",
        ],
      },
    ],
    advice: {
      text: "Pay 800.00.",
      reason:
        "Sudden escape of mains water, reported after four days. 1,000.00 less the deductible of 200.00; the floor is too new for a deduction.",
      confidence: 88,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Pay 800.00" },
      { decision: "modified", label: "Pay 1,000.00", extent: 0.25, isRight: false },
      { decision: "modified", label: "Pay 400.00, for negligence", extent: 0.5, isRight: false },
      { decision: "overridden", label: "Refuse the claim" },
      { decision: "deferred", label: "Ask for photographs of the floor first" },
      { decision: "escalated", label: "Hand it to a senior adjuster" },
    ],
    truth:
      "The water from a broken hose damaged the floor, which is insured; it was reported in time, and nothing shortens the payment: 1,000.00 less 200.00 is 800.00, as advised.",
  },
  {
    id: "appointment",
    title: "An eye check",
    task: "Mrs Sato asks for her yearly eye check. Decide which appointment she is offered.",
    facts: [
      {
        title: "Her request",
        text: [
          "“As every year I would like to have my eyes checked. Tuesdays suit me best, in the morning.”",
        ],
      },
      {
        title: "On file",
        rows: [["Last yearly check", "16 June 2025"], ["Complaints", "none"], TODAY],
      },
      {
        title: "Free appointments of 20 minutes",
        rows: [
          ["Tuesday 9 June 2026", "9:40"],
          ["Tuesday 16 June 2026", "15:20"],
          ["Tuesday 23 June 2026", "10:00"],
          ["Thursday 25 June 2026", "8:20"],
        ],
      },
    ],
    views: [
      {
        name: "rules",
        title: "How the practice books",
        text: [
          "A yearly check takes 20 minutes and is booked for the day twelve months after the last one at the earliest, since it is not reimbursed before.",
          "Whoever has complaints is not booked by this list but rung back on the same day.",
          "Wishes for a day and a time are met where they can be within four weeks.",
        ],
      },
    ],
    advice: {
      text: "Offer Tuesday 23 June 2026, 10:00.",
      reason:
        "The earliest Tuesday morning on which twelve months have passed. 9 June would be too early, 16 June is only free in the afternoon.",
      confidence: 98,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Offer 23 June, 10:00" },
      { decision: "modified", label: "Offer 9 June, 9:40", extent: 1, isRight: false },
      { decision: "modified", label: "Offer 16 June, 15:20", extent: 1, isRight: false },
      { decision: "deferred", label: "Ask her for other days first" },
      { decision: "escalated", label: "Hand it to the doctor" },
    ],
    truth:
      "Twelve months have passed from 16 June on; the first free Tuesday morning after that is 23 June, as advised.",
  },
  {
    id: "essay",
    title: "A student's essay",
    task: "A student handed in an essay. Decide on it on your own: the AI's advice is withheld.",
    facts: [
      {
        title: "The marks, by the examiner",
        rows: [
          ["Question and argument", "4 of 5"],
          ["Sources", "2 of 5"],
          ["Structure", "4 of 5"],
          ["Language", "5 of 5"],
        ],
      },
      {
        title: "The examiner's remark",
        text: [
          "A lively essay with a clear thread. Two of the five sources cannot be found, and one quotation has no page. Handed in on time, and for the first time.",
        ],
      },
    ],
    views: [
      {
        name: "rules",
        title: "The examination rules",
        text: [
          "1. An essay passes with 12 of 20 points.",
          "2. Where it has fewer than 3 points for its sources, it does not pass yet, whatever the sum: it is returned once, for revision within four weeks.",
          "3. It fails with fewer than 8 points, or where it is not revised in time.",
        ],
      },
    ],
    advice: null,
    scenario: "ai_withheld",
    choices: [
      // Without advice there is nothing to accept or to refuse: an own decision is sent as `accepted` (docs/integrate/send-reviews.md).
      { decision: "accepted", label: "Pass it", isRight: false },
      { decision: "accepted", label: "Return it for revision", isRight: true },
      { decision: "accepted", label: "Fail it", isRight: false },
      { decision: "escalated", label: "Hand it to the examination board" },
    ],
    truth:
      "4, 2, 4 and 5 are 15 points, which would pass; but with 2 points for its sources it is returned for revision by rule 2.",
  },
  {
    id: "customs",
    title: "A customs value",
    task: "A consignment is declared at the border. Decide on its customs value.",
    facts: [
      {
        title: "The consignment",
        rows: [
          ["Goods", "40 ceramic table lamps at 45.00"],
          ["Price of the goods", "1,800.00"],
          ["Freight to the border", "675.00"],
          ["Insurance of the transport", "25.00"],
          ["Freight from the border to the warehouse", "100.00"],
        ],
      },
      {
        title: "Papers",
        text: [
          "Commercial invoice, freight bill and insurance slip are enclosed and agree with the declaration.",
        ],
      },
    ],
    views: [
      {
        name: "freight",
        title: "Freight bill",
        rows: [
          ["Air freight and handling to the border", "675.00"],
          ["Lorry from the border to the warehouse", "100.00"],
          ["Total", "775.00"],
        ],
      },
      {
        name: "rules",
        title: "What belongs to the value",
        text: [
          "The customs value is the price of the goods, with the cost of freight and of insurance up to the border. What is carried beyond the border is left out where it is shown apart.",
        ],
      },
    ],
    advice: {
      text: "Customs value 2,000.00.",
      reason:
        "Price of the goods 1,800.00, freight to the border 175.00, insurance 25.00. The freight beyond the border is left out.",
      confidence: 94,
      isRight: false,
    },
    // A planted error, as an employer would plant it: its author knows that the advice is wrong, whatever the
    // outcome.
    scenario: "error_injected",
    choices: [
      { decision: "accepted", label: "Set the value at 2,000.00" },
      { decision: "modified", label: "Set the value at 2,500.00", extent: 0.25, isRight: true },
      { decision: "modified", label: "Set the value at 2,600.00", extent: 0.3, isRight: false },
      { decision: "rejected", label: "Do not set 2,000.00; have the value worked out anew" },
      { decision: "escalated", label: "Hand it to the valuation office" },
    ],
    truth:
      "The freight to the border is 675.00, not 175.00: 1,800.00, 675.00 and 25.00 are 2,500.00. This error was planted, as reviewers are tested at work.",
  },
  {
    id: "translation",
    title: "A sign for a museum",
    task: "A sign was translated from Spanish. Decide whether it goes to the printer.",
    facts: [
      {
        title: "The sign in Spanish",
        text: [
          "Cerrado los lunes.",
          "Abierto de martes a domingo, de 10 a 18 horas.",
          "Entrada gratuita para menores de 12 años.",
          "Última entrada: 45 minutos antes del cierre.",
        ],
      },
      {
        title: "The translation, by the AI",
        text: [
          "Closed on Mondays.",
          "Open Tuesday to Sunday, 10 a.m. to 6 p.m.",
          "Free entry for children under 12.",
          "Last entry 45 minutes before closing.",
        ],
      },
    ],
    views: [
      {
        name: "words",
        title: "Words",
        rows: [
          ["cerrado, abierto, cierre", "closed, open, closing"],
          ["lunes, martes, domingo", "Monday, Tuesday, Sunday"],
          ["entrada gratuita", "free entry"],
          ["menores de 12 años", "those under the age of 12"],
          ["última, antes de", "last, before"],
        ],
      },
    ],
    advice: {
      text: "Print the translation as it stands.",
      reason: "Days, hours, age and the last entry agree with the original.",
      confidence: 85,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Print it as it stands" },
      { decision: "modified", label: "Write “up to 12” for “under 12”", extent: 0.25, isRight: false },
      { decision: "modified", label: "Write “8 p.m.” for “6 p.m.”", extent: 0.25, isRight: false },
      { decision: "rejected", label: "Do not print it" },
      { decision: "deferred", label: "Ask the museum first" },
    ],
    truth: "Every line agrees with the original: 18 horas is 6 p.m., and “menores de 12” are those under 12.",
  },
  {
    id: "lift",
    title: "A lift and its inspection",
    task: "The lift in Block C is up for its monthly review. Decide whether it stays in service.",
    facts: [
      {
        title: "Lift C-1",
        rows: [["Built", "2014"], ["Floors", "6"], ["Complaints this month", "none"], TODAY],
      },
      {
        title: "The latest entries of its log",
        rows: [
          ["16 May 2023", "inspection by the testing body, passed"],
          ["30 October 2023", "call-out: lamp in the cabin replaced"],
          ["14 May 2024", "inspection by the testing body, passed"],
          ["3 September 2024", "call-out: button on floor 4 replaced"],
          ["13 May 2025", "inspection by the testing body, passed"],
          ["19 January 2026", "call-out: guide rails cleaned and oiled"],
          ["21 April 2026", "call-out: door sensor adjusted, door tested"],
        ],
      },
    ],
    views: [
      {
        name: "rules",
        title: "Rules of operation",
        text: [
          "1. A lift is inspected by the testing body at least every twelve months. Work by the maintenance firm is no inspection.",
          "2. A lift whose inspection is overdue is taken out of service until it has been inspected.",
          "3. Call-outs are entered in the log by whoever did the work.",
        ],
      },
      {
        name: "firm",
        title: "Letter of the maintenance firm",
        text: [
          "On 21 April 2026 our technician adjusted and tested the door sensor of lift C-1. We found the lift in good order.",
        ],
      },
    ],
    advice: {
      text: "Keep the lift in service. Next inspection by 21 April 2027.",
      reason: "It was last tested on 21 April 2026 and found in good order; twelve months are not over.",
      confidence: 86,
      isRight: false,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Keep it in service, next inspection by 21 April 2027" },
      {
        decision: "modified",
        label: "Keep it in service, inspection within a month",
        extent: 0.5,
        isRight: false,
      },
      { decision: "overridden", label: "Take it out of service and order an inspection" },
      { decision: "deferred", label: "Ask the testing body first when it was last here" },
      { decision: "escalated", label: "Hand it to the safety officer" },
    ],
    truth:
      "The visit in April 2026 was a repair. The last inspection was on 13 May 2025, so that the next was due by 13 May 2026 and is overdue.",
  },
  {
    id: "refund",
    title: "Headphones sent back",
    task: "A customer sent back an order and wants the money. Decide what is refunded.",
    facts: [
      {
        title: "The order",
        rows: [
          ["Headphones", "90.00"],
          ["Standard delivery", "10.00"],
          ["Ordered", "2 May 2026"],
          ["Delivered", "9 May 2026"],
          ["Sent back", "21 May 2026, postage paid by the customer: 5.00"],
          TODAY,
        ],
      },
      {
        title: "What arrived",
        text: ["Box opened, headphones without a mark, cable and case complete."],
      },
    ],
    views: [
      {
        name: "terms",
        title: "Terms of sale: sending back",
        text: [
          "1. Customers may send an order back without giving a reason within 14 days. The time begins on the day after delivery.",
          "2. We refund the price and the cost of standard delivery.",
          "3. Customers pay the postage for sending it back.",
          "4. Less is refunded where goods lost value because they were used beyond trying them out.",
        ],
      },
      {
        name: "parcels",
        title: "The parcels",
        rows: [
          ["Handed over to the customer", "9 May 2026"],
          ["Handed in for its return", "21 May 2026"],
          ["Arrived back here", "23 May 2026"],
        ],
      },
    ],
    advice: {
      text: "Refund 100.00.",
      reason:
        "Sent back 12 days after delivery and without loss of value: 90.00 and 10.00 for the delivery. The return postage stays with the customer.",
      confidence: 89,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Refund 100.00" },
      { decision: "modified", label: "Refund 90.00, without the delivery", extent: 0.1, isRight: false },
      { decision: "modified", label: "Refund 105.00, with the return postage", extent: 0.05, isRight: false },
      { decision: "overridden", label: "Refund nothing: 19 days are too late" },
      { decision: "deferred", label: "Ask why the box was opened first" },
    ],
    truth:
      "The 14 days run from delivery, not from the order, and were kept. Price and standard delivery are 100.00, as advised.",
  },
  {
    id: "permit",
    title: "A parking permit",
    task: "A resident asks for a parking permit. Decide on it.",
    facts: [
      {
        title: "The request",
        rows: [
          ["Resident", "Lena Horvat, 3 Station Road (zone B) since 1 April 2026"],
          ["Car", "registered to Novak Engineering Ltd"],
          ["Permits at this address", "one, of another resident"],
          ["Enclosed", "registration, confirmation of residence, letter of the employer"],
          TODAY,
        ],
      },
      {
        title: "The employer's letter",
        text: [
          "“We leave the car with the registration KR 482 to our employee Lena Horvat for good, for private journeys too. Novak Engineering Ltd, 20 May 2026.”",
        ],
      },
    ],
    views: [
      {
        name: "rules",
        title: "Who gets a permit",
        text: [
          "1. Residents of a zone get one permit each, for a car that is registered to them.",
          "2. A car of an employer counts as the resident's own where a letter of the employer, not older than three months, says that it may be used privately for good.",
          "3. There are at most two permits for an address.",
          "4. Permits are for one zone and one year.",
        ],
      },
      {
        name: "registration",
        title: "Registration",
        rows: [["Number", "KR 482"], ["Holder", "Novak Engineering Ltd"], [
          "Weight",
          "1,640 kg, passenger car",
        ]],
      },
    ],
    advice: {
      text: "Grant a permit for zone B for one year.",
      reason:
        "She lives in the zone, the employer's letter is recent and allows private use, and it is the second permit at the address.",
      confidence: 93,
      isRight: true,
    },
    scenario: "standard",
    choices: [
      { decision: "accepted", label: "Grant it for zone B for one year" },
      {
        decision: "modified",
        label: "Grant it for three months, until the car is hers",
        extent: 0.5,
        isRight: false,
      },
      { decision: "overridden", label: "Refuse it: the car is not hers" },
      { decision: "deferred", label: "Ask for another letter of the employer first" },
      { decision: "escalated", label: "Hand it to the head of the permit office" },
    ],
    truth:
      "By rule 2 the employer's car counts as hers: the letter is two weeks old and allows private use. One permit is left at the address.",
  },
];
