/**
 * The limits of a verifier, so that no file makes it slow or fills its memory. Beyond a limit it reports
 * `LIMIT_EXCEEDED`, and the verdict is NOT VERIFIABLE unless something else is wrong.
 * Source: docs/verify/evidence-format.md, section 9.
 */

/** Bundles in one input. */
export const BUNDLE_LIMIT = 4_096;

/** Findings kept for all bundles of an input; beyond this only the first fatal one of each bundle is kept. */
export const INPUT_FINDING_LIMIT = 4_096;

/** Characters of an origin, and of a chain's name. */
export const NAME_LIMIT = 512;

/** UTF-16 units of a signed note; a signature line has about 250. A longer text is not read as a note. */
export const NOTE_LIMIT = 16_384;

/** Keys in a header, and certificates in one bundle. */
export const KEY_LIMIT = 1_024;

/** Pairs of keys that the certificates of all bundles of an input join, each once. */
export const JOIN_LIMIT = 4_096;

/** Different sets of keys that signed checkpoints before the bundle's first SIGNING_KEY_ROTATED entry. */
export const SIGNER_SET_LIMIT = 64;

/** Bytes of all model documents of one bundle. One document has about 70,000. */
export const MODEL_BYTES_LIMIT = 8_388_608;

/**
 * Roots of chains that the system chains of an input anchor: for each chain the newest, and the newest as of each kept
 * checkpoint of the system chain.
 */
export const ANCHOR_LIMIT = 262_144;

/**
 * Known roots with which the bundles of an input agree, counted in each bundle. 1,448 exports of one chain,
 * each from its beginning, reach this limit.
 */
export const AGREEMENT_LIMIT = 1_048_576;

/** The most scores of one day that wait for the seed of its probes: about 200 bytes each. */
export const PROBE_DAY_LIMIT = 262_144;
