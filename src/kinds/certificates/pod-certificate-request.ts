import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { since } from "../../schema/later-fields.ts";
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
  signerName: field(1, string, "Signer that is asked.").declaredRequired(),
  podName: field(2, string, "Name of the pod.").declaredRequired(),
  podUID: field(3, string, "Unique identifier of the pod.").declaredRequired(),
  serviceAccountName: field(4, string, "Service account of the pod.").declaredRequired(),
  serviceAccountUID: field(5, string, "Unique identifier of the service account.").declaredRequired(),
  nodeName: field(6, string, "Node of the pod.").declaredRequired(),
  nodeUID: field(7, string, "Unique identifier of the node.").declaredRequired(),
  maxExpirationSeconds: field(8, int32, "Longest validity in seconds, from 3600 to 7862400.")
    .nullable()
    .unpublishedDefault(defaultSeconds),
};
const annotations = field(11, map(string), "Unverified annotations of the pod's volume.");
const stubRequest = field(12, bytes, "Certificate request (PKCS#10 in DER), signed with the key of the pod.");

/** The spec of the versions that also take a bare key. */
function declareKeySpec({ struct }: Struct) {
  return struct(
    "PodCertificateRequestSpec",
    "The pod, its key, and the signer.",
    {
      ...identity,
      pkixPublicKey: field(9, bytes, "Public key of the pod (SubjectPublicKeyInfo in DER).").emitEmpty(),
      proofOfPossession: field(10, bytes, "Signature of the pod's UID with the key.").emitEmpty(),
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
  return struct("PodCertificateRequestSpec", "The pod, its key, and the signer.", {
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
  const status = struct("PodCertificateRequestStatus", "Decision of the signer, and the certificate.", {
    conditions: field(1, list(Condition), "Issued, Denied or Failed.").mapBy("type").patchMerge("type"),
    certificateChain: field(2, string, "Certificate and its authorities in PEM; at most 100 KiB."),
    notBefore: field(4, time, "Begin of the validity, as in the certificate.").nullable(),
    beginRefreshAt: field(5, time, "When the node begins to renew the certificate.").nullable(),
    notAfter: field(6, time, "End of the validity, as in the certificate.").nullable(),
  });
  const specOf = (object: { readonly spec: unknown }) => object.spec as PodRequestSpec;
  return kind({
    name: "PodCertificateRequest",
    resource: "podcertificaterequests",
    singular: "podcertificaterequest",
    scope: "Namespaced",
    allowUnconditionalUpdate: false,
    ...version,
    doc: "Asks a signer for a certificate of a pod.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the request.").emitEmpty(),
      spec: field(2, spec, "The pod, its key, and the signer; it can't be changed.").declaredRequired(),
      status: field(3, status, "Decision and certificate.").emitEmpty(),
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
      else
        checkRequestStatus(request as unknown as PodRequest, live as unknown as PodRequest, report, context);
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
      { name: "NodeName", type: "string", doc: "Node of the pod.", cell: (one) => specOf(one).nodeName },
      { name: "SignerName", type: "string", doc: "Signer.", cell: (one) => specOf(one).signerName },
      {
        name: "State",
        type: "string",
        doc: "Pending, Issued, Denied or Failed.",
        cell: ({ status: current }) => requestState(current?.conditions ?? []),
      },
      {
        name: "UnverifiedUserAnnotations",
        type: "string",
        doc: "Annotations of the pod's volume.",
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
