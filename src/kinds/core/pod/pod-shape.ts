import type { ApiObject } from "../../../schema/kind.ts";
import type { PodSpec } from "./spec-fields.ts";
import type { PodStatus } from "./status.ts";

/** A pod, for rules that are defined before the kind itself. */
export interface PodShape extends ApiObject {
  spec?: PodSpec | undefined;
  status?: PodStatus | undefined;
}
