import { objectAs } from "../../schema/api-object.ts";
import { since } from "../../base/release-rows.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bytes, field, int32, list, map, string, time, type LaterFields } from "../../schema/types.ts";
import { orNone } from "../cells.ts";
import { unchanged } from "../checks/values.ts";
import { nameColumn } from "../columns.ts";
import type { certificates } from "../groups.ts";
import { Condition } from "../meta/condition.ts";
import { checkNewRequest, checkRequestStatus, requestState } from "./pod-request-rules.ts";
import type { PodRequest, PodRequestSpec } from "./pod-request-types.ts";

const defaultSeconds = 86_400;

type Struct = Pick<Declarations<typeof certificates, string>, "struct">;

const identity = {
  signerName: field(1, string, "Name of the requested signer.").declaredRequired(),
  podName: field(2, string, "Name of the pod.").declaredRequired(),
  podUID: field(3, string, "Unique identifier of the pod.").declaredRequired(),
  serviceAccountName: field(4, string, "Service account of the pod.").declaredRequired(),
  serviceAccountUID: field(5, string, "Unique identifier of the service account.").declaredRequired(),
  nodeName: field(6, string, "Name of the node that runs the pod.").declaredRequired(),
  nodeUID: field(7, string, "Unique identifier of that node.").declaredRequired(),
  maxExpirationSeconds: field(8, int32, "Maximum validity in seconds, from 3600 to 7862400. Default: 86400.")
    .nullable()
    .unpublishedDefault(defaultSeconds),
};
const annotations = field(
  11,
  map(string),
  "Annotations for the signer from the pod's volume, not verified by the server.",
);
const conditions = field(1, list(Condition), "Conditions of the request: Issued, Denied or Failed.")
  .mapBy("type")
  .patchMerge("type");
const stubRequest = field(12, bytes, "Certificate request (PKCS#10 in DER) signed with the pod's key.");

/** The spec of the versions that also take a bare key. */
function declareKeySpec({ struct }: Struct) {
  return struct(
    "PodCertificateRequestSpec",
    "The pod, its public key and the signer.",
    {
      ...identity,
      pkixPublicKey: field(9, bytes, "Public key of the pod (SubjectPublicKeyInfo in DER).").emitEmpty(),
      proofOfPossession: field(10, bytes, "Signature of the pod's UID with its private key.").emitEmpty(),
    },
    {
      later: (): LaterFields => ({
        unverifiedUserAnnotations: since("1.35", annotations),
        stubPKCS10Request: since("1.36", stubRequest.emitEmpty()),
      }),
    },
  );
}

/** The spec of v1. */
function declareSpec({ struct }: Struct) {
  return struct("PodCertificateRequestSpec", "The pod, its public key and the signer.", {
    ...identity,
    unverifiedUserAnnotations: annotations,
    stubPKCS10Request: stubRequest.declaredRequired(),
  });
}

/** Declares PodCertificateRequest in one version of the group. */
function declareRequest<const V extends string>(
  { kind, struct }: Declarations<typeof certificates, V>,
  spec: ReturnType<typeof declareKeySpec> | ReturnType<typeof declareSpec>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  const status = struct("PodCertificateRequestStatus", "The signer's decision and the issued certificate.", {
    conditions,
    certificateChain: field(2, string, "Issued certificate chain in PEM, at most 100 KiB."),
    notBefore: field(4, time, "Start of the certificate's validity.").nullable(),
    beginRefreshAt: field(5, time, "Time from which the kubelet should renew the certificate.").nullable(),
    notAfter: field(6, time, "End of the certificate's validity.").nullable(),
  });
  const specOf = (object: { readonly spec: unknown }) => object.spec as PodRequestSpec;
  return kind({
    name: "PodCertificateRequest",
    resource: "podcertificaterequests",
    singular: "podcertificaterequest",
    scope: "Namespaced",
    allowUnconditionalUpdate: false,
    ...version,
    doc: "Requests a certificate for a pod from a signer.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the request.").emitEmpty(),
      spec: field(2, spec, "The pod, its public key and the signer; immutable.").declaredRequired(),
      status: field(3, status, "The signer's decision and the issued certificate.").emitEmpty(),
    },
    selectable: {
      "spec.signerName": (request) => specOf(request).signerName,
      "spec.podName": (request) => specOf(request).podName,
      "spec.nodeName": (request) => specOf(request).nodeName,
    },
    validateCreate(request, report, context) {
      checkNewRequest(specOf(request), report.at("spec"), context);
    },
    validateUpdate(request, live, report, context) {
      if (context.subresource === "") unchanged(request.spec, live.spec, report.at("spec"));
      else checkRequestStatus(objectAs<PodRequest>(request), objectAs<PodRequest>(live), report, context);
    },
    status: { initial: () => ({}), keepsMetadata: "all" },
    columns: [
      nameColumn,
      { name: "PodName", type: "string", doc: "Name of the pod.", cell: (one) => specOf(one).podName },
      {
        name: "ServiceAccountName",
        type: "string",
        doc: "Service account of the pod.",
        cell: (one) => specOf(one).serviceAccountName,
      },
      { name: "NodeName", type: "string", doc: "Name of the node.", cell: (one) => specOf(one).nodeName },
      { name: "SignerName", type: "string", doc: "Requested signer.", cell: (one) => specOf(one).signerName },
      {
        name: "State",
        type: "string",
        doc: "State of the request: Pending, Issued, Denied or Failed.",
        cell: ({ status: current }) => requestState(current?.conditions ?? []),
      },
      {
        name: "UnverifiedUserAnnotations",
        type: "string",
        doc: "Annotations for the signer from the pod's volume, not verified by the server.",
        cell: (one) => annotationsText(specOf(one).unverifiedUserAnnotations ?? {}),
      },
    ],
  });
}

function annotationsText(input: Readonly<Record<string, string>>): string {
  const texts = Object.entries(input).map(([name, value]) => `${name}=${value}`);
  return orNone(texts.toSorted().join(","));
}

/** Release 1.35 and later; the stored version, because it has the fields of all versions. */
export const PodCertificateRequestV1beta1 = declareRequest(v1beta1, declareKeySpec(v1beta1), {
  servedByDefault: false,
});
export type PodCertificateRequestV1beta1 = ObjectFor<typeof PodCertificateRequestV1beta1>;

const conversion: Conversion = {
  stored: () => PodCertificateRequestV1beta1,
  toStored: (object) => object,
  fromStored(object) {
    const { pkixPublicKey: _, proofOfPossession: __, ...spec } = object["spec"] as Record<string, unknown>;
    return { ...object, spec };
  },
};

/** Release 1.37 and later. */
export const PodCertificateRequestV1 = declareRequest(v1, declareSpec(v1), {
  servedByDefault: true,
  conversion,
});
export type PodCertificateRequestV1 = ObjectFor<typeof PodCertificateRequestV1>;

/** Release 1.34. */
export const PodCertificateRequestV1alpha1 = declareRequest(v1alpha1, declareKeySpec(v1alpha1), {
  servedByDefault: false,
  conversion: { ...conversion, fromStored: (object) => object },
});
export type PodCertificateRequestV1alpha1 = ObjectFor<typeof PodCertificateRequestV1alpha1>;
