import { Pod } from "../kinds/core/pod/pod.ts";
import { declarationOf, type Kind } from "../schema/kind.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";
import type { AdmissionPlugin, AdmittedType } from "./admission-chain.ts";

type Operation = AdmissionRequest["operation"];

/** Whether a write is of whole objects of a kind, in any version. */
export function isOf({ resource, subresource }: AdmittedType, kind: Kind): boolean {
  return subresource === "" && declarationOf(resource.stored.kind) === kind;
}

/** Whether a write changes the resources of a pod's containers. */
export function isResize(operation: Operation, { resource, subresource }: AdmittedType): boolean {
  return operation === "UPDATE" && subresource === "resize" && declarationOf(resource.stored.kind) === Pod;
}

/** Returns a `concerns` function for some operations on whole objects of some kinds. */
export function concernsOnly(
  kinds: readonly Kind[],
  ...operations: readonly Operation[]
): AdmissionPlugin["concerns"] {
  return (operation, type) => operations.includes(operation) && kinds.some((kind) => isOf(type, kind));
}

/** Returns a `concerns` function for some operations on whole pods. */
export function concernsPods(...operations: readonly Operation[]): AdmissionPlugin["concerns"] {
  return concernsOnly([Pod], ...operations);
}
