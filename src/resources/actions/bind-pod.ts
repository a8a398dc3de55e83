import { deepClone } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { noManagedFieldsText } from "../../fields/apply/managed-fields-text.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { conflict, withoutAdmission, type Engine, type Target, type WriteOptions } from "../engine/engine.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { guaranteedUpdate, type UpdatedObject } from "../writes/guaranteed-update.ts";
import { checkUid } from "../input/metadata.ts";
import { writeContext } from "../input/write-context.ts";
import { admitAction } from "../writes/write.ts";

interface Bindable extends ApiObject {
  spec: { nodeName?: string; schedulingGates?: unknown[] };
  status?: { conditions?: Condition[] };
}

interface Condition {
  type: string;
  status: string;
  lastProbeTime: null;
  lastTransitionTime?: string;
}

/**
 * Assigns a pod to a node, once (spec: conventions 4.2, `binding`).
 *
 * @throws {StatusError} Conflict if the pod has a node or is being deleted.
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
    checkUid(target, binding, pod);
    const why = unbindable(pod);
    if (why !== undefined) throw conflictOfBinding(target, `pod ${target.name} ${why}`);
    pod.spec.nodeName = name;
    const { annotations, resourceVersion } = binding.metadata;
    if (annotations !== undefined) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
    if (resourceVersion === undefined) delete pod.metadata.resourceVersion;
    else pod.metadata.resourceVersion = resourceVersion;
    markScheduled(pod, engine.timestamps.now());
    // As in the reference, the fields that a binding writes have no owner.
    return { object: pod, managed: live.managed.stored ?? noManagedFieldsText };
  };
  await guaranteedUpdate(writeContext(withoutAdmission(engine), target, options), assign);
  return undefined;
}

/** Why a pod can't be assigned to a node; undefined if it can. */
function unbindable({ metadata, spec }: Bindable): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "is being deleted, cannot be assigned to a host";
  if ((spec.nodeName ?? "") !== "") return `is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  return (spec.schedulingGates ?? []).length > 0
    ? "has scheduling gates left, cannot be assigned to a host"
    : undefined;
}

/** A Conflict whose details name the subresource. */
function conflictOfBinding(target: Target, why: string): StatusError {
  const { message, details } = conflict(target, why);
  return new StatusError("Conflict", message, { ...details, kind: `${target.resource.name}/binding` });
}

function markScheduled(pod: Bindable, now: string): void {
  const others = (pod.status?.conditions ?? []).filter((one) => one.type !== "PodScheduled");
  const condition = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  pod.status = { ...pod.status, conditions: [...others, condition] };
}
