/** Exercises that are recommended to an operator. */
import * as z from "zod";
import { operatorIdSchema } from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { maintenanceResponseSchema } from "../../domain/operator.ts";
import { recommendMaintenance } from "../../operations/reporting/operators.ts";
import type { Route } from "../exchange.ts";
import { parseWith } from "../parse.ts";
import { KEYED_POST, keyFor } from "./shared.ts";

const maintenanceRequestSchema = z.object({ operator_id: operatorIdSchema }).meta({
  id: "MaintenanceRequest",
});

const postMaintenance: Route = {
  ...KEYED_POST,
  ...keyFor("read"),
  // It changes nothing.
  honoursIdempotencyKey: false,
  path: "/v1/maintenance/recommend",
  operationId: "postMaintenance",
  summary: "Recommend exercises",
  description:
    "Recommends what an operator should practise: the dimension that lowers the score most, and the exercises for it from the model's catalogue. The operator needs 50 interactions or 10 days of monitoring.",
  body: { schema: maintenanceRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 200,
    description: "The recommendation with its exercises.",
    schema: maintenanceResponseSchema,
  },
  errors: ["NOT_FOUND", "INSUFFICIENT_DATA"],
  examples: [{ summary: "A reviewer", body: { operator_id: "reviewer-ada" } }],
  async handler({ dependencies }, { exchange, json }) {
    const { operator_id } = parseWith(maintenanceRequestSchema, json);
    const plan = await recommendMaintenance(dependencies, exchange.caller!, {
      operatorId: operator_id,
      now: exchange.call.now,
    });
    const { intervention_type, target_dimension, difficulty, frequency_ratio, exercises } = plan;
    return {
      status: 200,
      body: {
        recommendation: { intervention_type, target_dimension, difficulty, frequency_ratio },
        exercises,
      },
    };
  },
};

export const MAINTENANCE_ROUTES: readonly Route[] = [postMaintenance];
