/**
 * The notice that a scored person gets with the data: its purpose, logic, retention and recipients, and how
 * to contest it. Every figure is that of the model and the configuration in use.
 * Source: Regulation (EU) 2016/679 (GDPR), Articles 13 to 15 and 22; docs/understand/scoring-model.md, Limits.
 */
import type { Scoring } from "../shared/capabilities.ts";
import type { RetentionDays } from "../shared/deployment.ts";
import type { SubjectNotice } from "../../domain/subject.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { truthNeeded } from "../../scoring/state.ts";

export interface NoticeOptions {
  /** The organization's name. */
  readonly organization: string;
  /** Hosts to which the organization has scores and decisions sent; each host once. */
  readonly receivers: readonly string[];
  readonly quote: SubjectNotice["contest"]["quote"];
}

export function subjectNotice(
  { model, auditRetentionDays, evidenceRetentionDays }: Scoring & RetentionDays,
  { organization, receivers, quote }: NoticeOptions,
): SubjectNotice {
  return {
    law:
      "Regulation (EU) 2016/679 (GDPR), Articles 13 to 15 (what you are told and given) and 22 (decisions made by a program alone). If another law applies to you, ask the organization which rights it gives you.",
    purpose:
      "The score says how independently you judge when an AI gives you a recommendation: whether you look at the case yourself, notice when the AI is wrong, and follow it when it is right. The service gives it to the organization to see that human review is real, to offer practice, and to send risky decisions to another pair of eyes.",
    recorded:
      "For each case: what you decided about the AI's recommendation, how long it took, what kind of case it was, and, if the organization measures it, how much of the evidence was looked at; later, if it becomes known, whether the decision proved right. From these come scores. What a case was about is not recorded, and neither is your name: only the id under which the organization sends your cases. Among your cases may be probes: made-up or closed cases whose truth was fixed beforehand, which are shown like any other and have no effect but on the score. Each is named here once it is decided; one that still waits for its decision is not.",
    source: `${organization} sent every record, from the program in which you review cases.`,
    logic: [...logicOf(model.document)],
    limits: [
      "The score must not be used alone for a decision against a person, such as on employment, pay, promotion, discipline or dismissal.",
      `Without cases whose truth is known it cannot tell careful review from a good imitation of it. A score that rests on too little is marked as provisional; fewer than ${
        truthNeeded(model.document)
      } cases of ${
        model.document.discrimination === undefined ? "" : "wrong advice whose "
      }known truth are reported as no_ground_truth_evidence.`,
      "After few cases a score is coarse: read the range around it, not the number.",
      model.document.discrimination === undefined
        ? "It was tested in simulation, which shows that it is consistent, not that it is right about a person."
        : "It was tested on people of published studies and in simulation. A few dozen cases tell people hardly apart.",
      "It measures how cases were reviewed. It says nothing about health, character or effort, and nothing about work outside these cases.",
    ],
    automated_decisions:
      "A program alone makes the score; it recommends practice and says which decisions somebody else should look at, and decides nothing about you. Under Article 22 nobody may take a decision with legal or similarly serious effects on you on the score alone, unless one of its exceptions applies; even then you can have a person look at it, say how you see it, and contest it.",
    recipients: recipientsOf(receivers),
    retention: {
      evidence_days: evidenceRetentionDays,
      access_days: auditRetentionDays,
      statement: retentionInWords({ auditRetentionDays, evidenceRetentionDays }),
    },
    contest: {
      steps: [
        `Ask ${organization} to have a person review the score, the decision or the record that you find wrong. Name it by its session_id or decision_id and by its number and hash; name yourself by the operator_id or the pseudonym below.`,
        "Say what is wrong and how you see it: a case that was not yours, a time that counts an interruption, an outcome that was judged wrongly. You can ask for wrong data to be set right (Article 16), and object to their use (Article 21).",
        "Ask for the result to be computed again: the organization can have any score or decision recomputed from what was recorded (GET /v1/decision/replay/ and its id), and whether it comes out the same is part of the answer.",
        "You can ask for everything here to be erased (Article 17; DELETE /v1/operator/ and your operator_id). Entries stay, but nobody can tell to whom they referred.",
        "You can complain to the data protection authority where you live, where you work, or where you think that the law was broken (Article 77).",
      ],
      quote,
    },
  };
}

function logicOf(model: ModelDocument): readonly string[] {
  return model.discrimination === undefined ? logicOfBuckets(model) : logicOfPosterior(model);
}

