import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine/engine.ts";

/** Options of an action. */
export interface ActionOptions extends WriteOptions {
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void;
}

/**
 * Runs an action on the object of the target (spec: conventions 4.2).
 *
 * @param body the decoded and validated body.
 * @returns the response object; undefined for a success Status.
 */
export type Action = (
  engine: Engine,
  target: Target,
  body: ApiObject,
  options: ActionOptions,
) => Promise<ApiObject | undefined>;
