import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine/engine.ts";

/** How an action is to be done. */
export interface ActionOptions extends WriteOptions {
  /** Sends the client a warning. */
  readonly warn: (text: string) => void;
}

/**
 * Does to the target's object what the body asks for (spec: conventions 4.2).
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
