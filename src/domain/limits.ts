/** Every number of the specification's Limits table, and those that the contract adds to it. */

/** 1 MB and 5 MB as the contract counts them (section 8.5); a body of exactly the limit is accepted. */
export const BODY_LIMIT_BYTES = 1_048_576;
export const BATCH_BODY_LIMIT_BYTES = 5 * BODY_LIMIT_BYTES;

/** Interactions in one batch. */
export const BATCH_MAX = 100;

/** Records in one run of the public demo. */
export const ASSESSMENT_RECORDS_MAX = 100;

/** Interactions in a rolling window of {@link USAGE_WINDOW_DAYS}; no call is throttled for exceeding them. */
export const TIER_LIMITS = { starter: 10_000, standard: 100_000, enterprise: 1_000_000 } as const;
export const USAGE_WINDOW_DAYS = 30;

/**
 * An alert is raised if the scores of 24 hours exceed this many times the percentile of the earlier daily
 * counts.
 */
export const ANOMALY_FACTOR = 10;
export const ANOMALY_PERCENTILE = 95;
/** Number of days examined before those 24 hours, and how many of them must have scores. */
export const ANOMALY_DAYS = 30;
export const ANOMALY_DAYS_WITH_DATA = 7;

/** Newest points of an operator's history in a profile. */
export const HISTORY_POINTS = 100;
export const SPARKLINE_DAYS_MAX = 365;
export const SPARKLINE_DAYS_DEFAULT = 30;
/** Days of the sparkline beside each row of the operators' list. */
export const LIST_SPARKLINE_DAYS = 30;
export const OPERATORS_PAGE_MAX = 200;
export const OPERATORS_PAGE_DEFAULT = 50;
/** Characters of the part of an id by which operators are searched. */
export const OPERATOR_PART_MAX_LENGTH = 128;
/** Page sizes of the lists of decisions and of reports. */
export const RECORDS_PAGE_MAX = 200;
export const RECORDS_PAGE_DEFAULT = 50;

/** Scores that the list of unlabelled ones sorts together, and how many such stretches one page looks through. */
export const LABEL_STRETCH = 1_000;
export const LABEL_STRETCHES_OF_PAGE = 4;

/** Deepest nesting of objects and arrays in a request body; the outermost counts as 1. */
export const JSON_DEPTH_LIMIT = 16;

export const RATE_WINDOW_MS = 60_000;
export const RATE_LIMIT_IP_DEFAULT = 60;
export const RATE_LIMIT_KEY_DEFAULT = 1_000;
export const RATE_LIMIT_MAX = 1_000_000_000;
/**
 * Most subjects, and most admitted requests, that one layer tracks at once; new ones beyond either are
 * refused.
 */
export const RATE_SUBJECTS_MAX = 1_048_576;
export const RATE_TIMES_MAX = 2_097_152;
/** How long an admission waits for counters that processes share. */
export const RATE_STORE_TIMEOUT_MS = 1_000;

/** A response to failed authentication is sent no earlier than this after the request arrived. */
export const AUTH_FLOOR_MS = 80;
/** Such responses are sent together, at instants this far apart. */
export const AUTH_GRID_MS = 20;
/** Most such responses that wait at once; the answer beyond that is 429. */
export const AUTH_FLOOR_WAITERS = 1_000;

/** 2026-07-15T00:00:00.000Z: from then on a key in a body is refused as if there were no key. */
export const BODY_KEY_SUNSET = Date.UTC(2026, 6, 15);

export const WEBHOOKS_MAX = 10;
/** Named keys of an organization. */
export const NAMED_KEYS_MAX = 50;
export const KEY_NAME_MAX_LENGTH = 80;

/** Operators whose teams one call sets. */
export const TEAMS_SET_MAX = 100;
export const TEAM_NAME_MAX_LENGTH = 64;

/** Probes in one sealing call. */
export const PROBES_BATCH_MAX = 100;
/** Sealed probes of an organization that nobody was shown yet. */
export const PROBES_SEALED_MAX = 10_000;
/** Versions of case sets that an organization may add. Each call about exercises reads them all. */
export const CASE_SETS_MAX = 50;
/** Largest case set, bytes of its canonical JSON. */
export const CASE_SET_LIMIT_BYTES = 131_072;
/** Exercises in one page. */
export const EXERCISES_PAGE_MAX = 100;
export const EXERCISES_PAGE_DEFAULT = 20;
/** Probes in one page. */
export const PROBES_PAGE_MAX = 200;
export const PROBES_PAGE_DEFAULT = 50;
/** Most events that a registration may name; the same event may be named more than once. */
export const WEBHOOK_EVENTS_NAMED_MAX = 100;
export const WEBHOOK_SECRET_MIN_LENGTH = 16;
export const WEBHOOK_SECRET_MAX_LENGTH = 1_024;
export const WEBHOOK_URL_MAX_LENGTH = 2_048;
/** How long the name of a destination may take to resolve. */
export const RESOLUTION_TIMEOUT_MS = 5_000;
export const WEBHOOK_ATTEMPTS = 3;
export const WEBHOOK_BACKOFF_MS_DEFAULT: readonly [number, number] = [10_000, 60_000];
export const WEBHOOK_BACKOFF_MS_MAX = 86_400_000;
export const WEBHOOK_TIMEOUT_MS_DEFAULT = 10_000;
export const WEBHOOK_TIMEOUT_MS_MIN = 100;
export const WEBHOOK_TIMEOUT_MS_MAX = 120_000;
/** Most bytes that are read of a receiver's answer. */
export const WEBHOOK_ANSWER_BYTES = 65_536;
/** A destination is paused after this many failed attempts in a row, over at least this long. */
export const WEBHOOK_PAUSE_FAILURES = 20;
export const WEBHOOK_PAUSE_MS = 300_000;
/** Interval at which a paused destination is tried. */
export const WEBHOOK_PROBE_MS = 60_000;
/** Time for which a claim to a delivery outlasts a whole attempt. */
export const WEBHOOK_LEASE_MARGIN_MS = 15_000;
/** The least that this margin may be, so that the outcome of an attempt can be written. */
export const LEAST_LEASE_MARGIN_MS = 10_000;
/** How long events wait for a destination, and how many may wait. */
export const WEBHOOK_QUEUE_DAYS = 7;
export const WEBHOOK_QUEUE_MAX = 100_000;
/** How long the log of deliveries keeps delivered and cancelled ones, and how many for each destination. */
export const DELIVERED_DAYS = 7;
export const DELIVERED_MAX = 1_000;
/** The same limits for dead ones: not delivered, and not tried again. */
export const DEAD_DAYS = 30;
export const DEAD_MAX = 100_000;
export const DELIVERIES_PAGE_MAX = 500;
export const DELIVERIES_PAGE_DEFAULT = 100;

