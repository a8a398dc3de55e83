import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, string, type Static } from "../../schema/types.ts";
import {
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from "./attributes.ts";
import {
  localSubjectAccessReviewFaults,
  reportSpecFaults,
  selfSubjectAccessReviewFaults,
  subjectAccessReviewFaults,
} from "./spec-faults.ts";

const metadata = field(
  1,
  ObjectMeta,
  "Object metadata; only the namespace of a LocalSubjectAccessReview has an effect.",
).emitEmpty();
const answer = field(3, SubjectAccessReviewStatus, "The decision, set by the server.").emitEmpty();
const subjectSpec = field(2, SubjectAccessReviewSpec, "The user and the action to authorize.").required();

/**
 * Reports metadata of a review: only managed fields are allowed.
 *
 * @param namespace whether the namespace of a local review is allowed.
 */
function checkNoMetadata({ metadata: sent }: ApiObject, report: FieldReport, namespace?: "namespace"): void {
  const { managedFields: _managed, creationTimestamp: _created, ...rest } = sent;
  const { namespace: inside, ...others } = rest;
  const values = Object.values(namespace === undefined ? { inside, ...others } : others);
  if (values.every((value) => value === undefined || value === "")) return;
  report
    .at("metadata")
    .invalid(sent, namespace === undefined ? "must be empty" : "must be empty except for namespace");
}

export const SubjectAccessReview = kind({
  name: "SubjectAccessReview",
  resource: "subjectaccessreviews",
  singular: "subjectaccessreview",
  scope: "Cluster",
  doc: "Checks whether a user or group is allowed an action.",
  verbs: ["create"],
  fields: { metadata, spec: subjectSpec, status: answer },
  validate(review, report) {
    reportSpecFaults(subjectAccessReviewFaults(review.spec), report.at("spec"));
    checkNoMetadata(review, report);
  },
});
export type SubjectAccessReview = ObjectFor<typeof SubjectAccessReview>;

export const LocalSubjectAccessReview = kind({
  name: "LocalSubjectAccessReview",
  resource: "localsubjectaccessreviews",
  singular: "localsubjectaccessreview",
  scope: "Namespaced",
  doc: "Checks whether a user or group is allowed an action in one namespace.",
  verbs: ["create"],
  fields: { metadata, spec: subjectSpec, status: answer },
  fillDefaults(copy) {
    const attributes = copy.spec?.resourceAttributes;
    const namespace = copy.metadata.namespace ?? "";
    if (attributes !== undefined && (attributes.namespace ?? "") === "") attributes.namespace = namespace;
  },
  validate(review, report) {
    const faults = localSubjectAccessReviewFaults(review.spec, review.metadata.namespace ?? "");
    reportSpecFaults(faults, report.at("spec"));
    checkNoMetadata(review, report, "namespace");
  },
});
export type LocalSubjectAccessReview = ObjectFor<typeof LocalSubjectAccessReview>;

export const SelfSubjectAccessReview = kind({
  name: "SelfSubjectAccessReview",
  resource: "selfsubjectaccessreviews",
  singular: "selfsubjectaccessreview",
  scope: "Cluster",
  doc: "Checks whether the caller is allowed an action.",
  verbs: ["create"],
  fields: {
    metadata,
    spec: field(2, SelfSubjectAccessReviewSpec, "The action to authorize.").required(),
    status: answer,
  },
  validate(review, report) {
    reportSpecFaults(selfSubjectAccessReviewFaults(review.spec), report.at("spec"));
    checkNoMetadata(review, report);
  },
});
export type SelfSubjectAccessReview = ObjectFor<typeof SelfSubjectAccessReview>;

const ResourceRule = struct("ResourceRule", "Verbs that are allowed on resources.", {
  verbs: field(1, list(string), "Allowed verbs; `*` is every verb.").required().atomic(),
  apiGroups: field(2, list(string), "Groups of the resources; `*` is every group.").atomic(),
  resources: field(
    3,
    list(string),
    "Resource types; `*` matches every type, and `*/x` the subresource x of every type.",
  ).atomic(),
  resourceNames: field(
    4,
    list(string),
    "Names of the objects to which the rule is limited; empty matches all.",
  ).atomic(),
});

const NonResourceRule = struct("NonResourceRule", "Verbs that are allowed on URL paths.", {
  verbs: field(1, list(string), "Allowed HTTP methods in lower case; `*` is every method.")
    .required()
    .atomic(),
  nonResourceURLs: field(2, list(string), "URL paths; the last segment may be `*`.").atomic(),
});

const SubjectRulesReviewStatus = struct(
  "SubjectRulesReviewStatus",
  "Actions that the caller is allowed in a namespace.",
  {
    resourceRules: field(1, list(ResourceRule), "Rules for resources.").declaredRequired().atomic(),
    nonResourceRules: field(2, list(NonResourceRule), "Rules for URL paths.").declaredRequired().atomic(),
    incomplete: field(3, bool, "Whether the list of rules may be incomplete.").declaredRequired(),
    evaluationError: field(4, string, "Error while collecting the rules; the rules found are still valid."),
  },
);
export type SubjectRulesReviewStatus = Static<typeof SubjectRulesReviewStatus>;

const SelfSubjectRulesReviewSpec = struct(
  "SelfSubjectRulesReviewSpec",
  "The namespace whose rules are listed.",
  {
    namespace: field(1, string, "Namespace of the rules; required."),
  },
);

export const SelfSubjectRulesReview = kind({
  name: "SelfSubjectRulesReview",
  resource: "selfsubjectrulesreviews",
  singular: "selfsubjectrulesreview",
  scope: "Cluster",
  doc: "Lists the actions that the caller is allowed in a namespace; for display, not for access decisions.",
  verbs: ["create"],
  fields: {
    metadata,
    spec: field(2, SelfSubjectRulesReviewSpec, "Namespace whose rules are listed.").required(),
    status: field(3, SubjectRulesReviewStatus, "The rules, set by the server.").emitEmpty(),
  },
  validate(review, report) {
    if ((review.spec.namespace ?? "") === "") {
      report.at("spec", "namespace").required("no namespace on request");
    }
  },
});
export type SelfSubjectRulesReview = ObjectFor<typeof SelfSubjectRulesReview>;
