/** Rules between chains: epochs of a family, erasures, and the checkpoints that the system chain anchored. */
import assert from "node:assert/strict";
import { type Database, query } from "../../src/store/database.ts";
import { type Chain, familiesOf, isOwn, type Json, type Link, linkAt, partOf } from "./chains.ts";
import { rootAt } from "./tree.ts";

export async function verifyFamilies(database: Database, chains: readonly Chain[]): Promise<void> {
  const [installation] = await database.read(
    query.selectFrom("installation").select("deployment_id").compile(),
  );
  const erased = erasedSubjectsOf(chains);
  for (const [family, epochs] of familiesOf(chains)) {
    epochsAreNumbered(family, epochs);
    positionsGoOn(epochs);
    // The store's own tests write chains without an installation, and so without a genesis.
    if (installation !== undefined) {
      for (const chain of epochs) genesisBindsItsChain(chain, installation.deployment_id);
    }
    for (const [index, chain] of epochs.entries()) {
      if (chain.row.epoch > 1) laterEpochContinues(chain, epochs[index - 1]);
    }
  }
  laterEpochsAreOfRestores(chains);
  erasedPartsAreOfErasedSubjects(chains, erased);
  erasedSubjectsHaveNothingLeft(chains, erased);
  await erasedSubjectsAreTiedToNobody(database, erased);
  anchorsAreOfTheirChains(chains);
}

// ---- epochs -----------------------------------------------------------------------------------------------

/** `<family>`, `<family>/e2`, `/e3` …; the first may be missing if a restore lost the whole family. */
function epochsAreNumbered(family: string, epochs: readonly Chain[]): void {
  for (const [index, { row }] of epochs.entries()) {
    assert.equal(row.chain, row.epoch === 1 ? family : `${family}/e${row.epoch}`, "the chain's name");
    const before = epochs[index - 1];
    if (before !== undefined) assert.ok(row.epoch > before.row.epoch, `${row.chain}: epochs go up`);
  }
}

function positionsGoOn(epochs: readonly Chain[]): void {
  let position = 0;
  for (const { row } of epochs) {
    assert.equal(row.first_position, position, `${row.chain}: first position`);
    position += row.size;
  }
}

function genesisBindsItsChain(chain: Chain, deployment: string): void {
  const { row } = chain;
  assert.ok(row.origin.endsWith(`/${deployment}/${row.chain}`), `${row.chain}: origin ${row.origin}`);
  const genesis = linkAt(chain, 0);
  if (genesis === undefined) return;
  const restores = row.family === "sys" && row.epoch > 1;
  assert.ok(isOwn(genesis, restores ? "CHAIN_RESTORED" : "CHAIN_GENESIS"), `${row.chain}: genesis`);
  const detail = partOf(genesis, "detail");
  assert.deepEqual([detail.deployment, detail.origin], [deployment, row.origin], `${row.chain}: genesis`);
  const others = chain.links.filter(({ entry }) => /^CHAIN_/.test(entry.event_type));
  assert.equal(others.length, 1, `${row.chain}: one genesis`);
}

/**
 * A later epoch's first entry names the end of the chain before it; of a lost chain only the name is known.
 */
function laterEpochContinues(chain: Chain, before: Chain | undefined): void {
  const { row } = chain;
  const genesis = linkAt(chain, 0);
  if (genesis === undefined) return;
  const detail = partOf(genesis, "detail");
  const { previous_origin, last_known_checkpoint, restored_size, restored_root, reason } = detail;
  assert.ok(typeof reason === "string" && reason !== "", `${row.chain}: a reason is given`);
  if (before === undefined) {
    assert.deepEqual([restored_size, restored_root], [0, null], `${row.chain}: nothing was left`);
    assert.ok(last_known_checkpoint !== null, `${row.chain}: what was lost had been published`);
    return;
  }
  assert.deepEqual(
    [previous_origin, restored_size, restored_root],
    [before.row.origin, before.row.size, rootAt(before.tree, before.row.size).toHex()],
    `${row.chain}: where ${before.row.chain} ended`,
  );
}

/**
 * A later epoch began in the one act that its CHAIN_RESTORED records, which lists the chains of which nothing
 * was left.
 */
