import { since } from "../../base/release-rows.ts";
import { FieldSelectorRequirement } from "../meta/field-selector.ts";
import { LabelSelectorRequirement } from "../meta/label-selector.ts";
import { struct } from "./v1.ts";
import { bool, field, list, map, string, type Static } from "../../schema/types.ts";

const FieldSelectorAttributes = struct(
  "FieldSelectorAttributes",
  "A field selector, in text form or as requirements.",
  {
    rawSelector: field(1, string, "The selector in text form, as in a query parameter."),
    requirements: field(2, list(FieldSelectorRequirement), "Parsed requirements; all must match.").atomic(),
  },
);

const LabelSelectorAttributes = struct(
  "LabelSelectorAttributes",
  "A label selector, in text form or as requirements.",
  {
    rawSelector: field(1, string, "The selector in text form, as in a query parameter."),
    requirements: field(2, list(LabelSelectorRequirement), "Parsed requirements; all must match.").atomic(),
  },
);

/** The action of a review on a resource (spec: access review 2.2). */
export const ResourceAttributes = struct(
  "ResourceAttributes",
  "An action on a resource.",
  {
    namespace: field(
      1,
      string,
      "Namespace of the action; empty for the cluster scope and for all namespaces.",
    ),
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
  "The user and the action to authorize; exactly one kind of attributes is set.",
  {
    resourceAttributes: field(1, ResourceAttributes, "Action on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "Action on a URL path.").nullable(),
    user: field(3, string, "Name of the user."),
    groups: field(4, list(string), "Groups of the user.").atomic(),
    extra: field(5, map(list(string)), "Further attributes of the user."),
    uid: field(6, string, "Unique identifier of the user."),
  },
);
export type SubjectAccessReviewSpec = Static<typeof SubjectAccessReviewSpec>;

export const SelfSubjectAccessReviewSpec = struct(
  "SelfSubjectAccessReviewSpec",
  "The caller's action to authorize; exactly one kind of attributes is set.",
  {
    resourceAttributes: field(1, ResourceAttributes, "Action on a resource.").nullable(),
    nonResourceAttributes: field(2, NonResourceAttributes, "Action on a URL path.").nullable(),
  },
);
export type SelfSubjectAccessReviewSpec = Static<typeof SelfSubjectAccessReviewSpec>;

/** The fields of the status of every access review. */
export const reviewAnswer = {
  allowed: field(1, bool, "Whether the action is allowed.").required(),
  denied: field(
    4,
    bool,
    "Whether the action is denied; if neither allowed nor denied, no authorizer decided.",
  ),
  reason: field(2, string, "Reason for the decision."),
  evaluationError: field(3, string, "Error during the evaluation; the decision can still be valid."),
};

export const SubjectAccessReviewStatus = struct(
  "SubjectAccessReviewStatus",
  "Decision of an access review.",
  reviewAnswer,
);
export type SubjectAccessReviewStatus = Static<typeof SubjectAccessReviewStatus>;
