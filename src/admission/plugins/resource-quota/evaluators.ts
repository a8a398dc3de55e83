import { objectAs } from "../../../schema/api-object.ts";
import { apiGroup, labelKey } from "../../../vocabulary/names.ts";
import { parseQuantity, type Quantity, addAmounts, parseAmounts } from "../../../base/quantity.ts";
import { Event } from "../../../kinds/core/event.ts";
import { PersistentVolumeClaim } from "../../../kinds/core/persistent-volume-claim.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import { Service } from "../../../kinds/core/service/service.ts";
import { isStored, type Resource } from "../../../resources/registry/registry.ts";
import type { KindContext } from "../../../schema/context.ts";
import { one, zero, type Usage } from "./usage.ts";
import { declarationOf, type ApiObject } from "../../../schema/kind.ts";
import { applies, since } from "../../../base/release-rows.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { hasPodResources, podUsage } from "../../../kinds/core/pod/pod-usage.ts";
import { isExtended, isHugePages } from "../../../kinds/core/pod/resource-names.ts";
import { isTerminating, podTraits, type PodTraits } from "./scopes.ts";

const compute = ["cpu", "memory", "ephemeral-storage"];
const measured = new Set([
  "pods",
  ...compute,
  ...compute.map((name) => `requests.${name}`),
  ...compute.map((name) => `limits.${name}`),
]);
/**
 * The fields that every container must set if a quota limits them, in the order of messages: name in quotas, member of
 * `resources`, resource.
 */
const mustBeSet = [
  ["cpu", "requests", "cpu"],
  ["limits.cpu", "limits", "cpu"],
  ["limits.memory", "limits", "memory"],
  ["memory", "requests", "memory"],
  ["requests.cpu", "requests", "cpu"],
  ["requests.memory", "requests", "memory"],
] as const;

const countName = "count/pods";
const existing: Usage = new Map([[countName, one]]);

/** Whether a pod that becomes terminating changes its scope. */
const countsScopeChanges = applies(since("1.33"));

/**
 * Measures pods: `count/pods` while they exist; `pods`, requests and limits until they have terminated. The usage is the sum of
 * the containers or, if larger, the largest init container, plus the overhead.
 */
function podEvaluator(context: KindContext): Evaluator {
  return {
    chargesUpdates: false,
    measures: (name) =>
      name === countName ||
      measured.has(name) ||
      isHugePages(name) ||
      name.startsWith("requests.hugepages-") ||
      (name.startsWith("requests.") && isExtended(name.slice("requests.".length), context)),
    measure: (object, now) => measurePod(objectAs<Pod>(object), now, context),
    missing: (object) => missingOf(objectAs<Pod>(object)),
    ...(countsScopeChanges(context) && {
      changesScope: (object, live) =>
        isTerminating(objectAs<Pod>(object)) !== isTerminating(objectAs<Pod>(live)),
    }),
  };
}

function measurePod(pod: Pod, now: number, context: KindContext): Measured {
  const { metadata, status } = pod;
  const traits = podTraits(pod);
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return { usage: existing, traits };
  const usage = runningUsage(pod, context);
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return { usage, traits };
  // A pod on a lost node may be terminating forever.
  const at = Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
  return now > at ? { usage: existing, traits } : { usage, traits, later: { at, usage: existing } };
}

