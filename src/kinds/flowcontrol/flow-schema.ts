import * as v1 from "./v1.ts";
import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { declareFlowSchema } from "./declare-flow-schema.ts";
import { sameFields } from "../same-fields.ts";

/** The stored version, which the previous release serves too (spec: conventions 9.2, rule 4b). */
export const FlowSchemaV1beta2 = declareFlowSchema(v1beta2, false);
export type FlowSchemaV1beta2 = ObjectFor<typeof FlowSchemaV1beta2>;

/** The newer versions differ from v1beta2 only in their names. */
const conversion = sameFields(() => FlowSchemaV1beta2);

export const FlowSchema = declareFlowSchema(v1beta3, true, conversion);
export type FlowSchema = ObjectFor<typeof FlowSchema>;

/** Release 1.29 and later. */
export const FlowSchemaV1 = declareFlowSchema(v1, true, conversion);
export type FlowSchemaV1 = ObjectFor<typeof FlowSchemaV1>;
