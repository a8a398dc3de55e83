import { deepClone } from "../../base/json/value.ts";
import { kind, struct } from "./v1.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bytes, field, int32, list, map, string, time } from "../../schema/types.ts";
import { orNone } from "../cells.ts";
import { ageColumn, nameColumn, shortDuration } from "../columns.ts";
import {
  checkNewSpec,
  checkStatus,
  checkStatusChange,
  stampConditions,
  stateText,
  usageNames,
} from "./request-rules.ts";

const CertificateSigningRequestSpec = struct(
  "CertificateSigningRequestSpec",
  "The requested certificate and the requesting user.",
  {
    request: field(1, bytes, "Certificate request (PKCS#10 in PEM).").declaredRequired(),
    username: field(2, string, "Name of the requesting user, set by the server."),
    uid: field(3, string, "UID of the requesting user, set by the server."),
    groups: field(4, list(string), "Groups of the requesting user, set by the server.").atomic(),
    usages: field(5, list(string), "Requested key usages, such as `client auth`.")
      .atomic()
      .oneOf(...usageNames)
      .unchecked(),
    extra: field(6, map(list(string)), "Extra attributes of the requesting user, set by the server."),
    signerName: field(7, string, "Name of the requested signer.").required(),
    expirationSeconds: field(
      8,
      int32,
      "Requested validity in seconds, at least 600; the signer may choose another one.",
    ).nullable(),
  },
);

const CertificateSigningRequestCondition = struct(
  "CertificateSigningRequestCondition",
  "A decision about a request, or its failure.",
  {
    type: field(
      1,
      string,
      "Type of the condition: Approved, Denied or Failed; others only in the `kubernetes` vocabulary.",
    )
      .declaredRequired()
      .knownValues("Approved", "Denied", "Failed"),
    reason: field(2, string, "Machine-readable reason in CamelCase."),
    message: field(3, string, "Human-readable details."),
    lastUpdateTime: field(4, time, "Time of the last update of the condition.").emitEmpty(),
    lastTransitionTime: field(5, time, "Time of the last change of `status`.").emitEmpty(),
    status: field(6, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
  },
);

const CertificateSigningRequestStatus = struct(
  "CertificateSigningRequestStatus",
  "Decision about the request and the issued certificate.",
  {
    conditions: field(
      1,
      list(CertificateSigningRequestCondition),
      "Approval, denial or failure of the request.",
    ).mapBy("type"),
    certificate: field(2, bytes, "Issued certificate chain (PEM)."),
  },
  { check: checkStatus },
);

function requester(user: UserInfo | undefined) {
  if (user === undefined) return {};
  const { name, uid, groups, extra } = user;
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: deepClone(extra) as Record<string, string[]> }),
  };
}

function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

export const CertificateSigningRequest = kind({
  name: "CertificateSigningRequest",
  resource: "certificatesigningrequests",
  singular: "certificatesigningrequest",
  shortNames: ["csr"],
  scope: "Cluster",
  nameForm: "pathSegment",
  doc: "Requests a certificate from a signer.",
  effect: {
    enforced: "approving and signing need permission for the signer",
    acts: "`csrapproving` approves requests of node agents, `csrsigning` signs for the built-in signers, `csrcleaner` deletes old requests",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the request.").emitEmpty(),
    spec: field(2, CertificateSigningRequestSpec, "The requested certificate; immutable.").required(),
    status: field(
      3,
      CertificateSigningRequestStatus,
      "Decision about the request and the issued certificate.",
    ).emitEmpty(),
  },
  selectable: { "spec.signerName": ({ spec }) => spec.signerName },
  prepareCreate(copy, { user }) {
    // The server sets the requester; values in the request are dropped.
    const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec } = copy.spec;
    copy.spec = { ...spec, ...requester(user) };
  },
  unowned: ["spec"],
  prepareUpdate(copy, live) {
    copy.spec = deepClone(live.spec);
  },
  validateCreate({ spec }, report, context) {
    // A spec is immutable. An invalid spec that an older release stored stays writable, so that its signer can set
    // Failed.
    checkNewSpec(spec, report.at("spec"), context);
  },
  validateUpdate(request, live, report, context) {
    checkStatusChange(request.status ?? {}, live.status ?? {}, context, report.at("status"));
  },
  status: {
    initial: () => ({}),
    // Conditions belong to `approval`, regardless of the subresource that writes them.
    unowned: [["status", "conditions"]],
    write(written, live, { now = 0 }) {
      stampConditions(written.status?.conditions ?? [], live.status?.conditions ?? [], timeText(now));
      return written.status;
    },
  },
  subresources: {
    approval: {
      verbs: ["get", "patch", "update"],
      unowned: [["status", "certificate"]],
      merge(copy, written, { now = 0 }) {
        const before = copy.status?.conditions ?? [];
        const conditions = written.status?.conditions ?? [];
        stampConditions(conditions, before, timeText(now));
        const { conditions: _, ...status } = copy.status ?? {};
        copy.status = conditions.length === 0 ? status : { ...status, conditions };
      },
    },
  },
  columns: [
    nameColumn,
    ageColumn,
    {
      name: "SignerName",
      type: "string",
      doc: "Name of the signer.",
      cell: ({ spec }) => orNone(spec.signerName),
    },
    {
      name: "Requestor",
      type: "string",
      doc: "Name of the requesting user.",
      cell: ({ spec }) => spec.username ?? "",
    },
    {
      name: "RequestedDuration",
      type: "string",
      doc: "Requested validity.",
      cell: ({ spec }) =>
        spec.expirationSeconds === undefined ? "<none>" : shortDuration(spec.expirationSeconds),
    },
    {
      name: "Condition",
      type: "string",
      doc: "Approval, denial or failure of the request.",
      cell: ({ status }) => stateText(status ?? {}),
    },
  ],
});
export type CertificateSigningRequest = ObjectFor<typeof CertificateSigningRequest>;
