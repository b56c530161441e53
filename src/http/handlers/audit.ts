/** Handlers for an organization's chains: append, verify, export, prove. */
import {
  appendRequestSchema,
  beyondLongest,
  chainParametersSchema,
  exportParametersSchema,
  linkedSizes,
  PAYLOAD_LIMIT_BYTES,
  proofPathSchema,
  verifyParametersSchema,
} from "../../domain/audit.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { utf8 } from "../../evidence/crypto.ts";
import {
  appendEvent,
  currentCheckpoint,
  familyOf,
  proofOfEntry,
} from "../../operations/organizations/audit.ts";
import { retentionOf } from "../../operations/shared/deployment.ts";
import { exportFile, longestOf, softwareName } from "../../operations/chains/export.ts";
import { publicKeys } from "../../operations/chains/own_keys.ts";
import { verifyChain } from "../../operations/verification/verification.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { type ParameterSource, parseWith, readParameters, validationFailed } from "../parse.ts";

export const CHAIN_PARAMETERS: readonly ParameterSource[] = [{ name: "chain" }];
export const VERIFY_PARAMETERS: readonly ParameterSource[] = [{ name: "from" }, { name: "since_size" }];
export const EXPORT_PARAMETERS: readonly ParameterSource[] = [
  { name: "chain" },
  { name: "parts" },
  { name: "link" },
];

export async function postAuditAppend(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const { event_type, payload } = parseWith(appendRequestSchema, json);
  const { length } = utf8(canonicalJson(payload));
  if (length > PAYLOAD_LIMIT_BYTES) {
    throw validationFailed([{
      path: "payload",
      message: `must be at most ${PAYLOAD_LIMIT_BYTES} bytes of canonical JSON, it has ${length}`,
    }]);
  }
  const { event, ...about } = await appendEvent(dependencies, exchange.caller!, {
    eventType: event_type,
    payload,
    call: exchange.call,
    idempotency: idempotentCall(context),
  });
  return { status: 201, body: { ...event }, ...about };
}

/** Makes a handler that verifies one of the organization's chains. */
function verification(kind: "evidence" | "admin") {
  return async function getVerification(
    { dependencies }: Services,
    { context, exchange }: HandlerInput,
  ): Promise<Reply> {
    const { from, since_size } = parseWith(
      verifyParametersSchema,
      readParameters(context.req.raw, VERIFY_PARAMETERS),
    );
    const body = await verifyChain(dependencies, {
      family: familyOf(exchange.caller!, kind),
      from: from ?? 0,
      sinceSize: since_size ?? null,
      now: exchange.call.now,
    });
    return { status: 200, body: { ...body } };
  };
}

export const getChainVerification = verification("evidence");
export const getAdminChainVerification = verification("admin");

export async function getChainExport(
  { dependencies, description }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { chain, parts, link } = parseWith(
    exportParametersSchema,
    readParameters(context.req.raw, EXPORT_PARAMETERS),
  );
  const caller = exchange.caller!;
  const family = familyOf(caller, chain);
  const links = linkedSizes(link);
  if (links.length > 0) {
    const longest = await longestOf(dependencies.database, { family, parts });
    if (Math.max(...links) > longest) {
      throw validationFailed([{ path: "link", message: beyondLongest(longest) }]);
    }
  }
  const name = chain === "evidence" ? caller.orgId : `${caller.orgId}-${chain}`;
  return {
    status: 200,
    pieces: exportFile(dependencies, {
      family,
      parts,
      links,
      retentionDays: retentionOf(dependencies, family),
      now: exchange.call.now,
      software: softwareName(description.version),
    }),
    contentType: "application/x-ndjson",
    headers: { "Content-Disposition": `attachment; filename="${name}.ndjson"` },
  };
}

export async function getCheckpoint(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { chain } = parseWith(chainParametersSchema, readParameters(context.req.raw, CHAIN_PARAMETERS));
  return { status: 200, body: await currentCheckpoint(dependencies, exchange.caller!, chain) };
}

export async function getProof(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { seq } = parseWith(proofPathSchema, context.req.param());
  const { chain } = parseWith(chainParametersSchema, readParameters(context.req.raw, CHAIN_PARAMETERS));
  return { status: 200, body: await proofOfEntry(dependencies, exchange.caller!, { kind: chain, seq }) };
}

export async function getPublicKeys({ dependencies }: Services): Promise<Reply> {
  return { status: 200, body: await publicKeys(dependencies), document: true };
}
