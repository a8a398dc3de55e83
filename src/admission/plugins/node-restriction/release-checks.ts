import { labelKey } from "../../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { requestedCertificate } from "../../../base/certificates/certificate-request.ts";
import { pemOfBase64 } from "../../../base/certificates/pem.ts";
import { allByRelease, applies, gate, rowsIn, since, byRelease } from "../../../base/release-rows.ts";
import type { Authorizer } from "../../../authorization/authorizer.ts";
import type { RoleOptions } from "../../../authorization/rbac/default-roles/release-roles.ts";
import { certificates, resource, storage } from "../../../kinds/groups.ts";
import { groupName, type ApiObject } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { reject, type AgentRequest, type Check, type LaterChecks } from "./agent-request.ts";
import { checkCertificateRequest } from "./pod-certificate-requests.ts";
import { checkAudience } from "./token-audiences.ts";
import { podObjects } from "../../../authorization/node/references.ts";
import { podReference } from "./pods.ts";
import { isSet, projectedSources, volumesOf, type ProjectedSource, type Volume } from "./volume-types.ts";

type FindReference = (pod: ApiObject) => string | undefined;

/** Returns how a release finds a type of objects that a mirror pod refers to; undefined if the release doesn't check them. */
export const mirrorPodReference = byRelease<FindReference | undefined>(
  undefined,
  since("1.29", firstReference),
  since("1.32", (pod) => firstReference(pod) ?? (hasResourceClaims(pod) ? "resourceclaims" : undefined)),
  since("1.34", anyReference),
);

function firstReference(pod: ApiObject): string | undefined {
  const reference = podReference(pod);
  if (reference !== undefined) return reference;
  return projectedSources(pod).some((source) => isSet(source.clusterTrustBundle))
    ? "clustertrustbundles"
    : undefined;
}

function hasResourceClaims(pod: ApiObject): boolean {
  return ((pod["spec"] as { readonly resourceClaims?: readonly unknown[] }).resourceClaims ?? []).length > 0;
}

const referenceNames = { serviceaccount: "serviceaccounts", secret: "secrets", configmap: "configmaps" };

