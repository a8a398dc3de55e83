import { objectNotFound } from "../../../base/object-errors.ts";
import { isDeepStrictEqual } from "node:util";
import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { podObjects } from "../../../authorization/node/references.ts";
import { mirrorAnnotation } from "../../../kinds/core/pod/annotation-rules.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { nameOf, reject, type AgentRequest } from "./agent-request.ts";

interface Pod extends ApiObject {
  readonly spec: { readonly nodeName?: string };
}

/**
 * Checks writes of pods: an agent may create mirror pods on its own node, and delete, evict and report the status of the pods
 * bound to it.
 */
export function checkPod(request: AgentRequest): MaybePromise<void> {
  switch (request.target.subresource) {
    case "":
      return checkWhole(request);
    case "status":
      return checkStatus(request);
    case "eviction":
      return andThen(boundPod(request, nameOf(request)), (pod) => {
        if (!isOn(pod, request)) reject(request, `node "${request.node}" can only evict pods ${bound}`);
      });
    default:
      return reject(
        request,
        `unexpected pod subresource "${request.target.subresource}", only "status" and "eviction" are allowed`,
      );
  }
}

const bound = "with spec.nodeName set to itself";

function isOn(pod: ApiObject, { node }: AgentRequest): boolean {
  return (pod as Pod).spec.nodeName === node;
}

/** Reads a pod in the namespace of the request. */
export function boundPod({ objects, target }: AgentRequest, name: string): MaybePromise<ApiObject> {
  return andThen(objects.core("pods", target.namespace, name), (pod) => {
    if (pod !== undefined) return pod;
    throw objectNotFound({ resource: "pods", group: "", name });
  });
}

function checkWhole(request: AgentRequest): MaybePromise<void> {
  const { node, operation, object, live } = request;
  if (operation === "CREATE") return checkMirrorPod(request, object as Pod);
  if (operation === "UPDATE") {
    return reject(
      request,
      `unexpected operation "UPDATE", node "${node}" can only create and delete mirror pods`,
    );
  }
  // deletecollection is admitted for each of its pods.
  if (live !== undefined && !isOn(live, request))
    reject(request, `node "${node}" can only delete pods ${bound}`);
}

function checkStatus(request: AgentRequest): void {
  const { node, operation, object, live } = request;
  if (operation !== "UPDATE" || object === undefined || live === undefined) {
    return reject(request, `unexpected operation "${operation}"`);
  }
  if (!isOn(live, request)) reject(request, `node "${node}" can only update pod status for pods ${bound}`);
  if (!isDeepStrictEqual(object.metadata.labels ?? {}, live.metadata.labels ?? {})) {
    reject(request, `node "${node}" cannot update labels through pod status`);
  }
}

function checkMirrorPod(request: AgentRequest, pod: Pod): MaybePromise<void> {
  const { node, objects } = request;
  const annotation = mirrorAnnotation(request);
  if (!Object.hasOwn(pod.metadata.annotations ?? {}, annotation)) {
    reject(
      request,
      `pod does not have "${annotation}" annotation, node "${node}" can only create mirror pods`,
    );
  }
  if (!isOn(pod, request)) reject(request, `node "${node}" can only create pods ${bound}`);
  const uid = ownerUid(request, pod);
  return andThen(objects.core("nodes", "", node), (own) => {
    if (own === undefined) throw objectNotFound({ resource: "nodes", group: "", name: node });
    if (own.metadata.uid !== uid) {
      reject(request, `node ${node} UID mismatch: expected ${own.metadata.uid ?? ""} got ${uid}`);
    }
    // An agent may read the objects to which a pod on its node refers.
    const reference = request.podReference(pod);
    if (reference !== undefined) {
      reject(request, `node "${node}" can not create pods that reference ${reference}`);
    }
  });
}

/** Returns the uid of the only owner of a mirror pod, which must be the Node of the agent. */
function ownerUid(request: AgentRequest, { metadata }: Pod): string {
  const { node } = request;
  const [owner, ...more] = metadata.ownerReferences ?? [];
  const may = `node "${node}" can only create pods with`;
  if (more.length > 0) reject(request, `${may} a single owner reference set to itself`);
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    return reject(request, `${may} an owner reference set to itself`);
  }
  if (owner.controller !== true) reject(request, `${may} a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) {
    reject(request, `node "${node}" must not set blockOwnerDeletion on an owner reference`);
  }
  return owner.uid ?? "";
}

const referenceNames = {
  serviceaccount: "a service account",
  secret: "secrets",
  configmap: "configmaps",
  claim: "persistentvolumeclaims",
} as const;

/** Returns the type of an object that a pod refers to, in the reference release. */
export function podReference(pod: ApiObject): string | undefined {
  const reference = podObjects(pod).find(([, names]) => names.length > 0);
  return reference && referenceNames[reference[0]];
}
