/** Handlers for the service itself: health, self-description, the OpenAPI document. */
import { API_VERSION, SERVICE_NAME } from "../../domain/service.ts";
import type { Reply, Services } from "../exchange.ts";

export function getHealth({ description }: Services): Reply {
  return { status: 200, body: { status: "ok", service: SERVICE_NAME, version: description.version } };
}

export function getSelfDescription({ description, dependencies, catalogue }: Services): Reply {
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
}

export function getOpenApi({ openApi }: Services): Reply {
  return { status: 200, body: openApi(), document: true };
}
