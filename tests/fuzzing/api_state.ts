/** A client's knowledge from the answers of the service: names that later requests can use. */

/** The organization as its own client knows it. */
export interface Organization {
  readonly id: string;
  key: string | null;
  readonly reasons: Set<"billing" | "self" | "manual" | "force">;
}

/** Somebody who is signed in. */
export interface SignedInUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** As a browser sends it back. */
  readonly cookie: string;
  readonly session: string;
  /** How often the password was sent: the service admits few attempts in a time. */
  attempts: number;
}

export interface State {
  /** The organization with the records. */
  main: Organization;
  /** The organization whose keys are replaced or revoked. */
  victim: Organization;
  /** Every operator who can be erased. */
  operators: string[];
  /** Operators with enough cases for statements. */
  mature: string[];
  /** Session → operator. */
  readonly sessions: Map<string, string>;
  readonly decisions: Map<string, string>;
  reports: string[];
  webhooks: string[];
  /** The destination that is never removed, and what was sent there. */
  primary: string;
  deliveries: string[];
  assessments: string[];
  /** Probes that nobody was shown. */
  probes: string[];
  /** Exercises, by the token of their link. */
  readonly exercises: Map<string, { readonly run: string; readonly operator: string }>;
  /** The operators of open cases, by the case's id. */
  readonly cases: Map<string, string>;
  /** Reviewers' own pages, by the token of their link. */
  readonly pages: Map<string, { readonly operator: string; contests: number }>;
  /** Hashes of case sets. */
  sets: string[];
  /** Ids of named keys. */
  keys: string[];
  /** Users who have not signed in, with the token of their link; null: it ended. */
  readonly users: Map<string, string | null>;
  user: SignedInUser | null;
  /** Cursors of next pages, by operation. */
  readonly cursors: Map<string, string>;
}

export function emptyState(main: Organization, victim: Organization): State {
  return {
    main,
    victim,
    operators: [],
    mature: [],
    sessions: new Map(),
    decisions: new Map(),
    reports: [],
    webhooks: [],
    primary: "",
    deliveries: [],
    assessments: [],
    probes: [],
    exercises: new Map(),
    cases: new Map(),
    pages: new Map(),
    sets: [],
    keys: [],
    users: new Map(),
    user: null,
    cursors: new Map(),
  };
}

/** Below the most that one link takes. */
const CONTESTS_OF_A_PAGE = 15;

export interface Lesson {
  /** Values of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  // deno-lint-ignore no-explicit-any -- an answer is whatever the service said
  readonly body: any;
  /** The cookies that the answer gives, as a browser sends them back. */
  readonly cookie: string;
  /** The body of the request. */
  // deno-lint-ignore no-explicit-any -- and a request whatever was drawn
  readonly sent: any;
}

type Learning = (state: State, lesson: Lesson) => void;

const aboutVictim = (change: (victim: Organization, body: Lesson["body"]) => void): Learning => {
  return ({ victim }, { path, body }) => {
    if (path.org_id === undefined || path.org_id === victim.id) change(victim, body);
  };
};

const newKey = aboutVictim((victim, { new_api_key }) => {
  // The answer to a repeated call names none.
  if (new_api_key !== undefined) victim.key = new_api_key;
});

/** The part of a link that only its receiver knows. */
const tokenOf = (link: string) => link.split("#")[1]!;

/** What an answer says that begins a session. @param password - the password that works from now on. */
const signedIn = (
  { body, cookie }: Lesson,
  password: string,
  attempts: number,
): SignedInUser => ({
  id: body.user.user_id,
  email: body.user.email,
  password,
  cookie,
  session: body.session.session_id,
  attempts,
});

function nextPage(id: string): Learning {
  return ({ cursors }, { body: { next_cursor } }) => {
    if (next_cursor !== null) cursors.set(id, next_cursor);
  };
}