function laterEpochsAreOfRestores(chains: readonly Chain[]): void {
  const begun = chains.filter(({ row }) => row.epoch > 1).flatMap((chain) => {
    const genesis = linkAt(chain, 0);
    return genesis === undefined
      ? []
      : [{ row: chain.row, at: genesis.entry.timestamp, detail: partOf(genesis, "detail") }];
  });
  // The chain that continues may have had its own beginning cut off.
  const beginnings = chains.filter((chain) => chain.row.epoch > 1 && linkAt(chain, 0) === undefined)
    .map(({ row: { origin, chain, family } }) => {
      const first = origin.slice(0, -chain.length) + family;
      return (lost: string) => lost === first || lost.startsWith(`${first}/e`);
    });
  const restores = begun.filter(({ row }) => row.family === "sys");
  for (const { row, at, detail } of begun) {
    const restore = restores.find((candidate) =>
      candidate.at === at && candidate.detail.reason === detail.reason
    );
    assert.ok(restore !== undefined, `${row.chain}: a restore that began it`);
    const { lost } = restore.detail;
    const isLost = lost.some(({ origin }: Json) => origin === detail.previous_origin);
    assert.equal(isLost, detail.restored_root === null, `${row.chain}: listed as lost`);
  }
  for (const { row, detail } of restores) {
    for (const { origin } of detail.lost) {
      assert.ok(
        begun.some((next) => next.detail.previous_origin === origin) || beginnings.some((of) => of(origin)),
        `${row.chain}: ${origin} continues`,
      );
    }
  }
}

// ---- erasures ---------------------------------------------------------------------------------------------

/** An entry that erased a subject, and its place in its family. */
interface ErasedSubject {
  readonly family: string;
  readonly position: number;
}

const positionOf = ({ row }: Chain, { entry }: Link): number => row.first_position + entry.seq;

/** Subjects that were erased, by pseudonym. */
type ErasedSubjects = ReadonlyMap<string, ErasedSubject>;

function erasedSubjectsOf(chains: readonly Chain[]): ErasedSubjects {
  return new Map(
    chains.flatMap((chain) =>
      chain.links.filter((link) => isOwn(link, "SUBJECT_ERASED")).map((link) =>
        [link.entry.subject, { family: chain.row.family, position: positionOf(chain, link) }] as const
      )
    ),
  );
}

/** A part is gone only if its subject was erased later, in the same family. */
function erasedPartsAreOfErasedSubjects(chains: readonly Chain[], subjects: ErasedSubjects): void {
  for (const chain of chains) {
    for (
      const link of chain.links.filter(({ parts }) => [...parts.values()].some(({ data }) => data === null))
    ) {
      const where = `${chain.row.chain} ${link.entry.seq}`;
      const erased = subjects.get(link.entry.subject);
      assert.equal(erased?.family, chain.row.family, `${where}: a part is gone, and its subject was erased`);
      assert.ok(erased!.position > positionOf(chain, link), `${where}: erased before its erasure`);
    }
  }
}

/**
 * No entry about an erased subject has parts any more, except for the record of the erasure. The audit log's
 * entries hold nothing personal: its family has no erasures, and so its parts stay.
 */
function erasedSubjectsHaveNothingLeft(chains: readonly Chain[], subjects: ErasedSubjects): void {
  for (const { row, links } of chains) {
    for (const { entry, parts } of links) {
      if (subjects.get(entry.subject)?.family !== row.family || entry.event_type === "SUBJECT_ERASED") {
        continue;
      }
      for (const { name, data } of parts.values()) {
        assert.equal(data, null, `${row.chain} ${entry.seq}: ${name}`);
      }
    }
  }
}

async function erasedSubjectsAreTiedToNobody(database: Database, subjects: ErasedSubjects): Promise<void> {
  const rows = await database.read(query.selectFrom("subject").select("pseudonym").compile());
  const tied = rows.filter(({ pseudonym }) => subjects.has(pseudonym));
  assert.deepEqual(tied, [], "an erased pseudonym has no operator");
}

// ---- anchors ----------------------------------------------------------------------------------------------

/**
 * The checkpoint of another chain that the system chain anchored has that chain's root at that size, and the
 * newest is known.
 */
function anchorsAreOfTheirChains(chains: readonly Chain[]): void {
  const byOrigin = new Map(chains.map((chain) => [chain.row.origin, chain]));
  const anchored = new Map<string, number>();
  for (const { row, links } of chains.filter((chain) => chain.row.family === "sys")) {
    for (const link of links.filter((candidate) => isOwn(candidate, "ORG_CHECKPOINTS"))) {
      for (const { origin, size, root } of partOf(link, "detail").checkpoints) {
        const where = `${row.chain} ${link.entry.seq}: ${origin}@${size}`;
        const chain = byOrigin.get(origin);
        assert.ok(chain !== undefined && chain.row.family !== "sys", where);
        assert.equal(root, rootAt(chain.tree, size).toHex(), where);
        assert.ok(
          chain.checkpoints.some((checkpoint) => checkpoint.size === size) || size <= chain.row.min_index,
          where,
        );
        anchored.set(origin, Math.max(size, anchored.get(origin) ?? 0));
      }
    }
  }
  for (const { row } of chains) {
    assert.equal(row.anchored_size, anchored.get(row.origin) ?? 0, `${row.chain}: anchored size`);
  }
}
