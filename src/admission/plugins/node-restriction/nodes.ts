import { isDeepStrictEqual } from "node:util";
import type { ApiObject } from "../../../schema/kind.ts";
import { nameOf, reject, type AgentRequest } from "./agent-request.ts";
import { forbiddenLabels } from "./labels.ts";

interface Node extends ApiObject {
  readonly spec?: { readonly taints?: unknown };
}

/**
 * Checks writes of Nodes: an agent may create and update its own Node only, without changes of taints, owners or restricted
 * labels, and may not delete it.
 */
export function checkNode(request: AgentRequest): void {
  const { node, operation } = request;
  const name = nameOf(request);
  if (name !== node) reject(request, `node "${node}" is not allowed to modify node "${name}"`);
  if (operation === "DELETE") reject(request, `node "${node}" is not allowed to delete its node`);
  const now = request.object as Node;
  if (request.live === undefined) checkNew(request, now);
  else checkChange(request, now, request.live as Node);
}

function checkNew(request: AgentRequest, { metadata }: Node): void {
  const { node, vocabulary } = request;
  const labels = forbiddenLabels(metadata.labels ?? {}, {}, vocabulary);
  if (labels.length > 0) {
    reject(request, `node "${node}" is not allowed to set the following labels: ${labels.join(", ")}`);
  }
}

function checkChange(request: AgentRequest, now: Node, before: Node): void {
  const { node, vocabulary } = request;
  if (!isDeepStrictEqual(now.spec?.taints, before.spec?.taints)) {
    reject(request, `node "${node}" is not allowed to modify taints`);
  }
  const labels = forbiddenLabels(now.metadata.labels ?? {}, before.metadata.labels ?? {}, vocabulary);
  if (labels.length > 0) {
    reject(request, `node "${node}" is not allowed to modify labels: ${labels.join(", ")}`);
  }
  // The garbage collector deletes a Node with a missing owner.
  if (!isDeepStrictEqual(now.metadata.ownerReferences, before.metadata.ownerReferences)) {
    reject(request, `node "${node}" is not allowed to modify ownerReferences`);
  }
}
