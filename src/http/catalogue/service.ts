/** The open routes: health, self-description, the OpenAPI document. */
import * as z from "zod";
import { envelopeFields } from "../../domain/score.ts";
import type { Route } from "../exchange.ts";
import { getHealth, getOpenApi, getSelfDescription } from "../handlers/service.ts";
import { OPEN } from "./defaults.ts";

const healthSchema = z.object({
  status: z.literal("ok"),
  service: z.string(),
  version: z.string(),
  ...envelopeFields,
}).meta({ id: "Health" });

const selfDescriptionSchema = z.object({
  service: z.string(),
  version: z.string().meta({ description: "Of the program." }),
  api_version: z.string().meta({ description: "Of the interface." }),
  endpoints: z.array(
    z.object({ method: z.string(), path: z.string(), auth: z.string(), summary: z.string() }),
  ),
  compliance: z.array(z.string()).meta({ description: "Names of the frameworks that reports speak to." }),
  patent: z.object({
    status: z.string(),
    filed: z.string().nullable(),
    confirmation: z.string().nullable(),
    claims: z.int(),
  }).meta({ description: "As the administrator states it." }),
  ...envelopeFields,
}).meta({ id: "SelfDescription" });

const health = {
  ...OPEN,
  path: "/",
  layer1: false,
  success: { status: 200, description: "The service answers.", schema: healthSchema },
  handler: getHealth,
} as const;

export const SERVICE_ROUTES: readonly Route[] = [
  {
    ...health,
    method: "GET",
    operationId: "getHealth",
    summary: "Health check",
    description: "Answers `ok` while the service runs. Never rate limited.",
    examples: [{ summary: "Ask" }],
  },
  {
    ...health,
    method: "HEAD",
    operationId: "headHealth",
    summary: "Health check without body",
    description: "Same status and content type as `GET /`.",
    success: { ...health.success, schema: null },
    examples: [{ summary: "Ask" }],
  },
  {
    ...OPEN,
    method: "GET",
    path: "/v1",
    operationId: "getSelfDescription",
    summary: "Self-description",
    description: "What the service is, its endpoints, and the frameworks that it speaks to.",
    layer1: true,
    success: { status: 200, description: "The catalogue.", schema: selfDescriptionSchema },
    errors: ["RATE_LIMITED"],
    examples: [{ summary: "Ask" }],
    handler: getSelfDescription,
  },
  {
    ...OPEN,
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApi",
    summary: "This document",
    description: "The OpenAPI 3.1 document of the service.",
    layer1: true,
    success: { status: 200, description: "An OpenAPI 3.1 document.", schema: null },
    errors: ["RATE_LIMITED"],
    examples: [{ summary: "Ask" }],
    handler: getOpenApi,
  },
];
