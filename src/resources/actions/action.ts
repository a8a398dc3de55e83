import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine.ts";

/** How an action is to be done. */
export interface ActionOptions extends WriteOptions {
  /** Tells the client something that is no failure. */
  readonly warn: (text: string) => void;
}

/**
 * Does what a body asks for to the target's object (spec: conventions 4.2).
 *
 * @param body as read by `input.ts`, and checked.
 * @returns the answer, or undefined for a plain success.
 */
export type Action = (
  engine: Engine,
  target: Target,
  body: ApiObject,
  options: ActionOptions,
) => Promise<ApiObject | undefined>;
