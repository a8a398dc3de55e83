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
  "The requested certificate, and the user who requests it.",
  {
    request: field(1, bytes, "The request (PKCS#10 in PEM).").declaredRequired(),
    username: field(2, string, "Name of the user who asked; set by the server."),
    uid: field(3, string, "Identifier of the user who asked; set by the server."),
    groups: field(4, list(string), "Groups of the user who asked; set by the server.").atomic(),
    usages: field(5, list(string), "What the key may be used for.")
      .atomic()
      .oneOf(...usageNames)
      .unchecked(),
    extra: field(6, map(list(string)), "Further facts of the user who asked; set by the server."),
    signerName: field(7, string, "Who is asked to sign.").required(),
    expirationSeconds: field(
      8,
      int32,
      "How long the certificate should hold; the signer may give another time.",
    ).nullable(),
  },
);

const CertificateSigningRequestCondition = struct(
  "CertificateSigningRequestCondition",
  "What was decided about a request.",
  {
    type: field(1, string, "Approved, Denied or Failed; in the `kubernetes` vocabulary also another word.")
      .declaredRequired()
      .knownValues("Approved", "Denied", "Failed"),
    reason: field(2, string, "Short reason for programs."),
    message: field(3, string, "Explanation for people."),
    lastUpdateTime: field(4, time, "When the condition was last written.").emitEmpty(),
    lastTransitionTime: field(5, time, "When the status last changed.").emitEmpty(),
    status: field(6, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  },
);

const CertificateSigningRequestStatus = struct(
  "CertificateSigningRequestStatus",
  "What became of a request.",
  {
    conditions: field(1, list(CertificateSigningRequestCondition), "What was decided.").mapBy("type"),
    certificate: field(2, bytes, "The certificate (PEM), with those of its issuers."),
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
  doc: "Asks for a certificate.",
  effect: {
    enforced: "approving and signing need permission for the signer",
    acts: "`csrapproving` approves requests of node agents, `csrsigning` signs for the built-in signers, `csrcleaner` deletes old requests",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the request.").emitEmpty(),
    spec: field(2, CertificateSigningRequestSpec, "What is asked for; it can't be changed.").required(),
    status: field(3, CertificateSigningRequestStatus, "What became of it.").emitEmpty(),
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
      doc: "Who is asked to sign.",
      cell: ({ spec }) => orNone(spec.signerName),
    },
    { name: "Requestor", type: "string", doc: "Who asked.", cell: ({ spec }) => spec.username ?? "" },
    {
      name: "RequestedDuration",
      type: "string",
      doc: "How long the certificate should hold.",
      cell: ({ spec }) =>
        spec.expirationSeconds === undefined ? "<none>" : shortDuration(spec.expirationSeconds),
    },
    {
      name: "Condition",
      type: "string",
      doc: "What was decided.",
      cell: ({ status }) => stateText(status ?? {}),
    },
  ],
});
export type CertificateSigningRequest = ObjectFor<typeof CertificateSigningRequest>;
