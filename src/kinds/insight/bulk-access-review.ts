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

const AccessCheck = struct("AccessCheck", "One access check, of a user or of the caller.", {
  subject: field(1, SubjectAccessReviewSpec, "Whether a user or group may do something.").nullable(),
  self: field(2, SelfSubjectAccessReviewSpec, "Whether the caller may do something.").nullable(),
});
export type AccessCheck = Static<typeof AccessCheck>;

const BulkAccessReviewSpec = struct("BulkAccessReviewSpec", "The questions.", {
  checks: field(1, list(AccessCheck), `From 1 to ${maxChecks} questions.`).atomic().required(),
  listNames: field(
    2,
    bool,
    "Whether answers list the names of objects for which an action is allowed, where it isn't allowed for all and the " +
      "question names none.",
  ),
});
export type BulkAccessReviewSpec = Static<typeof BulkAccessReviewSpec>;

const AccessCheckResult = struct("AccessCheckResult", "The answer to one check.", {
  ...reviewAnswer,
  names: field(5, list(string), "The first names of objects for which the action is allowed.").atomic(),
  moreNames: field(6, bool, "Whether there are more of them."),
});

const BulkAccessReviewStatus = struct("BulkAccessReviewStatus", "The answers.", {
  results: field(1, list(AccessCheckResult), "The answer to each check, in the order of the checks.")
    .atomic()
    .declaredRequired(),
});

export const BulkAccessReview = kind({
  name: "BulkAccessReview",
  resource: "bulkaccessreviews",
  singular: "bulkaccessreview",
  scope: "Cluster",
  doc: "Checks many actions of users at once.",
  verbs: ["create"],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata, without meaning here.").emitEmpty(),
    spec: field(2, BulkAccessReviewSpec, "The questions.").required(),
    status: field(3, BulkAccessReviewStatus, "The answers, filled in by the server.").emitEmpty(),
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
