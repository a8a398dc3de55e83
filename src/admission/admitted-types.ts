import { Pod } from "../kinds/core/pod/pod.ts";
import type { Kind } from "../schema/kind.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";
import type { AdmissionPlugin, AdmittedType } from "./admission-chain.ts";

type Operation = AdmissionRequest["operation"];

/** Whether a write is about whole objects of a kind, in whichever version they are written. */
export function isOf({ resource, subresource }: AdmittedType, kind: Kind): boolean {
  return subresource === "" && resource.stored.kind === kind;
}

/** Has a plugin be asked of some operations on whole objects of some kinds. */
export function concernsOnly(
  kinds: readonly Kind[],
  ...operations: readonly Operation[]
): AdmissionPlugin["concerns"] {
  return (operation, type) => operations.includes(operation) && kinds.some((kind) => isOf(type, kind));
}

/** Has a plugin be asked of some operations on whole pods. */
export function concernsPods(...operations: readonly Operation[]): AdmissionPlugin["concerns"] {
  return concernsOnly([Pod], ...operations);
}
