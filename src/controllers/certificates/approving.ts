import { labelKey } from "../../vocabulary/names.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { certificates } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Controller } from "../controller.ts";
import { nodeClientRefusal } from "./built-in-signers.ts";
import {
  parseRequest,
  conditionOf,
  issuedCertificate,
  reconcileRequests,
  requestFault,
  withCondition,
  writeStatus,
  type RequestDependencies,
} from "./requests.ts";

/** Dependencies of {@link certificateApproving}. */
export interface ApprovingDependencies extends RequestDependencies {
  readonly authorizer: Authorizer;
}

/** A request that can't be approved is checked again after about as long as it has waited, within these bounds. */
const minRecheckMs = 1000;
const maxRecheckMs = 600_000;

/**
 * Approves requests of node agents for client certificates if an access review allows the requester to create
 * `certificatesigningrequests/selfnodeclient` (a node that requests its own certificate) or
 * `certificatesigningrequests/nodeclient` (spec: conventions 2.6, 4.12). Other requests are left to other approvers.
 */
export const certificateApproving: Controller<ApprovingDependencies> = {
  name: "csrapproving",
  start(context) {
    return reconcileRequests(context, this.name, async (request) => {
      if (isDecided(request) || !isOfNodeAgent(context, request)) return undefined;
      const kind = await permissionFor(context, request);
      if (kind === undefined) return recheckDelayMs(context, request);
      const message = `Auto approving ${kind === "selfnodeclient" ? "self " : ""}node agent client certificate after SubjectAccessReview.`;
      await writeStatus(
        context,
        request,
        "approval",
        withCondition(request, "Approved", "AutoApproved", message),
      );
      return undefined;
    });
  },
};

function isDecided(request: CertificateSigningRequest): boolean {
  const decision = conditionOf(request, "Approved") ?? conditionOf(request, "Denied");
  return decision !== undefined || issuedCertificate(request) !== undefined;
}

function isOfNodeAgent(
  { registry: { vocabulary } }: ApprovingDependencies,
  request: CertificateSigningRequest,
): boolean {
  const { signerName, usages = [] } = request.spec;
  if (signerName !== labelKey(vocabulary.domain, vocabulary.components.nodeAgentClient)) return false;
  if (requestFault(request) !== undefined) return false;
  return nodeClientRefusal(parseRequest(request), usages, vocabulary) === undefined;
}

/** Returns the permission by which the request can be approved; undefined if the requester has none. */
async function permissionFor(
  { authorizer, registry: { vocabulary } }: ApprovingDependencies,
  request: CertificateSigningRequest,
): Promise<"selfnodeclient" | "nodeclient" | undefined> {
  const user = requesterOf(request);
  const isOwn = parseRequest(request).subjectName.commonNames[0] === user.name;
  for (const subresource of isOwn ? (["selfnodeclient", "nodeclient"] as const) : (["nodeclient"] as const)) {
    const { verdict } = await authorizer.authorize({
      kind: "resource",
      user,
      verb: "create",
      group: groupName(certificates, vocabulary),
      version: "*",
      resource: "certificatesigningrequests",
      subresource,
      namespace: "",
      name: "",
    });
    if (verdict === "allow") return subresource;
  }
  return undefined;
}

/** Returns the requester that the server recorded when the request was created. */
function requesterOf({ spec }: CertificateSigningRequest): UserInfo {
  const { username: name = "", uid = "", groups = [], extra = {} } = spec;
  return { name, uid, groups, extra };
}

function recheckDelayMs({ clock }: ApprovingDependencies, { metadata }: CertificateSigningRequest): number {
  const waitedMs = clock.now() - Date.parse(metadata.creationTimestamp ?? "");
  return Math.min(Math.max(waitedMs, minRecheckMs), maxRecheckMs) || minRecheckMs;
}
