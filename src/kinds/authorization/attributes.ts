import { FieldSelectorRequirement } from "../meta/field-selector.ts";
import { LabelSelectorRequirement } from "../meta/label-selector.ts";
import { struct } from "./v1.ts";
import { since } from "../../schema/later-fields.ts";
import { bool, field, list, map, string, type Static } from "../../schema/types.ts";

const FieldSelectorAttributes = struct(
  "FieldSelectorAttributes",
  "A field selector, as text or as requirements.",
  {
    rawSelector: field(1, string, "The selector as in the query of a request."),
    requirements: field(2, list(FieldSelectorRequirement), "The requirements; all must match.").atomic(),
  },
);

const LabelSelectorAttributes = struct(
  "LabelSelectorAttributes",
  "A label selector, as text or as requirements.",
  {
    rawSelector: field(1, string, "The selector as in the query of a request."),
    requirements: field(2, list(LabelSelectorRequirement), "The requirements; all must match.").atomic(),
  },
);

/** The action of a review on a resource (spec: access review 2.2). */
export const ResourceAttributes = struct(
  "ResourceAttributes",
  "An action on a resource.",
  {
    namespace: field(1, string, "Namespace of the action; empty for cluster scope and for all namespaces."),
    verb: field(2, string, "API verb such as get or create; `*` is every verb."),
    group: field(3, string, "API group of the resource; `*` is every group."),
    version: field(4, string, "API version of the resource; `*` is every version."),
    resource: field(5, string, "Resource type; `*` is every type."),
    subresource: field(6, string, "Subresource; empty for none."),
    name: field(7, string, "Name of the object; empty for all."),
  },
  {
    later: () => ({
      fieldSelector: since(
        "1.31",
        field(8, FieldSelectorAttributes, "Field selector that the action is limited to.")
          .nullable()
          .gated("AuthorizeWithSelectors"),
      ),
      labelSelector: since(
        "1.31",
        field(9, LabelSelectorAttributes, "Label selector that the action is limited to.")
          .nullable()
          .gated("AuthorizeWithSelectors"),
      ),
    }),
  },
);

export const NonResourceAttributes = struct("NonResourceAttributes", "An action on a URL path.", {
  path: field(1, string, "Path of the request."),
  verb: field(2, string, "HTTP method in lower case."),
});

export const SubjectAccessReviewSpec = struct(
  "SubjectAccessReviewSpec",
  "Who wants to do what. Exactly one kind of attributes is given.",
  {
    resourceAttributes: field(1, ResourceAttributes, "The action, if it is on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "The action, if it is on a URL path.").nullable(),
    user: field(3, string, "User who is asked about."),
    groups: field(4, list(string), "Groups that the user is taken to be in.").atomic(),
    extra: field(5, map(list(string)), "Further facts that an authenticator would attach."),
    uid: field(6, string, "Unique identifier of the user."),
  },
);
export type SubjectAccessReviewSpec = Static<typeof SubjectAccessReviewSpec>;

export const SelfSubjectAccessReviewSpec = struct(
  "SelfSubjectAccessReviewSpec",
  "What the caller wants to do. Exactly one kind of attributes is given.",
  {
    resourceAttributes: field(1, ResourceAttributes, "The action, if it is on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "The action, if it is on a URL path.").nullable(),
  },
);
export type SelfSubjectAccessReviewSpec = Static<typeof SelfSubjectAccessReviewSpec>;

/** The fields of the status of every access review. */
export const reviewAnswer = {
  allowed: field(1, bool, "Whether the action is allowed.").required(),
  denied: field(
    4,
    bool,
    "Whether the action is denied. If it is neither allowed nor denied, no authorizer has an opinion.",
  ),
  reason: field(2, string, "Why the action is allowed or denied."),
  evaluationError: field(3, string, "Error while deciding; the decision may be valid nevertheless."),
};

export const SubjectAccessReviewStatus = struct(
  "SubjectAccessReviewStatus",
  "The answer of an access review.",
  reviewAnswer,
);
export type SubjectAccessReviewStatus = Static<typeof SubjectAccessReviewStatus>;
