import { deepClone } from "../../base/json/value.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { conflict, withoutAdmission, type Engine, type Target, type WriteOptions } from "../engine.ts";
import type { LiveObject } from "../live-object.ts";
import { guaranteedUpdate, type UpdatedObject } from "../update.ts";
import { writeContext } from "../write-context.ts";
import { admitAction } from "../write.ts";

interface Bindable extends ApiObject {
  spec: { nodeName?: string; schedulingGates?: unknown[] };
  status?: { conditions?: Condition[] };
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

/**
 * Assigns a pod to a node, once (spec: conventions 4.2, `binding`).
 *
 * @throws {StatusError} Conflict when the pod has a node already, or is being deleted.
 */
export async function bindPod(
  engine: Engine,
  target: Target,
  binding: ApiObject,
  options: WriteOptions,
): Promise<undefined> {
  await admitAction(engine, target, binding, options);
  const { name } = binding["target"] as { name: string };
  const assign = (live: LiveObject): UpdatedObject => {
    const pod = deepClone(live.object) as Bindable;
    if (pod.metadata.deletionTimestamp !== undefined) {
      throw conflict(target, `pod ${target.name} is being deleted, cannot be assigned to a host`);
    }
    if ((pod.spec.nodeName ?? "") !== "") {
      throw conflict(
        target,
        `pod ${target.name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`,
      );
    }
    if ((pod.spec.schedulingGates ?? []).length > 0) {
      throw conflict(target, `pod ${target.name} has scheduling gates left, cannot be assigned to a host`);
    }
    pod.spec.nodeName = name;
    const { annotations, uid, resourceVersion } = binding.metadata;
    if (annotations !== undefined) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
    if (uid !== undefined) pod.metadata.uid = uid;
    if (resourceVersion === undefined) delete pod.metadata.resourceVersion;
    else pod.metadata.resourceVersion = resourceVersion;
    markScheduled(pod, engine.timestamps.now());
    return { object: pod };
  };
  await guaranteedUpdate(writeContext(withoutAdmission(engine), target, options), assign);
  return undefined;
}

function markScheduled(pod: Bindable, now: string): void {
  const others = (pod.status?.conditions ?? []).filter((one) => one.type !== "PodScheduled");
  const condition = { type: "PodScheduled", status: "True", lastTransitionTime: now };
  pod.status = { ...pod.status, conditions: [...others, condition] };
}
