import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine.ts";
import { bindPod } from "./bind-pod.ts";
import { evictPod } from "./evict-pod.ts";
import { requestToken } from "./request-token.ts";

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

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["pods/binding", bindPod],
  ["pods/eviction", evictPod],
  ["serviceaccounts/token", requestToken],
]);

/** The action behind a target's subresource. */
export function actionOf({ resource, subresource }: Target): Action {
  const found = actions.get(`${resource.name}/${subresource}`);
  if (found === undefined) throw new Error(`nobody does ${resource.name}/${subresource}`);
  return found;
}
