import type { ApiObject } from "../../../schema/kind.ts";
import type { PodTraits } from "./scopes.ts";
import type { Usage } from "./usage.ts";

/** What one object uses of what quotas limit. */
export interface Measured {
  readonly usage: Usage;
  /** Undefined for what has no scopes. */
  readonly traits?: PodTraits | undefined;
  /** What it uses after a time (milliseconds since 1970), where it stops counting by itself. */
  readonly later?: { readonly at: number; readonly usage: Usage } | undefined;
}

/** Measures the objects of one resource type. No two types are measured by the same names. */
export interface Evaluator {
  /** Whether an update is charged for what it adds; else only a create is. */
  readonly chargesUpdates: boolean;
  /** What every object uses, where that doesn't depend on the object. */
  readonly constant?: Measured;
  /** Whether it measures what a quota calls by this name. */
  measures(name: string): boolean;
  /** @param now milliseconds since 1970. */
  measure(object: ApiObject, now: number): Measured;
  /** What an object must say and doesn't, where quotas limit it: by its name, the containers that don't say it. */
  missing?(object: ApiObject): ReadonlyMap<string, readonly string[]>;
}
