import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, string, type Static } from "../../schema/types.ts";
import { SubjectAccessReviewSpec } from "../authorization/attributes.ts";
import { reportSpecFaults, subjectAccessReviewFaults } from "../authorization/spec-faults.ts";
import { AccessGrant, BindingFault, NearMiss, SubjectGrant } from "./grants.ts";

const AuthorizerOpinion = struct("AuthorizerOpinion", "Decision of one authorizer.", {
  name: field(1, string, "Name of the authorizer, as in `--authorization-mode`.").required(),
  opinion: field(
    2,
    string,
    "Opinion of the authorizer: Allow, Deny or NoOpinion; after NoOpinion the next one decides.",
  )
    .required()
    .knownValues("Allow", "Deny", "NoOpinion"),
  reason: field(3, string, "Reason for the opinion."),
});

const AllowedGroup = struct("AllowedGroup", "A group whose members are allowed the action.", {
  name: field(1, string, "Name of the group.").required(),
  grants: field(2, list(SubjectGrant), "The first bindings and rules that grant it.").atomic().required(),
  moreGrants: field(3, bool, "Whether further bindings and rules grant it."),
});

const AccessExplanationStatus = struct("AccessExplanationStatus", "Decision and its explanation.", {
  allowed: field(1, bool, "Whether the action is allowed.").required(),
  denied: field(
    2,
    bool,
    "Whether the action is denied; if neither allowed nor denied, no authorizer decided and the request is rejected.",
  ),
  reason: field(3, string, "Reason for the decision, as in a SubjectAccessReview."),
  evaluationError: field(4, string, "Error during the evaluation."),
  decidedBy: field(5, string, "Name of the authorizer that decided; absent if none did."),
  authorizers: field(
    6,
    list(AuthorizerOpinion),
    "Decisions of the authorizers, in the order in which they were called.",
  ).atomic(),
  grants: field(7, list(AccessGrant), "The first bindings and rules that allow the action.").atomic(),
  moreGrants: field(8, bool, "Whether further bindings and rules allow the action."),
  nearMisses: field(
    9,
    list(NearMiss),
    "Bindings and rules that nearly allow a rejected action, the closest first.",
  ).atomic(),
  nearMissesLeftOut: field(10, int32, "Number of further near misses that are not listed."),
  faults: field(11, list(BindingFault), "Bindings of the user or their groups that have no effect.").atomic(),
  faultsLeftOut: field(12, int32, "Number of further faulty bindings that are not listed."),
  namespacesLeftOut: field(
    13,
    int32,
    "Number of other namespaces whose bindings were not searched for near misses.",
  ),
  notes: field(14, list(string), "Further remarks on the decision.").atomic(),
  allowedGroups: field(
    15,
    list(AllowedGroup),
    "Groups whose members are allowed a rejected action; only if the request names no groups.",
  ).atomic(),
  moreAllowedGroups: field(16, bool, "Whether further groups are allowed the action."),
});
export type AccessExplanationStatus = Static<typeof AccessExplanationStatus>;

export const AccessExplanation = kind({
  name: "AccessExplanation",
  resource: "accessexplanations",
  singular: "accessexplanation",
  scope: "Cluster",
  doc: "Explains which bindings and rules allow an action, or what is missing.",
  verbs: ["create"],
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(
      2,
      SubjectAccessReviewSpec,
      "The user and the action, as in a SubjectAccessReview.",
    ).required(),
    status: field(
      3,
      AccessExplanationStatus,
      "The decision and its explanation, set by the server.",
    ).emitEmpty(),
  },
  validate: (review, report) => reportSpecFaults(subjectAccessReviewFaults(review.spec), report.at("spec")),
});
export type AccessExplanation = ObjectFor<typeof AccessExplanation>;
