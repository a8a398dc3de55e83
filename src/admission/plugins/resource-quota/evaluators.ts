import { apiGroup, labelKey } from "../../../vocabulary/names.ts";
import { parseQuantity, type Quantity } from "../../../base/quantity.ts";
import { Event } from "../../../kinds/core/event.ts";
import { PersistentVolumeClaim } from "../../../kinds/core/persistent-volume-claim.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import { Service } from "../../../kinds/core/service/service.ts";
import { isStored, type Resource } from "../../../resources/registry/registry.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { Evaluator } from "./evaluator.ts";
import { podEvaluator } from "./pod-evaluator.ts";
import { one, zero } from "./usage.ts";
import { declarationOf } from "../../../schema/kind.ts";

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
    const { spec } = object as unknown as Service;
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
      const claim = object as unknown as PersistentVolumeClaim;
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
