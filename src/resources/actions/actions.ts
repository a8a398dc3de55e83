import type { Target } from "../engine/engine.ts";
import type { Action } from "./action.ts";
import { bindPod } from "./bind-pod.ts";
import { evictPod } from "./evict-pod.ts";
import { requestToken } from "./request-token.ts";

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["pods/binding", bindPod],
  ["pods/eviction", evictPod],
  ["serviceaccounts/token", requestToken],
]);

/** The action of a subresource. */
export function actionOf({ resource, subresource }: Target): Action {
  const action = actions.get(`${resource.name}/${subresource}`);
  if (action === undefined) throw new Error(`no action is registered for ${resource.name}/${subresource}`);
  return action;
}