export const IDEMPOTENCY_KEY_MAX_LENGTH = 256;
export const IDEMPOTENCY_RETENTION_DAYS = 30;

/** Events in one answer of the audit log. */
export const AUDIT_LOG_MAX = 500;
export const AUDIT_LOG_DEFAULT = 100;

export const ORGANIZATION_NAME_MAX_LENGTH = 200;
export const ALLOWED_ORIGINS_MAX = 50;
export const SECRET_MIN_LENGTH = 32;

/** Longest time that a new connection may take to send a whole request head. */
export const FIRST_REQUEST_MS = 30_000;
/** Longest wait for a client after that: longer than the 60 seconds for which proxies keep a connection. */
export const CLIENT_WAIT_MS = 75_000;
/** Most connections at once; each takes about 25 KB until a request head has arrived. */
export const CONNECTIONS_MAX = 4_096;
/** File descriptors that the connections leave for everything else. */
export const DESCRIPTOR_RESERVE = 128;
/** File descriptors that a host should grant the process. */
export const DESCRIPTORS_ADVISED = 65_536;

/**
 * How long an erasure is remembered outside the database, so that it can be repeated in a restored database.
 */
export const ERASED_MEMORY_DAYS = 400;

/**
 * Most bytes of request bodies and their parsed values that are held at once; beyond it the answer is 503.
 * The least memory in docs/operate/install.md depends on it.
 */
export const BODY_MEMORY_BYTES = 128 * 1024 * 1024;

/**
 * Most operators that a candidate model follows in shadow, each in up to about 10 KB of memory; others are
 * missed.
 */
export const SHADOW_OPERATORS_MAX = 10_000;
/**
 * Most scores and labels that wait for the candidate model, a few kilobytes each; more than that are missed.
 */
export const SHADOW_QUEUE_LIMIT = 4_096;
/** Most scores without an outcome for which the candidate's weights are kept for a late label. */
export const SHADOW_WEIGHTS_MAX = 50_000;
/** Number of operators in an answer's list of those that differ most. */
export const SHADOW_REPORTED_OPERATORS = 20;

/** Most requests that wait for the writer; the answer beyond that is 503. */
export const WRITE_QUEUE_LIMIT = 10_000;

/** Users of an organization, erased ones included. */
export const USERS_MAX = 10_000;
/** Users on a page of their list, unless fewer are asked for. */
export const USERS_PAGE_MAX = 200;
export const USER_NAME_MAX_LENGTH = 120;
/** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 256;
/** Hours for which an invitation, or another one-time link, can be used. */
export const LINK_HOURS = 72;
/** Hours after which a session ends, and minutes without a request after which it does. */
export const SESSION_HOURS_DEFAULT = 12;
export const SESSION_HOURS_MAX = 168;
export const SESSION_IDLE_MINUTES_DEFAULT = 30;
export const SESSION_IDLE_MINUTES_MAX = 1_440;
/** How long somebody may take at the identity provider to sign in. */
export const SIGN_IN_STATE_SECONDS = 600;
/** Sessions that one user may have at once; the oldest ends when another begins. */
export const SESSIONS_OF_USER_MAX = 20;
/** Passkeys of one user. */
export const PASSKEYS_OF_USER_MAX = 20;
/** Requests of one session in 60 seconds. */
export const RATE_LIMIT_SESSION_DEFAULT = 600;
/** Attempts to sign in as one user: from one address, and from all, in 15 minutes. */
export const SIGN_IN_WINDOW_MS = 900_000;
export const SIGN_IN_ATTEMPTS_ADDRESS = 10;
export const SIGN_IN_ATTEMPTS_USER = 100;
/** Milliseconds from the arrival of a failed attempt to sign in until its answer, and the grid of later answers. */
export const SIGN_IN_FLOOR_MS = 1_000;
export const SIGN_IN_GRID_MS = 500;
/** Characters of what a browser says of itself that are kept of a session. */
export const AGENT_MAX_LENGTH = 200;

/** Hours for which the link of an exercise can be used. */
export const EXERCISE_LINK_HOURS_MAX = 720;
export const EXERCISE_LINK_HOURS_DEFAULT = 168;
