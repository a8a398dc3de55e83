import type { Authorizer } from "../../authorization/authorizer.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { certificates } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Controller } from "../controller.ts";
import { nodeClientRefusal } from "./built-in-signers.ts";
import {
  askedBy,
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

/** A request that nobody may have approved is looked at again after about as long as it has waited, within these bounds. */
const firstAgainMs = 1000;
const lastAgainMs = 600_000;

/**
 * Approves the requests of node agents for client certificates, if an access review says that who asks may create
 * `certificatesigningrequests/selfnodeclient` (a node that asks for itself) or `certificatesigningrequests/nodeclient` (spec:
 * conventions 2.6, 4.12). Others wait for whoever approves them.
 */
export const certificateApproving: Controller<ApprovingDependencies> = {
  name: "csrapproving",
  start(context) {
    return reconcileRequests(context, this.name, async (request) => {
      if (isDecided(request) || !isOfNodeAgent(context, request)) return undefined;
      const kind = await approvable(context, request);
      if (kind === undefined) return againMs(context, request);
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
  const decided = conditionOf(request, "Approved") ?? conditionOf(request, "Denied");
  return decided !== undefined || issuedCertificate(request) !== undefined;
}

function isOfNodeAgent(
  { registry: { vocabulary } }: ApprovingDependencies,
  request: CertificateSigningRequest,
): boolean {
  const { signerName, usages = [] } = request.spec;
  if (signerName !== `${vocabulary.domain}/${vocabulary.components.nodeAgentClient}`) return false;
  if (requestFault(request) !== undefined) return false;
  return nodeClientRefusal(askedBy(request), usages, vocabulary) === undefined;
}

/** As what the requester may have it approved; undefined where they may not. */
async function approvable(
  { authorizer, registry: { vocabulary } }: ApprovingDependencies,
  request: CertificateSigningRequest,
): Promise<"selfnodeclient" | "nodeclient" | undefined> {
  const user = requesterOf(request);
  const isOwn = askedBy(request).subjectName.commonNames[0] === user.name;
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

/** Who asked, as the server recorded it when the request was made. */
function requesterOf({ spec }: CertificateSigningRequest): UserInfo {
  const { username: name = "", uid = "", groups = [], extra = {} } = spec;
  return { name, uid, groups, extra };
}

function againMs({ clock }: ApprovingDependencies, { metadata }: CertificateSigningRequest): number {
  const waitedMs = clock.now() - Date.parse(metadata.creationTimestamp ?? "");
  return Math.min(Math.max(waitedMs, firstAgainMs), lastAgainMs) || firstAgainMs;
}