function anyReference(pod: ApiObject): string | undefined {
  for (const [type, names] of podObjects(pod)) {
    if (type !== "claim" && names.length > 0) return referenceNames[type];
  }
  if (hasResourceClaims(pod)) return "resourceclaims";
  for (const volume of volumesOf(pod)) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

/** Volumes that refer to objects, by their field. */
const volumeReferences: readonly (readonly [field: string, reference: string])[] = [
  ["configMap", "configmaps (via configmap volumes)"],
  ["secret", "secrets (via secret volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["azureFile", "secrets (via azureFile volumes)"],
];

/** Sources of projected volumes that refer to objects. */
const sourceReferences: readonly (readonly [field: keyof ProjectedSource, reference: string])[] = [
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
];

function volumeReference(volume: Volume): string | undefined {
  const own = volumeReferences.find(([field]) => isSet(volume[field]));
  if (own !== undefined) return own[1];
  for (const source of volume.projected?.sources ?? []) {
    const reference = sourceReferences.find(([field]) => isSet(source[field]));
    if (reference !== undefined) return reference[1];
    if (!isSet(source.downwardAPI)) return "objects (via an unknown source of a projected volume)";
  }
  return undefined;
}

const checksDeletes = applies(since("1.31"));
const allowsForeignNames = applies(since("1.31", gate("AllowInsecureKubeletCertificateSigningRequests")));
const hasCertificateRequests = applies(since("1.34", gate("PodCertificateRequest")));
/** Whether signers that the node may not use are asked for by the authorizer. */
const asksAuthorizer = applies(since("1.37"));
const reportsVolumeHealth = applies(since("1.37", gate("CSIVolumeHealth")));
const recoversExpansion = applies(since("1.27", gate("RecoverVolumeExpansionFailure")));
const restrictsAudiences = applies(since("1.32", gate("ServiceAccountNodeAudienceRestriction")));

/** Returns the checks that releases after the reference release add. */
export function laterChecks(
  options: RoleOptions,
  vocabulary: Vocabulary,
  authorizer: Authorizer,
): LaterChecks {
  const group = groupName(certificates, vocabulary);
  const check = checkCertificateRequest(asksAuthorizer(options) ? authorizer : undefined);
  const checks = rowsIn<readonly [type: string, check: Check]>(
    [
      ["/pods", podStatusCheck(options)],
      since("1.30", [
        `${groupName(resource, vocabulary)}/resourceslices`,
        checkSlice(checksDeletes(options)),
      ]),
      ...(allowsForeignNames(options)
        ? []
        : [
            since<readonly [string, Check]>("1.31", [
              `${group}/certificatesigningrequests`,
              checkSigningRequest,
            ]),
          ]),
      since("1.34", [
        `${group}/podcertificaterequests`,
        hasCertificateRequests(options)
          ? check
          : (request) => reject(request, "PodCertificateRequest feature gate is disabled"),
      ]),
      since("1.37", [
        `${groupName(storage, vocabulary)}/csinodes`,
        checkDriverStatus(reportsVolumeHealth(options)),
      ]),
    ],
    options,
  );
  return {
    checks: new Map(checks),
    podReference: mirrorPodReference(options),
    claimFields: recoversExpansion(options)
      ? ["allocatedResources", "allocatedResourceStatuses", "resizeStatus"]
      : [],
    checkToken: restrictsAudiences(options)
      ? (request, pod) => checkAudience(request, pod, { release: options.release, authorizer })
      : () => undefined,
  };
}

type ClaimStatus = readonly [field: string, title: string];

/** Fields in the status of a pod that schedulers and controllers write. */
const claimStatuses = allByRelease<ClaimStatus>(
  since("1.28", ["resourceClaimStatuses", "resource claim statuses"]),
  since("1.34", ["extendedResourceClaimStatus", "extended resource claim status"]),
  since("1.37", ["nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"]),
);

function podStatusCheck(options: RoleOptions): Check {
  const fields = claimStatuses(options);
  return (request) => {
    const { node, target, object, live } = request;
    if (target.subresource !== "status") return;
    const now = statusOf(object);
    const before = statusOf(live);
    for (const [field, title] of fields) {
      if (isDeepStrictEqual(orAbsent(now[field]), orAbsent(before[field]))) continue;
      reject(request, `node "${node}" cannot update ${title}`);
    }
  };
}

function statusOf(object: ApiObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.["status"] as Record<string, unknown> | undefined) ?? {};
}

/** An empty list and null are the same as an absent field. */
function orAbsent(value: unknown): unknown {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** An agent creates and deletes slices of its own node; the authorizer checks the other verbs. */
function checkSlice(withDeletes: boolean): Check {
  return (request) => {
    const { node, operation, object, live } = request;
    const slice = operation === "CREATE" ? object : operation === "DELETE" && withDeletes ? live : undefined;
    if (slice === undefined || (slice as { spec?: { nodeName?: string } }).spec?.nodeName === node) return;
    const verb = operation === "CREATE" ? "create" : "delete";
    reject(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
  };
}

interface SigningRequest extends ApiObject {
  readonly spec: { readonly signerName: string; readonly request?: string | null };
}

/** The signers of agents' certificates sign only requests with the name of the agent. */
function checkSigningRequest(request: AgentRequest): void {
  const { node, operation, target, object, vocabulary } = request;
  if (operation !== "CREATE" || target.subresource !== "") return;
  const { domain, systemPrefix, components } = vocabulary;
  const { signerName, request: encoded } = (object as SigningRequest).spec;
  const signers = [components.nodeAgentServing, components.nodeAgentClient].map((name) =>
    labelKey(domain, name),
  );
  if (!signers.includes(signerName)) return;
  const name = `${systemPrefix}node:${node}`;
  const names = commonNames(request, encoded ?? "");
  if (names.length === 0 || names.some((one) => one !== name))
    reject(request, `can only create a node CSR with CN=${name}`);
}

function commonNames(request: AgentRequest, encoded: string): readonly string[] {
  try {
    return requestedCertificate(pemOfBase64(encoded)).subjectName.commonNames;
  } catch (error) {
    return reject(request, `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** An agent reports the health of its volumes in the status, and doesn't change the spec by it. */
function checkDriverStatus(isEnabled: boolean): Check {
  return (request) => {
    const { node, operation, target, object, live } = request;
    if (target.subresource !== "status") return;
    if (!isEnabled) reject(request, "CSIVolumeHealth feature gate is disabled");
    if (operation !== "UPDATE") reject(request, `unexpected operation "${operation}"`);
    if (!isDeepStrictEqual(object?.["spec"], live?.["spec"]))
      reject(request, `node "${node}" is not allowed to modify CSINode spec via status`);
  };
}