/** By operation, from its successful answers. */
export const LESSONS: Readonly<Record<string, Learning>> = {
  postScore(state, { body: { session_id, operator_id, skipped } }) {
    if (skipped) return;
    state.sessions.set(session_id, operator_id);
    remember(state, operator_id);
  },
  postBatch(state, { body: { operator_id, results } }) {
    for (const { session_id } of results) state.sessions.set(session_id, operator_id);
    remember(state, operator_id);
  },
  postDecision(state, { body: { decision_id, operator_id } }) {
    state.decisions.set(decision_id, operator_id);
  },
  deleteOperator(state, { path: { operator_id } }) {
    state.operators = state.operators.filter((one) => one !== operator_id);
    state.mature = state.mature.filter((one) => one !== operator_id);
    for (const [token, { operator }] of state.exercises) {
      if (operator === operator_id) state.exercises.delete(token);
    }
    forgetPages(state, operator_id!);
    for (const records of [state.sessions, state.decisions, state.cases]) {
      for (const [id, operator] of records) if (operator === operator_id) records.delete(id);
    }
  },
  getReport(state, { body: { report } }) {
    state.reports = [...state.reports.slice(-9), report.report_id];
  },
  postAssessment(state, { body: { sessionId } }) {
    state.assessments = [...state.assessments.slice(-9), sessionId];
  },
  postProbe(state, { body: { probe_id } }) {
    state.probes.push(probe_id);
  },
  postProbeDraw(state, { body: { probe } }) {
    if (probe !== null) state.probes = state.probes.filter((one) => one !== probe.probe_id);
  },
  postProbeRecall(state, { path: { probe_id } }) {
    state.probes = state.probes.filter((one) => one !== probe_id);
  },
  postExercise(state, { body: { run_id, input: { operator_id }, link } }) {
    state.exercises.set(link.split("/").at(-1), { run: run_id, operator: operator_id });
    remember(state, operator_id);
  },
  postCase(state, { body: { case_id, operator_id } }) {
    state.cases.set(case_id, operator_id);
  },
  postCaseEvent(state, { path: { case_id }, body: { state: now } }) {
    if (now === "done" || now === "dismissed") state.cases.delete(case_id!);
  },
  postCaseSet(state, { body: { sha256 } }) {
    if (!state.sets.includes(sha256)) state.sets.push(sha256);
  },
  postExerciseDecision(state, { path: { token } }) {
    state.exercises.delete(token!);
  },
  postPageLink(state, { path: { operator_id }, body: { link } }) {
    forgetPages(state, operator_id!);
    state.pages.set(link.split("/").at(-1), { operator: operator_id!, contests: 0 });
  },
  postContest(state, { path: { token } }) {
    const page = state.pages.get(token!);
    if (page === undefined) return;
    page.contests += 1;
    if (page.contests >= CONTESTS_OF_A_PAGE) state.pages.delete(token!);
  },
  getCases: nextPage("getCases"),
  getContests: nextPage("getContests"),
  getExercises: nextPage("getExercises"),
  getOperators: nextPage("getOperators"),
  getProbes: nextPage("getProbes"),
  getDecisions: nextPage("getDecisions"),
  getReports: nextPage("getReports"),
  getUsers: nextPage("getUsers"),
  getWeeks: nextPage("getWeeks"),
  postKey(state, { body: { key_id } }) {
    state.keys = [...state.keys.slice(-9), key_id];
  },
  deleteKey(state, { path: { key_id } }) {
    state.keys = state.keys.filter((one) => one !== key_id);
  },
  postUser({ users }, { body: { user_id, link } }) {
    users.set(user_id, tokenOf(link));
  },
  postUserLink({ users }, { path: { user_id }, body: { link } }) {
    users.set(user_id!, tokenOf(link));
  },
  putUser({ users }, { path: { user_id }, body: { state: now } }) {
    if (now === "disabled") users.set(user_id!, null);
  },
  deleteUser({ users }, { path: { user_id } }) {
    users.delete(user_id!);
  },
  postLinkUse(state, lesson) {
    state.users.delete(lesson.body.user.user_id);
    state.user = signedIn(lesson, lesson.sent.password, 0);
  },
  postSignIn(state, lesson) {
    state.user = signedIn(lesson, lesson.sent.password, state.user?.attempts ?? 0);
  },
  postPassword(state, lesson) {
    state.user = signedIn(lesson, lesson.sent.new_password, state.user?.attempts ?? 0);
  },
  postSignOut: signedOut,
  deleteSessions: signedOut,
  deleteSession: signedOut,
  deleteUserSession: signedOut,
  postWebhook(state, { body: { id } }) {
    if (state.primary === "") state.primary = id;
    else state.webhooks.push(id);
  },
  deleteWebhook(state, { path: { id } }) {
    state.webhooks = state.webhooks.filter((one) => one !== id);
  },
  getDeliveries(state, { path: { id }, body: { deliveries } }) {
    if (id !== state.primary) return;
    const ended = deliveries.filter(({ status }: { status: string }) => /^(?:delivered|dead)$/.test(status));
    for (const { delivery_id } of ended) if (state.deliveries.length < 9) state.deliveries.push(delivery_id);
  },
  postKeyRotation: newKey,
  postKeyRevocation: aboutVictim((victim) => {
    victim.key = null;
    victim.reasons.add("self");
  }),
  postBillingSuspension: aboutVictim((victim) => {
    victim.key = null;
    victim.reasons.add("billing");
  }),
  postBillingRotation(state, lesson) {
    newKey(state, lesson);
    if (lesson.path.org_id !== state.victim.id) return;
    state.victim.reasons.delete("billing");
    state.victim.reasons.delete("self");
  },
  postSuspension: aboutVictim((victim) => victim.reasons.add("manual")),
  postReactivation: aboutVictim((victim) => victim.reasons.delete("manual")),
  postForcedRotation: newKey,
  postForcedRevocation: aboutVictim((victim) => {
    victim.key = null;
    victim.reasons.add("force");
  }),
};

function signedOut(state: State): void {
  state.user = null;
}

/** A newer link of a reviewer, or an erasure, ends the ones before. */
function forgetPages(state: State, operatorId: string): void {
  for (const [token, { operator }] of state.pages) if (operator === operatorId) state.pages.delete(token);
}

function remember(state: State, operator: string): void {
  if (!state.operators.includes(operator) && !state.mature.includes(operator)) state.operators.push(operator);
}
