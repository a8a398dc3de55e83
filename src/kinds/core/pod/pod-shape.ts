import type { ApiObject } from "../../../schema/kind.ts";
import type { PodSpec } from "./spec-fields.ts";
import type { PodStatus } from "./status.ts";

/** A pod, as the rules of the kind see it before the kind itself is declared. */
export interface PodShape extends ApiObject {
  spec?: PodSpec | undefined;
  status?: PodStatus | undefined;
}
