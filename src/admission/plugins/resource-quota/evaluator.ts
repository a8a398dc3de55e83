import type { ApiObject } from "../../../schema/kind.ts";
import type { PodTraits } from "./scopes.ts";
import type { Usage } from "./usage.ts";

/** The usage of one object. */
export interface Measured {
  readonly usage: Usage;
  /** Undefined for objects other than pods, which have no scopes. */
  readonly traits?: PodTraits | undefined;
  /** The usage from a time on (milliseconds since 1970), if it changes without a write. */
  readonly later?: { readonly at: number; readonly usage: Usage } | undefined;
}

/** Measures the objects of one resource type. Names in quotas belong to one type each. */
export interface Evaluator {
  /** Whether updates are charged for an increase; otherwise only creates are charged. */
  readonly chargesUpdates: boolean;
  /**
   * Whether an update may bring an object into another scope, so that it is charged although other updates aren't; absent if none is
   * (releases before 1.33).
   */
  changesScope?(object: ApiObject, live: ApiObject): boolean;
  /** The usage of every object, if it doesn't depend on the object. */
  readonly constant?: Measured;
  /** Whether the name in a quota belongs to this type. */
  measures(name: string): boolean;
  /** @param now milliseconds since 1970. */
  measure(object: ApiObject, now: number): Measured;
  /** Returns the required fields that an object doesn't set, by the name in quotas, with the containers. */
  missing?(object: ApiObject): ReadonlyMap<string, readonly string[]>;
}
