import { qualifiedName } from "../../base/object-errors.ts";
import { effectName, type FaultEffect } from "./fault-rule.ts";

/** A fault that happened. */
export interface FiredFault {
  /** Rule, number of the match and user, as text; the same in a run with the same seed and requests. */
  readonly id: string;
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Name of the object, or of that of the watch event. */
  readonly name: string;
  readonly effect: FaultEffect;
  /** How many requests the user had made. */
  readonly request: number;
  /** Request and effect in one line. */
  readonly text: string;
}

/** What a fault affects: a request, or the event of a watch with its object. */
export type FaultTarget = Pick<
  FiredFault,
  "verb" | "group" | "resource" | "subresource" | "namespace" | "name"
>;

/** Returns the verb and the object or collection: `update configmaps shop/a`, `list configmaps in shop`. */
export function targetText({ verb, group, resource, subresource, namespace, name }: FaultTarget): string {
  const type = qualifiedName(resource, group) + (subresource === "" ? "" : `/${subresource}`);
  if (name === "") return `${verb} ${type}${namespace === "" ? "" : ` in ${namespace}`}`;
  return `${verb} ${type} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

/** Returns request and effect in one line: `update configmaps shop/a by operator: error 409`. */
export function describeFault(fault: Omit<FiredFault, "id" | "request" | "text">): string {
  return `${targetText(fault)} by ${fault.user}: ${effectText(fault.effect)}`;
}

function effectText(effect: FaultEffect): string {
  const name = effectName(effect);
  const value = (effect as unknown as Record<string, unknown>)[name];
  const suffix = "applied" in effect && effect.applied === true ? " after the request was carried out" : "";
  return (value === true ? name : `${name} ${String(value)}`) + suffix;
}
