import { objectAs } from "../../../schema/api-object.ts";
import { StatusError } from "../../../base/status-error.ts";
import type { Authorizer } from "../../../authorization/authorizer.ts";
import { mirrorAnnotation } from "../../../kinds/core/pod/annotation-rules.ts";
import type { PodRequest, PodRequestSpec } from "../../../kinds/certificates/pod-request-types.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { reject, type AgentRequest, type Check } from "./agent-request.ts";
import { projectedSources } from "./volume-types.ts";

/**
 * An agent requests certificates for pods on its node. A reference to an object that was replaced is an internal error, because a later
 * attempt may succeed.
 *
 * @param authorizer decides whether an agent may request certificates that no volume of the pod names; undefined: it may.
 */
export function checkCertificateRequest(authorizer: Authorizer | undefined): Check {
  return async (request) => {
    const { node, operation, target, object } = request;
    if (operation !== "CREATE") reject(request, `unexpected operation ${operation}`);
    if (target.subresource !== "") reject(request, `unexpected subresource ${target.subresource}`);
    const { spec } = objectAs<PodRequest>(object!);
    if (spec.nodeName !== node)
      reject(request, `spec.nodeName is "${spec.nodeName}", which is not the requesting node "${node}"`);
    await checkUid(request, "node", spec.nodeName, spec.nodeUID);
    const pod = await checkUid(request, "pod", spec.podName, spec.podUID);
    checkPodOfRequest(request, spec, pod);
    await checkUid(request, "serviceaccount", spec.serviceAccountName, spec.serviceAccountUID);
    if (authorizer !== undefined) await checkSigner(request, spec, pod, authorizer);
  };
}

/** @throws {StatusError} InternalError: the object doesn't exist, or has another uid. */
async function checkUid(
  { objects, target }: AgentRequest,
  type: "node" | "pod" | "serviceaccount",
  name: string,
  uid: string,
): Promise<ApiObject> {
  const stored = await objects.core(`${type}s`, type === "node" ? "" : target.namespace, name);
  if (stored === undefined) throw new StatusError("InternalError", `the ${type} "${name}" does not exist`);
  if (stored.metadata.uid === uid) return stored;
  throw new StatusError("InternalError", `the uid "${uid}" is not that of the ${type} "${name}"`);
}

function checkPodOfRequest(request: AgentRequest, spec: PodRequestSpec, pod: ApiObject): void {
  const { nodeName, serviceAccountName = "" } = pod["spec"] as {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
  };
  if (nodeName !== spec.nodeName)
    reject(request, `pod "${spec.podName}" is not running on node "${spec.nodeName}"`);
  if (Object.hasOwn(pod.metadata.annotations ?? {}, mirrorAnnotation(request)))
    reject(request, `pod "${spec.podName}" is a mirror pod`);
  if (serviceAccountName !== spec.serviceAccountName) {
    const { serviceAccountName: requested } = spec;
    reject(
      request,
      `spec.serviceAccountName is "${requested}", but that of the pod is "${serviceAccountName}"`,
    );
  }
}

/** A volume of the pod names the signer, or the agent has the verb `request-serviceaccounts-podcertificate-signer`. */
async function checkSigner(
  request: AgentRequest,
  { signerName, serviceAccountName, podName }: PodRequestSpec,
  pod: ApiObject,
  authorizer: Authorizer,
): Promise<void> {
  if (projectedSources(pod).some(({ podCertificate }) => podCertificate?.signerName === signerName)) return;
  const { user, target } = request;
  const { verdict } = await authorizer.authorize({
    kind: "resource",
    user,
    verb: "request-serviceaccounts-podcertificate-signer",
    group: target.resource.group,
    version: target.resource.version,
    // Roles can't name resources with slashes.
    resource: signerName.replaceAll("/", ":"),
    subresource: "",
    namespace: target.namespace,
    name: serviceAccountName,
  });
  if (verdict !== "allow")
    reject(
      request,
      `pod "${podName}" does not mount a podCertificate projected volume for signer "${signerName}"`,
    );
}
