import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, string, type Static } from "../../schema/types.ts";
import { SubjectAccessReviewSpec } from "../authorization/attributes.ts";
import { reportSpecFaults, subjectAccessReviewFaults } from "../authorization/spec-faults.ts";
import { AccessGrant, BindingFault, NearMiss, SubjectGrant } from "./grants.ts";

const AuthorizerOpinion = struct("AuthorizerOpinion", "What one authorizer says to the question.", {
  name: field(1, string, "Name of the authorizer, as --authorization-mode spells it.").required(),
  opinion: field(2, string, "What it says; with NoOpinion the next one is asked.")
    .required()
    .knownValues("Allow", "Deny", "NoOpinion"),
  reason: field(3, string, "Why."),
});

const AllowedGroup = struct("AllowedGroup", "A group whose members are allowed the action.", {
  name: field(1, string, "Name of the group.").required(),
  grants: field(2, list(SubjectGrant), "By which bindings and rules: the first of them.").atomic().required(),
  moreGrants: field(3, bool, "Whether there are more."),
});

const AccessExplanationStatus = struct("AccessExplanationStatus", "How the answer comes about.", {
  allowed: field(1, bool, "Whether the action is allowed.").required(),
  denied: field(
    2,
    bool,
    "Whether the action is denied. If it is neither allowed nor denied, no authorizer has an opinion, and it is rejected.",
  ),
  reason: field(3, string, "Why, as an access review says it."),
  evaluationError: field(4, string, "What went wrong while deciding."),
  decidedBy: field(5, string, "The authorizer that decided; absent if none had an opinion."),
  authorizers: field(6, list(AuthorizerOpinion), "The authorizers that were asked, in their order.").atomic(),
  grants: field(7, list(AccessGrant), "The bindings and rules that allow the action.").atomic(),
  moreGrants: field(8, bool, "Whether there are more of them."),
  nearMisses: field(
    9,
    list(NearMiss),
    "When the action isn't allowed: what comes close, the closest first.",
  ).atomic(),
  nearMissesLeftOut: field(10, int32, "How many that come less close aren't listed."),
  faults: field(11, list(BindingFault), "Bindings of the user or their groups that don't count.").atomic(),
  faultsLeftOut: field(12, int32, "How many more of them there are."),
  namespacesLeftOut: field(
    13,
    int32,
    "In how many other namespaces there are bindings that weren't looked at for near misses.",
  ),
  notes: field(14, list(string), "What else is worth knowing.").atomic(),
  allowedGroups: field(
    15,
    list(AllowedGroup),
    "When the action isn't allowed and the question names no group of the user: groups whose members are allowed it.",
  ).atomic(),
  moreAllowedGroups: field(16, bool, "Whether there are more of them."),
});
export type AccessExplanationStatus = Static<typeof AccessExplanationStatus>;

export const AccessExplanation = kind({
  name: "AccessExplanation",
  resource: "accessexplanations",
  singular: "accessexplanation",
  scope: "Cluster",
  doc: "Explains why a user or group may do something, or what they lack.",
  verbs: ["create"],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata, without meaning here.").emitEmpty(),
    spec: field(2, SubjectAccessReviewSpec, "The question, as a SubjectAccessReview asks it.").required(),
    status: field(3, AccessExplanationStatus, "The explanation, filled in by the server.").emitEmpty(),
  },
  validate: (review, report) => reportSpecFaults(subjectAccessReviewFaults(review.spec), report.at("spec")),
});
export type AccessExplanation = ObjectFor<typeof AccessExplanation>;