function runningUsage({ spec }: Pod, context: KindContext): Usage {
  const requests = podUsage(spec, "requests");
  const limits = podUsage(spec, "limits");
  const overhead = parseAmounts(spec?.overhead);
  addAmounts(requests, overhead);
  addAmounts(limits, overhead);
  const usage = new Map<string, Quantity>(existing);
  usage.set("pods", one);
  for (const [name, amount] of requests) {
    if (compute.includes(name) || isHugePages(name)) {
      usage.set(name, amount);
      usage.set(`requests.${name}`, amount);
    } else if (isExtended(name, context)) usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (compute.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** Returns the containers that don't set required fields, by the name in quotas. */
function missingOf({ spec }: Pod): Map<string, string[]> {
  const missing = new Map<string, string[]>();
  // Resources of the whole pod suffice.
  if (spec !== undefined && hasPodResources(spec)) return missing;
  const addMissing = ({ name, resources }: Container): void => {
    for (const [limited, member, resource] of mustBeSet) {
      const amounts = resources?.[member];
      if (amounts !== undefined && Object.hasOwn(amounts, resource)) continue;
      const names = missing.get(limited);
      if (names === undefined) missing.set(limited, [name]);
      else names.push(name);
    }
  };
  for (const container of spec?.containers ?? []) addMissing(container);
  for (const container of spec?.initContainers ?? []) addMissing(container);
  return missing;
}

/** Resource types that quotas also count by their plain name, without `count/`. */
const plainlyCounted = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

/** Whether quotas count the objects of a type: all stored, namespaced types except Event. */
export function isCounted(resource: Resource): boolean {
  return resource.namespaced && isStored(resource) && declarationOf(resource.stored.kind) !== Event;
}

/**
 * Returns the evaluator of a resource type.
 *
 * @param resource the type in its stored version.
 */
export function evaluatorOf(resource: Resource, context: KindContext): Evaluator {
  switch (declarationOf(resource.kind)) {
    case Pod:
      return podEvaluator(context);
    case Service:
      return serviceEvaluator;
    case PersistentVolumeClaim:
      return claimEvaluator(context);
    default:
      return countEvaluator(resource);
  }
}

/** The name of the object count in quotas: `count/deployments.apps`. */
function countNameOf({ group, name }: Resource): string {
  return group === "" ? `count/${name}` : `count/${name}.${group}`;
}

function countEvaluator(resource: Resource): Evaluator {
  const names = [countNameOf(resource)];
  if (resource.group === "" && plainlyCounted.has(resource.name)) names.push(resource.name);
  const constant = { usage: new Map(names.map((name) => [name, one])) };
  return {
    chargesUpdates: false,
    constant,
    measures: (name) => names.includes(name),
    measure: () => constant,
  };
}

const serviceNames = new Set(["count/services", "services", "services.nodeports", "services.loadbalancers"]);

/** Measures Services. Node ports are counted as requested, before they are allocated. */
const serviceEvaluator: Evaluator = {
  chargesUpdates: true,
  measures: (name) => serviceNames.has(name),
  measure(object) {
    const { spec } = objectAs<Service>(object);
    const ports = spec?.ports ?? [];
    const usage = new Map([
      ["count/services", one],
      ["services", one],
    ]);
    if (spec?.type === "NodePort") usage.set("services.nodeports", countQuantity(ports.length));
    if (spec?.type === "LoadBalancer") {
      const counted =
        spec.allocateLoadBalancerNodePorts === false
          ? ports.filter(({ nodePort = 0 }) => nodePort !== 0).length
          : ports.length;
      usage.set("services.nodeports", countQuantity(counted));
      usage.set("services.loadbalancers", one);
    }
    return { usage };
  },
};

function countQuantity(count: number): Quantity {
  return count === 0 ? zero : { nanos: one.nanos * BigInt(count), format: one.format };
}

const claimNames = ["persistentvolumeclaims", "requests.storage"];

/** Measures claims: their number and the requested storage, in total and by storage class. */
function claimEvaluator({ vocabulary: { domain, groupSuffix } }: KindContext): Evaluator {
  const annotation = labelKey(domain, "storage-class", "volume.beta");
  const ofClass = `.storageclass.${apiGroup(groupSuffix, "storage")}/`;
  return {
    chargesUpdates: true,
    measures: (name) =>
      name === "count/persistentvolumeclaims" ||
      claimNames.includes(name) ||
      claimNames.some((end) => name.endsWith(ofClass + end)),
    measure(object) {
      const claim = objectAs<PersistentVolumeClaim>(object);
      const storage = storageOf(claim);
      const storageClass = claim.metadata.annotations?.[annotation] ?? claim.spec?.storageClassName ?? "";
      const usage = new Map([["count/persistentvolumeclaims", one]]);
      for (const prefix of storageClass === "" ? [""] : ["", storageClass + ofClass]) {
        usage.set(`${prefix}persistentvolumeclaims`, one);
        if (storage !== undefined) usage.set(`${prefix}requests.storage`, storage);
      }
      return { usage };
    },
  };
}

/** The requested or, if larger, the allocated storage of a claim, in whole bytes. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const requestText = spec?.resources?.requests?.["storage"];
  if (requestText === undefined) return undefined;
  const request = parseQuantity(requestText);
  const allocated = parseQuantity(status?.allocatedResources?.["storage"] ?? "0");
  return wholeOf(allocated.nanos > request.nanos ? allocated : request);
}

function wholeOf({ nanos, format }: Quantity): Quantity {
  return { nanos: ((nanos + one.nanos - 1n) / one.nanos) * one.nanos, format };
}

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
