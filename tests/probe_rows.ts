/**
 * Programmes of probes, honest ones and those of an administrator who holds the signing key: a draw that went badly is
 * dropped, a probe is sealed after the fact, somebody draws again until it suits, another truth is opened.
 *
 * As in tests/tamper_rows.ts the rows are run by the product's verifier and by the independent one.
 */
import type { Interaction } from "../src/domain/interaction.ts";
import { hex, utf8 } from "../src/evidence/crypto.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import {
  dayOf,
  type Draw,
  drawOf,
  placeIn,
  PROBE_DETAILS,
  probeCommitment,
  type ProbeDetail,
  type ProbeEvent,
  type ProbePolicy,
  seedCommitment,
} from "../src/evidence/probes.ts";
import { buildWorld, type ChainWriter, type World } from "./bundle_builder.ts";
import { forged, type Json, type OpenBundle, prunedTo, putTogether, takeApart } from "./bundle_tampering.ts";
import { type Expectation, INTACT, type Row, tampered } from "./verification.ts";

const DAY_MS = 86_400_000;
const POLICY: ProbePolicy = { enabled: true, rate: 0.1, highest_share: 0.1, minimum: 0, ticket_minutes: 60 };

/** A probe that waits for its decision. */
interface Open {
  readonly probeId: string;
  readonly operator: string;
  readonly session: string;
  readonly expiresAt: string;
}

/** An organization's chain on which a programme of probes runs, as the service writes it. */
class Programme {
  readonly world: World;
  readonly chain: ChainWriter;
  readonly #truths = new Map<string, boolean>();
  readonly stock: string[] = [];
  policy = POLICY;
  #day = "";
  #probeSessions = 0;

  constructor({ step = 1_000 } = {}) {
    this.world = buildWorld({ step });
    this.chain = this.world.chain("org/acme");
  }

  append<Event extends ProbeEvent>(
    eventType: Event,
    content: ProbeDetail<Event>,
    { subject = null as string | null, actor = "api" as "api" | "system" | "self_serve" } = {},
  ): number {
    const name = eventType === "PROBE_ASSIGNED" ? "input" : "detail";
    return this.chain.append({ eventType, actor, subject, parts: { [name]: content } });
  }

  setPolicy(changes: Partial<ProbePolicy> = {}): number {
    this.policy = { ...POLICY, ...changes };
    return this.append("PROBE_POLICY_CHANGED", this.policy);
  }

  seed(day = this.#day): Uint8Array {
    return nodeCrypto.sha256(utf8(`seed of ${day}`));
  }

