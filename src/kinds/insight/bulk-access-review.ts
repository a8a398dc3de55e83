import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, string, type Static } from "../../schema/types.ts";
import {
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
  reviewAnswer,
} from "../authorization/attributes.ts";
import {
  reportSpecFaults,
  selfSubjectAccessReviewFaults,
  subjectAccessReviewFaults,
} from "../authorization/spec-faults.ts";

/** Maximum number of checks in a review. */
export const maxChecks = 1000;

const AccessCheck = struct(
  "AccessCheck",
  "An action of a user or of the caller to check; exactly one of the fields is set.",
  {
    subject: field(1, SubjectAccessReviewSpec, "User and action to check.").nullable(),
    self: field(2, SelfSubjectAccessReviewSpec, "The caller's action to check.").nullable(),
  },
);
export type AccessCheck = Static<typeof AccessCheck>;

const BulkAccessReviewSpec = struct("BulkAccessReviewSpec", "The actions to check.", {
  checks: field(1, list(AccessCheck), `Actions to check, 1 to ${maxChecks}.`).atomic().required(),
  listNames: field(
    2,
    bool,
    "Whether to list the names of the objects for which the action is allowed, if the check has no name and not all " +
      "objects are allowed.",
  ),
});
export type BulkAccessReviewSpec = Static<typeof BulkAccessReviewSpec>;

const AccessCheckResult = struct("AccessCheckResult", "Decision of one check.", {
  ...reviewAnswer,
  names: field(5, list(string), "Names of the first objects for which the action is allowed.").atomic(),
  moreNames: field(6, bool, "Whether the action is allowed for further objects."),
});

const BulkAccessReviewStatus = struct("BulkAccessReviewStatus", "Decisions of the checks.", {
  results: field(1, list(AccessCheckResult), "Decisions, in the order of the checks.")
    .atomic()
    .declaredRequired(),
});

export const BulkAccessReview = kind({
  name: "BulkAccessReview",
  resource: "bulkaccessreviews",
  singular: "bulkaccessreview",
  scope: "Cluster",
  doc: "Checks the access of users for many actions in one request.",
  verbs: ["create"],
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, BulkAccessReviewSpec, "The actions to check.").required(),
    status: field(3, BulkAccessReviewStatus, "The decisions, set by the server.").emitEmpty(),
  },
  validate({ spec }, report) {
    const checksReport = report.at("spec", "checks");
    const checks = spec.checks ?? [];
    if (checks.length === 0) checksReport.required("at least one check must be given");
    else if (checks.length > maxChecks) checksReport.tooMany(checks.length, maxChecks);
    else for (const [index, check] of checks.entries()) reportCheck(check, checksReport.at(index));
  },
});
export type BulkAccessReview = ObjectFor<typeof BulkAccessReview>;

function reportCheck({ subject, self }: AccessCheck, report: FieldReport): void {
  if (subject !== undefined && self !== undefined) {
    report.at("self").forbidden("may not be given together with subject");
  } else if (subject !== undefined) {
    reportSpecFaults(subjectAccessReviewFaults(subject), report.at("subject"));
  } else if (self !== undefined) {
    reportSpecFaults(selfSubjectAccessReviewFaults(self), report.at("self"));
  } else report.required("exactly one of subject and self must be given");
}