/** The logic of `jis-3`. */
function logicOfPosterior(
  { bands, thresholds, uncertainty, discrimination }: ModelDocument,
): readonly string[] {
  return [
    "Two things are estimated from your cases whose truth is known: how often you depart from the AI when it is wrong, and how often when it is right. The estimate begins with what people in published studies do, and moves with each such case. Cases whose truth is not known, and tests that you knew of, do not count.",
    "Following the AI when it is right counts as much as departing from it when it is wrong. Disagreeing by itself earns nothing, and neither does taking long.",
    `The score (JIS) says from 0 to 100 what your reviews add: ${thresholds.critical_jis} is nothing, ${thresholds.min_jis} is as much as a review costs, 100 is perfect. From ${bands.exemplary} it is called exemplary, from ${bands.proficient} proficient, from ${bands.adequate} adequate, below that at risk. Seven values (dimensions) stand beside it; four of them, such as the time that you take, are shown and decide nothing.`,
    `Around a score stands a range. By the service's own reckoning, what your cases show lies in it with a probability of ${
      Math.floor(100 * uncertainty.level)
    } percent. The fewer the cases whose truth is known, the wider it is.`,
    `The verdict says that you meet the threshold if the whole range is at ${thresholds.min_jis} or above, that you are below it if the whole range is below, and otherwise that it is undetermined. It is undetermined, too, as long as fewer than ${
      discrimination!.wrong_cases
    } cases of wrong advice are known. Undetermined is neither good nor bad. Work at high stakes, and in each field, is looked at by itself, and the worst part decides.`,
    DECISION_LOGIC,
  ];
}

const DECISION_LOGIC =
  "A decision score (0 to 1) says how risky one decision is: how likely it is to be wrong, and how much hangs on it. It reads your record and does not change it. It sends the decision nowhere (auto), to a review, to a review that must happen, or to somebody above (escalation).";

function logicOfBuckets({ bands, thresholds, uncertainty }: ModelDocument): readonly string[] {
  return [
    "Seven things are measured from 0 to 100: resisting wrong advice (deferral_resistance), noticing errors (error_detection), deciding well without the AI (independent_performance), taking the time and looking (deliberation_depth), carrying on well after an error (post_error_recalibration), being right in the field at hand (domain_confidence), and having a part of your own in the decision (decision_autonomy).",
    "Following the AI when it is right counts as much as departing from it when it is wrong. Disagreeing by itself earns nothing, and neither does taking long.",
    "Each case moves the values a little, grave cases more. If little is known about you, a value stays near the one with which everybody starts. Old cases count less and less.",
    `The score (JIS) is the weighted mean of the seven; the lite mode looks at three of them. From ${bands.exemplary} it is called exemplary, from ${bands.proficient} proficient, from ${bands.adequate} adequate, below that at risk. The organization is to act below ${thresholds.min_jis}, and at once below ${thresholds.critical_jis}.`,
    `Around a score stands a range. By the service's own reckoning, what your cases show lies in it with a probability of ${
      Math.floor(100 * uncertainty.level)
    } percent. The fewer the cases whose truth is known, the wider it is.`,
    DECISION_LOGIC,
  ];
}

function retentionInWords(
  { auditRetentionDays, evidenceRetentionDays }: RetentionDays,
): string {
  const evidence = evidenceRetentionDays === null
    ? "The records are kept until the organization sets a retention, or until you are erased"
    : `Each record is removed once it is ${evidenceRetentionDays} days old, or when you are erased`;
  return `${evidence}. The record that a copy was requested is kept for ${auditRetentionDays} days. The organization decides how long it keeps backups: ask for it.`;
}

/** A person must be told the recipients of the data (Article 15(1)(c)). */
function recipientsOf(receivers: readonly string[]): SubjectNotice["recipients"] {
  const others =
    "The organization must tell you to whom it shows any of it itself, for example to an auditor.";
  if (receivers.length === 0) {
    return {
      list: [],
      statement:
        `None: this installation passes none of it on. It answers only to the organization's keys and to the users to whom the organization gave an account. ${others}`,
    };
  }
  return {
    list: [...receivers],
    statement: `The organization has scores and risky decisions sent, as they are made, to its receivers at ${
      receivers.join(", ")
    }; its audit log says since when, and to which receivers they were sent before. This installation passes nothing else on, and answers only to the organization's keys and to the users to whom the organization gave an account. ${others}`,
  };
}
