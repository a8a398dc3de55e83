import { type Target, conflict, withoutAdmission, type Engine, type WriteOptions } from "../engine/engine.ts";
import type { Action } from "./action.ts";
import { evictPod } from "./evict-pod.ts";
import { requestToken } from "./request-token.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";
import { deepClone } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { noManagedFieldsText } from "../../fields/apply/new-fields-text.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { guaranteedUpdate, type UpdatedObject } from "../writes/guaranteed-update.ts";
import { decodeEntry } from "../objects/stored.ts";
import { keyOf } from "../registry/registry.ts";
import { checkUid } from "../input/metadata.ts";
import { writeContext } from "../input/input.ts";
import { admitAction } from "../writes/write.ts";

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

interface Bindable extends ApiObject {
  spec: { nodeName?: string; schedulingGates?: unknown[] };
  status?: { conditions?: Condition[]; nominatedNodeName?: string };
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
async function bindPod(
  engine: Engine,
  target: Target,
  binding: ApiObject,
  options: WriteOptions,
): Promise<undefined> {
  await admitAction(engine, target, binding, options);
  const { name } = binding["target"] as { name: string };
  const labels = await boundLabels(engine, binding, name);
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
    if (labels !== undefined) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
    markScheduled(pod, engine.timestamps.now());
    if (engine.featureEnabled("ClearingNominatedNodeNameAfterBinding")) delete pod.status?.nominatedNodeName;
    // As in the reference, the fields that a binding writes have no owner.
    return { object: pod, managed: live.managed.stored ?? noManagedFieldsText };
  };
  await guaranteedUpdate(writeContext(withoutAdmission(engine), target, options), assign);
  return undefined;
}

/**
 * Returns the labels that a bound pod gets from release 1.35 on: the valid ones of the binding, and zone and region of its node. Undefined if
 * there are none.
 */
async function boundLabels(
  engine: Engine,
  binding: ApiObject,
  node: string,
): Promise<Record<string, string> | undefined> {
  if (!engine.featureEnabled("PodTopologyLabelsAdmission")) return undefined;
  const own = Object.entries(binding.metadata.labels ?? {}).filter(
    ([key, value]) => qualifiedNameFaults(key).length === 0 && labelValueFaults(value).length === 0,
  );
  const labels = { ...Object.fromEntries(own), ...(await topologyLabels(engine, node)) };
  return Object.keys(labels).length === 0 ? undefined : labels;
}

/** Returns the labels with zone and region of a node; undefined without such labels. */
async function topologyLabels(engine: Engine, node: string): Promise<Record<string, string> | undefined> {
  const resource = engine.registry.find("", "v1", "nodes");
  const entry = resource && (await engine.store.get(keyOf(resource, "", node)));
  if (entry === undefined) return undefined;
  const labels = decodeEntry(entry).metadata.labels ?? {};
  const { domain } = engine.vocabulary;
  const keys = [labelKey(domain, "region", "topology"), labelKey(domain, "zone", "topology")].filter(
    (key) => key in labels,
  );
  return keys.length === 0 ? undefined : Object.fromEntries(keys.map((key) => [key, labels[key]!]));
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
