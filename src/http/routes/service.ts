/** The service itself: health, self-description, the OpenAPI document. */
import * as z from "zod";
import { envelopeFields } from "../../domain/score.ts";
import { API_VERSION, SERVICE_NAME } from "../../domain/service.ts";
import type { Route } from "../exchange.ts";
import { OPEN } from "./shared.ts";

const healthSchema = z.object({
  status: z.literal("ok"),
  service: z.string(),
  version: z.string(),
  ...envelopeFields,
}).meta({ id: "Health" });

const getHealth: Route = {
  ...OPEN,
  method: "GET",
  path: "/",
  operationId: "getHealth",
  summary: "Health check",
  description: "Returns `ok` while the service runs. It is never rate limited.",
  layer1: false,
  success: { status: 200, description: "The service answers.", schema: healthSchema },
  examples: [{ summary: "Ask" }],
  handler({ description }) {
    return { status: 200, body: { status: "ok", service: SERVICE_NAME, version: description.version } };
  },
};

/** For the catalogue alone: the router answers HEAD from GET. */
const headHealth: Route = {
  ...getHealth,
  method: "HEAD",
  operationId: "headHealth",
  summary: "Health check without body",
  description: "Returns the same status and content type as `GET /`.",
  success: { ...getHealth.success, schema: null },
};

const selfDescriptionSchema = z.object({
  service: z.string(),
  version: z.string().meta({ description: "Version of the program." }),
  api_version: z.string().meta({ description: "Version of the API." }),
  endpoints: z.array(
    z.object({ method: z.string(), path: z.string(), auth: z.string(), summary: z.string() }),
  ),
  compliance: z.array(z.string()).meta({ description: "Names of the legal frameworks that reports cover." }),
  patent: z.object({
    status: z.string(),
    filed: z.string().nullable(),
    confirmation: z.string().nullable(),
    claims: z.int(),
  }).meta({ description: "Patent information as configured by the administrator." }),
  ...envelopeFields,
}).meta({ id: "SelfDescription" });

const getSelfDescription: Route = {
  ...OPEN,
  method: "GET",
  path: "/v1",
  operationId: "getSelfDescription",
  summary: "Self-description",
  description: "Describes the service, its endpoints, and the legal frameworks that its reports cover.",
  layer1: true,
  success: { status: 200, description: "The catalogue.", schema: selfDescriptionSchema },
  errors: ["RATE_LIMITED"],
  examples: [{ summary: "Ask" }],
  handler({ description, dependencies, catalogue }) {
    const frameworks = dependencies.model.document.law.rules.map((rule) => rule.framework);
    return {
      status: 200,
      body: {
        service: SERVICE_NAME,
        version: description.version,
        api_version: API_VERSION,
        endpoints: catalogue.map(({ method, path, auth, summary }) => ({
          method,
          path,
          auth: auth.kind,
          summary,
        })),
        compliance: [...new Set(frameworks)],
        patent: description.patent,
      },
    };
  },
};

const getOpenApi: Route = {
  ...OPEN,
  method: "GET",
  path: "/openapi.json",
  operationId: "getOpenApi",
  summary: "This document",
  description: "Returns the OpenAPI 3.1 document of the service.",
  layer1: true,
  success: { status: 200, description: "An OpenAPI 3.1 document.", schema: null },
  errors: ["RATE_LIMITED"],
  examples: [{ summary: "Ask" }],
  handler({ openApi }) {
    return { status: 200, body: openApi(), document: true };
  },
};

export const SERVICE_ROUTES: readonly Route[] = [getHealth, headHealth, getSelfDescription, getOpenApi];
