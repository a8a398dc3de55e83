import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Target } from "../engine/engine.ts";

/** A write that brings an object into a planned state. */
export interface PlannedWrite {
  readonly action: "none" | "create" | "update" | "delete";
  readonly target: Target;
  readonly key: string;
  /** The object to write; for a creation without what the server sets. Undefined if it must not exist. */
  readonly object: ApiObject | undefined;
  /** The current object. */
  readonly now: ApiObject | undefined;
  /** Uid that others know an object by which is created; empty for other actions. */
  readonly oldUid: string;
}

/** The rights and writes of the user who brings objects into other states. */
export interface WriteAccess {
  /** Whether the user may read an object, with all that the plan depends on. */
  mayRead(target: Target): MaybePromise<boolean>;
  /** @returns the object as it is stored. */
  create(target: Target, object: ApiObject): Promise<ApiObject>;
  /** @param object with the resource version that the current object must have. */
  update(target: Target, object: ApiObject): Promise<unknown>;
  /** Deletes the object with the uid and resource version of `now`. */
  remove(target: Target, now: ApiObject): Promise<unknown>;
}
