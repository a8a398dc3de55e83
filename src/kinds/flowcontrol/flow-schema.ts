import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { declareFlowSchema } from "./declare-flow-schema.ts";

export const FlowSchema = declareFlowSchema(v1beta3, true);
export type FlowSchema = ObjectFor<typeof FlowSchema>;

/** The older version differs in nothing but its name. */
export const FlowSchemaV1beta2 = declareFlowSchema(v1beta2, false, {
  stored: () => FlowSchema,
  toStored: (object) => object,
  fromStored: (object) => object,
});
export type FlowSchemaV1beta2 = ObjectFor<typeof FlowSchemaV1beta2>;
