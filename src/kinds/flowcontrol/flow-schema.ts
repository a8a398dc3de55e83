import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { declareFlowSchema } from "./declare-flow-schema.ts";

/** The stored version, which the previous release serves too (spec: conventions 9.2, rule 4b). */
export const FlowSchemaV1beta2 = declareFlowSchema(v1beta2, false);
export type FlowSchemaV1beta2 = ObjectFor<typeof FlowSchemaV1beta2>;

/** Differs from v1beta2 only in its name. */
export const FlowSchema = declareFlowSchema(v1beta3, true, {
  stored: () => FlowSchemaV1beta2,
  toStored: (object) => object,
  fromStored: (object) => object,
});
export type FlowSchema = ObjectFor<typeof FlowSchema>;