  startDay(changes: Partial<ProbeDetail<"PROBE_SEED_COMMITTED">> = {}): number {
    this.#day = dayOf(this.world.now);
    const commitment = seedCommitment(nodeCrypto, this.#day, this.seed());
    const content = { day: this.#day, commitment, policy: this.policy, ...changes };
    return this.append("PROBE_SEED_COMMITTED", content, { actor: "system" });
  }

  endDay(changes: Partial<ProbeDetail<"PROBE_SEED_OPENED">> = {}): number {
    this.world.now += DAY_MS;
    const content = { day: this.#day, seed: hex(this.seed()), ...changes };
    return this.append("PROBE_SEED_OPENED", content, { actor: "system" });
  }

  seal(probe_id: string, aiCorrect = false, changes: Partial<ProbeDetail<"PROBE_SEALED">> = {}): number {
    this.#truths.set(probe_id, aiCorrect);
    this.stock.push(probe_id);
    const { ai_correct: _, salt, reference } = this.opening(probe_id);
    const truth = { probe_id, ai_correct: aiCorrect, reference };
    const commitment = probeCommitment(nodeCrypto, Uint8Array.fromHex(salt), truth);
    const content = { probe_id, domain: "general", stakes: "standard", commitment, ...changes } as const;
    return this.append("PROBE_SEALED", content);
  }

  opening(probe_id: string): ProbeDetail<"PROBE_LOST"> {
    const salt = hex(nodeCrypto.sha256(utf8(`salt of ${probe_id}`)));
    return {
      probe_id,
      salt,
      ai_correct: this.#truths.get(probe_id) ?? false,
      reference: `case of ${probe_id}`,
    };
  }

  drawOf(operator: string, session: string): Draw {
    return drawOf(nodeCrypto, this.seed(), { operatorId: operator, sessionId: session });
  }

  /** A session before which a probe is due, or none is. */
  session(operator: string, isDue = true, prefix = "case"): string {
    for (let number = 0;; number += 1) {
      const session = `${prefix}-${number}`;
      if ((this.drawOf(operator, session).chance < this.policy.rate) === isDue) return session;
    }
  }

  /** Draws for a case before which a probe is due. */
  draw(
    operator = "ada",
    session = this.session(operator),
    changes: Partial<ProbeDetail<"PROBE_DRAWN">> = {},
    assignment: Partial<ProbeDetail<"PROBE_ASSIGNED">> = {},
  ): Open {
    const { stock } = this;
    const drawn = stock[placeIn(stock.length, this.drawOf(operator, session))] ?? null;
    const content = {
      day: this.#day,
      domain: "general",
      stakes: "standard",
      share: this.policy.rate,
      stock: stock.length,
      probe_id: drawn,
      ...changes,
    } as const;
    this.append("PROBE_DRAWN", content);
    const probeId = content.probe_id;
    if (probeId !== null && stock.includes(probeId)) stock.splice(stock.indexOf(probeId), 1);
    this.#probeSessions += 1;
    const probeSession = `probe-session-${this.#probeSessions}`;
    const expiresAt = new Date(this.world.now + this.policy.ticket_minutes * 60_000).toISOString();
    this.append("PROBE_ASSIGNED", {
      operator_id: operator,
      session_id: session,
      probe_id: probeId,
      probe_session_id: probeId === null ? null : probeSession,
      expires_at: probeId === null ? null : expiresAt,
      ...assignment,
    }, { subject: this.chain.pseudonymOf(operator) });
    return { probeId: probeId ?? "", operator, session: probeSession, expiresAt };
  }

  /** Scores the decision of a probe; the score's seq. */
  score({ probeId, operator, session }: Open, interaction: Partial<Interaction> = {}): number {
    const { ai_correct } = this.opening(probeId);
    return this.chain.score(operator, {
      session,
      interaction: {
        decision: "rejected",
        scenario_type: "standard",
        ai_correct,
        outcome_correct: !ai_correct,
        sealed_probe: true,
        ...interaction,
      },
    });
  }

  /** Scores and opens a probe; the opening's seq. */
  decide(open: Open, changes: Partial<ProbeDetail<"PROBE_OPENED">> = {}): number {
    this.score(open);
    return this.append("PROBE_OPENED", { ...this.opening(open.probeId), ...changes });
  }

  /** Scores a case that the operator knows to be an exercise; its seq. */
  announced(operator: string, session: string): number {
    const interaction = {
      decision: "rejected",
      scenario_type: "calibration",
      outcome_correct: true,
    } as const;
    return this.chain.score(operator, { session, interaction });
  }

  /** Scores a live case; its seq. */
  live(operator: string, session: string): number {
    return this.chain.score(operator, {
      session,
      interaction: { decision: "accepted", scenario_type: "standard", outcome_correct: null },
    });
  }
}

/** A programme that is on, with ten probes and the seed of its day: entries 0 to 12. */
function begun(options: ConstructorParameters<typeof Programme>[0] = {}): Programme {
  const programme = new Programme(options);
  programme.setPolicy();
  programme.startDay();
  for (let number = 0; number < 10; number += 1) programme.seal(`probe-${number}`, number % 2 === 1);
  return programme;
}

/** The file of what a play does to a programme. */
function played(play: (programme: Programme) => void): string {
  const programme = begun();
  play(programme);
  return programme.chain.bundle();
}

const said = (findings: readonly string[]): Expectation => ({ ...INTACT, findings });
const mismatch = (...seqs: readonly number[]) =>
  tampered(seqs.map((seq) => `PROBE_MISMATCH@${seq}`), seqs[0]!);

/** A probe that is drawn at 13 and 14, decided at 15 and 16, and the case after it at 17. */
function honest(programme: Programme): void {
  const session = programme.session("ada");
  const open = programme.draw("ada", session);
  programme.decide(open);
  programme.live("ada", session);
}

const HONEST = played((programme) => {
  honest(programme);
  programme.endDay();
});

/** Removes entries, and mends everything else as the holder of the signing key can. */
function without(text: string, isDropped: (entry: Json, index: number) => boolean): string {
  return forged(text, (open: OpenBundle) => {
    open.groups = open.groups.filter(({ entry }, index) => !isDropped(entry, index));
    for (const [seq, group] of open.groups.entries()) {
      group.entry.seq = seq;
      for (const part of group.parts) part.seq = seq;
    }
  }, { commitments: true, links: true, priors: true, signers: buildWorld().signers });
}

/** Two days of probes, of which one is recalled and one is lost. */
export const TWO_DAYS = played((programme) => {
  honest(programme);
  const lost = programme.draw("ben", programme.session("ben", true, "other"));
  programme.append("PROBE_RECALLED", { ...programme.opening(programme.stock[0]!), reason: "request" });
  programme.stock.shift();
  programme.world.now += 3_600_000;
  programme.append("PROBE_LOST", programme.opening(lost.probeId), { actor: "system" });
  programme.endDay();
  programme.startDay();
  programme.decide(programme.draw("ada", programme.session("ada", true, "next")));
  programme.live("ada", programme.session("ada", false, "plain"));
  programme.endDay();
});

const FIRST_OF_EACH_EVENT = Object.keys(PROBE_DETAILS).map((event) =>
  [event, takeApart(TWO_DAYS).groups.findIndex(({ entry }) => entry.event_type === event)] as const
);

/** The same bundle, with the content of some entries withheld. */
export function withheld(text: string, isWithheld: (seq: number) => boolean): string {
  return forged(text, ({ groups }) => {
    for (const group of groups.filter(({ entry }) => isWithheld(entry.seq))) {
      group.parts = group.parts.map(({ kind, seq, name }) => ({ kind, seq, name, withheld: true }));
    }
  });
}

/** The same chain without its first entries, and without a record of their removal. */
export function cut(text: string, size: number): string {
  return putTogether(prunedTo(text, size, buildWorld().signers));
}

const NOT_CLOSED = played((programme) => {
  const session = programme.session("ada");
  programme.draw("ada", session);
  programme.live("ada", session);
  programme.endDay();
});

const NOT_DUE = played((programme) => {
  programme.decide(programme.draw("ada", programme.session("ada", false)));
  programme.endDay();
});

const TWICE_DRAWN = played((programme) => {
  const open = programme.draw("ada", programme.session("ada"));
  programme.decide(open);
  const again = programme.session("ben", true, "again");
  programme.decide(programme.draw("ben", again, { probe_id: open.probeId }));
  programme.endDay();
});

/** The lost probe of the second day. */
const LOST = "PROBE_SELECTION@21";

export const PROBE_ROWS: readonly Row[] = [
  { name: "a day of probes, sealed, drawn, decided and opened, is intact", text: HONEST, ...INTACT },
  {
    name: "two days of probes, with a recalled one, are intact, and the lost one is told",
    text: TWO_DAYS,
    ...said([LOST]),
  },
  ...FIRST_OF_EACH_EVENT.map(([event, seq]): Row => ({
    name: `a withheld ${event} is counted, and nothing that follows from it is held against anybody`,
    text: withheld(TWO_DAYS, (at) => at === seq),
    ...said([...(event === "PROBE_LOST" ? [] : [LOST]), `PROBE_UNCOMPARED@${seq}`]),
    exit: 2,
  })),
  {
    name: "a bundle without any content says nothing of probes but that they are not compared",
    text: withheld(TWO_DAYS, () => true),
    ...said(["PROBE_UNCOMPARED@1"]),
    exit: 2,
  },
  {
    name: "a cut bundle still has faults of its own: a probe that was drawn twice",
    text: cut(TWICE_DRAWN, 12),
    ...tampered(["PROBE_MISMATCH@17", "PROBE_UNCOMPARED@12", "PRUNED_PREFIX_UNPROVEN[0,11]"], 17),
  },
  {
    name: "a cut bundle still has faults of its own: a drawn probe that was not closed",
    text: cut(NOT_CLOSED, 12),
    ...tampered(["PROBE_MISMATCH@13", "PROBE_UNCOMPARED@12", "PRUNED_PREFIX_UNPROVEN[0,11]"], 13),
  },
  {
    name: "a cut bundle still has faults of its own: a draw that was not due",
    text: cut(NOT_DUE, 12),
    ...tampered(["PROBE_MISMATCH@13", "PROBE_UNCOMPARED@12", "PRUNED_PREFIX_UNPROVEN[0,11]"], 13),
  },
  {
    name: "draws of a day whose seed is not opened yet are counted",
    text: played(honest),
    ...said(["PROBE_UNCOMPARED@13"]),
  },
  {
    name: "a case before which a probe was due, and for which nobody asked, is told",
    text: played((programme) => {
      programme.live("ada", programme.session("ada"));
      programme.live("ada", programme.session("ada", false));
      programme.endDay();
    }),
    ...said(["PROBE_LEFT_OUT@13"]),
  },
  {
    name: "an administrator who drops a draw that went badly, with its decision, is found by its case",
    text: without(HONEST, (_, index) => index >= 13 && index <= 16),
    ...tampered(["STATE_MISMATCH@13", "PROBE_LEFT_OUT@13"], 13),
  },
  {
    name: "an administrator who drops the decision of a drawn probe is found",
    text: without(HONEST, (_, index) => index === 15 || index === 16),
    ...tampered(["STATE_MISMATCH@15", "PROBE_MISMATCH@13"], 13),
  },
  {
    name: "a drawn probe that is neither decided nor recorded as lost is found once the day is over",
    text: NOT_CLOSED,
    ...mismatch(13),
  },
  {
    name: "an administrator who drops the opening of a decided probe is found",
    text: without(HONEST, (_, index) => index === 16),
    ...tampered(["PROBE_MISMATCH@15", "PROBE_MISMATCH@13"], 13),
  },
  {
    name: "a probe that is sealed after it was drawn is found",
    text: played((programme) => {
      const open = programme.draw("ada", programme.session("ada"), { probe_id: "late" });
      programme.seal("late");
      programme.decide(open);
      programme.endDay();
    }),
    ...mismatch(13, 17),
  },
  {
    name: "a probe that is sealed a second time, with another truth, is found",
    text: played((programme) => {
      programme.stock.pop();
      programme.seal("probe-9", false);
      programme.endDay();
    }),
    ...mismatch(13),
  },
  {
    name: "a second draw for one session is found",
    text: played((programme) => {
      const session = programme.session("ada");
      const first = programme.draw("ada", session);
      programme.append("PROBE_RECALLED", { ...programme.opening(first.probeId), reason: "request" });
      programme.decide(programme.draw("ada", session));
      programme.endDay();
    }),
    ...tampered(["PROBE_MISMATCH@17", "PROBE_SELECTION@15"], 17),
  },
  {
    name: "a draw after its case was scored is found",
    text: played((programme) => {
      const session = programme.session("ada");
      programme.live("ada", session);
      programme.decide(programme.draw("ada", session));
      programme.endDay();
    }),
    ...mismatch(15),
  },
  {
    name: "a draw for a session before which no probe was due is found",
    text: NOT_DUE,
    ...mismatch(13),
  },
  {
    name: "another probe than the one that the seed draws is found",
    text: played((programme) => {
      const session = programme.session("ada");
      const place = placeIn(10, programme.drawOf("ada", session));
      programme.decide(programme.draw("ada", session, { probe_id: `probe-${(place + 1) % 10}` }));
      programme.endDay();
    }),
    ...mismatch(13),
  },
  {
    name: "a draw that tells another number of probes is found",
    text: played((programme) => {
      const session = programme.session("ada");
      const drawn = `probe-${placeIn(10, programme.drawOf("ada", session))}`;
      programme.decide(programme.draw("ada", session, { stock: 11, probe_id: drawn }));
    }),
    ...tampered(["PROBE_MISMATCH@13", "PROBE_UNCOMPARED@13"], 13),
  },
  {
    name: "a draw without a probe, while there were some, is found",
    text: played((programme) => {
      programme.draw("ada", programme.session("ada"), { probe_id: null, stock: 0 });
    }),
    ...tampered(["PROBE_MISMATCH@13", "PROBE_UNCOMPARED@13"], 13),
  },
  {
    name: "a draw by a share that is not the operator's is found",
    text: played((programme) => {
      programme.decide(programme.draw("ada", programme.session("ada"), { share: 0.2 }));
      programme.endDay();
    }),
    ...mismatch(13),
  },
  {
    name: "a draw under the seed of a day that is over is found",
    text: played((programme) => {
      programme.endDay();
      programme.decide(programme.draw("ada", programme.session("ada")));
    }),
    ...mismatch(14),
  },
  {
    name: "a probe that is opened to another truth is found",
    text: played((programme) => {
      const open = programme.draw();
      const { ai_correct } = programme.opening(open.probeId);
      programme.score(open, { ai_correct: !ai_correct, outcome_correct: ai_correct });
      programme.append("PROBE_OPENED", { ...programme.opening(open.probeId), ai_correct: !ai_correct });
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a score that was made with another truth than the opened one is found",
    text: played((programme) => {
      const open = programme.draw();
      const { ai_correct } = programme.opening(open.probeId);
      programme.score(open, { ai_correct: !ai_correct, outcome_correct: ai_correct });
      programme.append("PROBE_OPENED", programme.opening(open.probeId));
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a score of other stakes than the probe's is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.score(open, { scenario_type: "critical" });
      programme.append("PROBE_OPENED", programme.opening(open.probeId));
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a score of another session than the drawn one is found",
    text: played((programme) => {
      programme.decide({ ...programme.draw(), session: "another" });
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a probe that is opened a second time is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.decide(open);
      programme.decide({ ...open, session: "again" });
      programme.endDay();
    }),
    ...mismatch(18),
  },
  {
    name: "a probe that is opened without a draw is found",
    text: played((programme) => {
      programme.decide({ probeId: "probe-3", operator: "ada", session: "chosen", expiresAt: "" });
      programme.endDay();
    }),
    ...mismatch(14),
  },
  {
    name: "a probe that is opened after the score of a live case is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.live("ada", open.session);
      programme.append("PROBE_OPENED", programme.opening(open.probeId));
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a probe that is decided after its time is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.world.now += 3_600_000;
      programme.decide(open);
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a probe that is called lost before its time is over is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.append("PROBE_LOST", programme.opening(open.probeId), { actor: "system" });
      programme.endDay();
    }),
    ...tampered(["PROBE_MISMATCH@15", "PROBE_SELECTION@15"], 15),
  },
  {
    name: "a decided probe that is recalled afterwards is found",
    text: played((programme) => {
      const open = programme.draw();
      programme.decide(open);
      programme.append("PROBE_RECALLED", { ...programme.opening(open.probeId), reason: "request" });
      programme.endDay();
    }),
    ...mismatch(17),
  },
  {
    name: "a seed that is not the one that was committed to is found",
    text: played((programme) => {
      honest(programme);
      programme.endDay({ seed: "00".repeat(32) });
    }),
    ...mismatch(18),
  },
  {
    name: "a new seed while that of the day before is not opened is found",
    text: played((programme) => {
      programme.world.now += DAY_MS;
      programme.startDay();
    }),
    ...mismatch(13),
  },
  {
    name: "a second seed of one day is found",
    text: played((programme) => {
      programme.endDay();
      programme.world.now -= DAY_MS - 60_000;
      programme.startDay();
    }),
    ...mismatch(14),
  },
  {
    name: "a day with another policy than the one that was set is found",
    text: played((programme) => {
      programme.endDay();
      programme.startDay({ policy: { ...POLICY, rate: 0.01 } });
    }),
    ...mismatch(14),
  },
  {
    name: "a probe whose content is withheld leaves what follows from it uncompared",
    text: forged(HONEST, ({ groups }) => {
      groups[4]!.parts = [{ kind: "jis.part/1", seq: 4, name: "detail", withheld: true }];
    }),
    ...said(["PROBE_UNCOMPARED@4"]),
    exit: 2,
  },
  ...(["request", "erasure", "restore"] as const).map((reason): Row => ({
    name: `a probe that is recalled after it was drawn is told, whatever reason it gives: ${reason}`,
    text: played((programme) => {
      const session = programme.session("ada");
      const { probeId } = programme.draw("ada", session);
      programme.live("ada", session);
      programme.append("PROBE_RECALLED", { ...programme.opening(probeId), reason });
      programme.endDay();
    }),
    ...said(["PROBE_SELECTION@16"]),
  })),
  {
    name: "draws for cases that were never scored are told after seven days",
    text: played((programme) => {
      programme.decide(programme.draw("ada", programme.session("ada", true, "invented")));
      programme.endDay();
      for (let days = 0; days < 7; days += 1) {
        programme.startDay();
        programme.endDay();
      }
    }),
    ...said(["PROBE_SELECTION@13"]),
  },
  {
    name: "a draw for other stakes than those of its case is told",
    text: played((programme) => {
      const session = programme.session("ada");
      programme.draw("ada", session, { stakes: "critical", stock: 0, probe_id: null });
      programme.live("ada", session);
      programme.endDay();
    }),
    ...said(["PROBE_SELECTION@15"]),
  },
  {
    name: "draws of later days under a seed that is not opened are found",
    text: played((programme) => {
      programme.world.now += 2 * DAY_MS;
      programme.decide(programme.draw("ada", programme.session("ada")));
    }),
    ...tampered(["PROBE_MISMATCH@13", "PROBE_UNCOMPARED@13"], 13),
  },
  {
    name: "a probe that another operator decides than it was drawn for is found",
    text: played((programme) => {
      programme.decide({ ...programme.draw("ada"), operator: "ben" });
      programme.endDay();
    }),
    ...mismatch(16),
  },
  {
    name: "a score of another domain than the probe's is found",
    text: played((programme) => {
      programme.stock.splice(0);
      programme.seal("loan", false, { domain: "financial" });
      programme.decide(programme.draw("ada", programme.session("ada"), { domain: "financial" }));
      programme.endDay();
    }),
    ...mismatch(17),
  },
  {
    name: "a seed before any policy was set is found",
    text: without(HONEST, (_, index) => index === 1),
    ...mismatch(1),
  },
  {
    name: "a case that is planted, or announced, itself is not left out",
    text: played((programme) => {
      programme.announced("ada", programme.session("ada"));
      programme.endDay();
    }),
    ...INTACT,
  },
  {
    name: "an assignment of a probe without an end is not of its form",
    text: played((programme) => {
      programme.draw("ada", programme.session("ada"), {}, { expires_at: null });
    }),
    ...tampered(["RECORD_MALFORMED@14"], 14),
  },
  {
    name: "an assignment that gives a probe more time than the policy is found",
    text: played((programme) => {
      const expires_at = new Date(programme.world.now + 2 * 3_600_000).toISOString();
      programme.decide(programme.draw("ada", programme.session("ada"), {}, { expires_at }));
      programme.endDay();
    }),
    ...mismatch(14),
  },
  {
    name: "a sealed probe that names somebody is not of its form",
    text: played((programme) => {
      programme.append("PROBE_SEALED", {
        probe_id: "new",
        domain: "general",
        stakes: "standard",
        commitment: "00".repeat(32),
      }, { subject: programme.chain.pseudonymOf("ada") });
    }),
    ...tampered(["RECORD_MALFORMED@13"], 13),
  },
  {
    name: "an entry about a probe that is not of its form is found",
    text: played((programme) => {
      programme.append("PROBE_SEALED", { probe_id: "bare" } as never);
    }),
    ...tampered(["RECORD_MALFORMED@13"], 13),
  },
  {
    name: "an event of the organization's own by such a name says nothing",
    text: played((programme) => {
      programme.append("PROBE_SEALED", { probe_id: "probe-1" } as never, { actor: "self_serve" });
      programme.endDay();
    }),
    ...INTACT,
  },
];
