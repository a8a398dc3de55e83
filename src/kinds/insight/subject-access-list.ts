import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, string, type Static } from "../../schema/types.ts";
import { NonResourceAttributes, ResourceAttributes } from "../authorization/attributes.ts";
import { reportSpecFaults, selfSubjectAccessReviewFaults } from "../authorization/spec-faults.ts";
import { decodeContinueToken } from "./continue-token.ts";
import { SubjectGrant } from "./grants.ts";

/** Default number of subjects in a response. */
export const defaultSubjects = 200;
/** Maximum number of subjects in a response. */
export const maxSubjects = 1000;

const SubjectAccessListSpec = struct(
  "SubjectAccessListSpec",
  "The action whose subjects are listed; exactly one kind of attributes is set.",
  {
    resourceAttributes: field(1, ResourceAttributes, "Action on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "Action on a URL path.").nullable(),
    limit: field(
      3,
      int32,
      `Maximum number of subjects in the response, 1 to ${maxSubjects}. Default: ${defaultSubjects}.`,
    )
      .unpublishedDefault(defaultSubjects)
      .nullable(),
    continue: field(4, string, "Continuation token from `status.continue` of the previous response."),
  },
);
export type SubjectAccessListSpec = Static<typeof SubjectAccessListSpec>;

const AllowedSubject = struct("AllowedSubject", "A subject that is allowed the action.", {
  kind: field(1, string, "Kind of the subject: User, Group or ServiceAccount.").required(),
  namespace: field(2, string, "Namespace of a service account."),
  name: field(3, string, "Name of the subject.").required(),
  members: field(4, string, "Members of a group that the server assigns, such as `system:authenticated`."),
  grants: field(5, list(SubjectGrant), "The first bindings and rules that grant it.").atomic().required(),
  moreGrants: field(6, bool, "Whether further bindings and rules grant it."),
});

const UnlistedAccess = struct("UnlistedAccess", "Users who may be allowed the action but cannot be listed.", {
  authorizer: field(1, string, "Name of the authorizer that decides about them.").required(),
  message: field(2, string, "Description of the users, and why they are not listed.").required(),
});

const SubjectAccessListStatus = struct("SubjectAccessListStatus", "Subjects that are allowed the action.", {
  subjects: field(
    1,
    list(AllowedSubject),
    "Allowed subjects of bindings, sorted by kind, namespace and name.",
  )
    .atomic()
    .declaredRequired(),
  continue: field(2, string, "Continuation token for the next page; absent on the last page."),
  unlisted: field(3, list(UnlistedAccess), "Further users who may be allowed the action.").atomic(),
});
export type SubjectAccessListStatus = Static<typeof SubjectAccessListStatus>;

export const SubjectAccessList = kind({
  name: "SubjectAccessList",
  resource: "subjectaccesslists",
  singular: "subjectaccesslist",
  scope: "Cluster",
  doc: "Lists the users, groups and service accounts that are allowed an action.",
  verbs: ["create"],
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, SubjectAccessListSpec, "The action whose subjects are listed.").required(),
    status: field(3, SubjectAccessListStatus, "The subjects, set by the server.").emitEmpty(),
  },
  validate({ spec }, report) {
    reportSpecFaults(selfSubjectAccessReviewFaults(spec), report.at("spec"));
    const { limit, continue: token } = spec;
    if (limit !== undefined && (limit < 1 || limit > maxSubjects)) {
      report.at("spec", "limit").invalid(limit, `must be between 1 and ${maxSubjects}, inclusive`);
    }
    if (token !== undefined && token !== "" && decodeContinueToken(token) === undefined) {
      report.at("spec", "continue").invalid(token, "must be the status.continue of an earlier answer");
    }
  },
});
export type SubjectAccessList = ObjectFor<typeof SubjectAccessList>;
