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
  "The action. Exactly one kind of attributes is given.",
  {
    resourceAttributes: field(1, ResourceAttributes, "The action, if it is on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "The action, if it is on a URL path.").nullable(),
    limit: field(
      3,
      int32,
      `Subjects to list at most: from 1 to ${maxSubjects}; ${defaultSubjects} unless given.`,
    )
      .unpublishedDefault(defaultSubjects)
      .nullable(),
    continue: field(4, string, "The continuation token of an earlier response (status.continue)."),
  },
);
export type SubjectAccessListSpec = Static<typeof SubjectAccessListSpec>;

const AllowedSubject = struct("AllowedSubject", "A subject that is allowed the action.", {
  kind: field(1, string, "User, Group or ServiceAccount.").required(),
  namespace: field(2, string, "Namespace of a service account."),
  name: field(3, string, "Name of the subject.").required(),
  members: field(4, string, "Of a group whose members the server decides: who they are."),
  grants: field(5, list(SubjectGrant), "By which bindings and rules: the first of them.").atomic().required(),
  moreGrants: field(6, bool, "Whether there are more."),
});

const UnlistedAccess = struct("UnlistedAccess", "Users who may be allowed but can't be listed.", {
  authorizer: field(1, string, "Name of the authorizer that knows them.").required(),
  message: field(2, string, "Who they are, and why they aren't listed.").required(),
});

const SubjectAccessListStatus = struct("SubjectAccessListStatus", "Who is allowed the action.", {
  subjects: field(1, list(AllowedSubject), "The subjects of bindings, by kind, namespace and name.")
    .atomic()
    .declaredRequired(),
  continue: field(2, string, "Given where there are more: to be sent as spec.continue."),
  unlisted: field(3, list(UnlistedAccess), "Who may be allowed beside them.").atomic(),
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
    metadata: field(1, ObjectMeta, "Metadata, without meaning here.").emitEmpty(),
    spec: field(2, SubjectAccessListSpec, "The action.").required(),
    status: field(3, SubjectAccessListStatus, "The subjects, filled in by the server.").emitEmpty(),
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
