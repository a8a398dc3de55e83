import { bool, field, list, string } from "../../schema/types.ts";
import type { Declarations } from "./condition.ts";
import {
  checkAccount,
  checkResourceRule,
  checkRules,
  checkSubject,
  checkUrlRule,
} from "./flow-schema-rules.ts";

/** Declares the rules that select requests and subjects, in one version of the group. */
export function declarePolicyRules(declarations: Declarations) {
  const { struct } = declarations;
  const resourceRule = struct(
    "ResourcePolicyRule",
    "Requests for resources.",
    {
      verbs: field(1, list(string), "The verbs; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      apiGroups: field(2, list(string), "Groups of the resources; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      resources: field(
        3,
        list(string),
        "Resources, and subresources behind a slash; `*` matches all and must be the only item.",
      )
        .declaredRequired()
        .set(),
      clusterScope: field(4, bool, "Requests without a namespace are meant too."),
      namespaces: field(5, list(string), "Namespaces; `*` matches all and must be the only item.")
        .emitEmpty()
        .set(),
    },
    { check: checkResourceRule },
  );
  const urlRule = struct(
    "NonResourcePolicyRule",
    "Requests for URL paths.",
    {
      verbs: field(1, list(string), "The verbs; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      nonResourceURLs: field(6, list(string), "The paths; `*` at the end stands for anything.")
        .declaredRequired()
        .set(),
    },
    { check: checkUrlRule },
  );
  return struct(
    "PolicyRulesWithSubjects",
    "The requests and subjects that match.",
    {
      subjects: field(1, list(declareSubject(declarations)), "Who makes the requests; one must fit.")
        .declaredRequired()
        .atomic(),
      resourceRules: field(2, list(resourceRule), "Requests for resources.").atomic(),
      nonResourceRules: field(3, list(urlRule), "Requests for URL paths.").atomic(),
    },
    { check: checkRules },
  );
}

function declareSubject({ struct }: Declarations) {
  const user = struct("UserSubject", "A user.", {
    name: field(1, string, "Name of the user; `*` is everybody.").required(),
  });
  const group = struct("GroupSubject", "A group of users.", {
    name: field(1, string, "Name of the group; `*` is every group.").required(),
  });
  const account = struct(
    "ServiceAccountSubject",
    "A service account.",
    {
      namespace: field(1, string, "Namespace of the account.").declaredRequired(),
      name: field(2, string, "Name of the account; `*` is every one of the namespace.").required(),
    },
    { check: checkAccount },
  );
  return struct(
    "Subject",
    "A user, group or service account.",
    {
      kind: field(1, string, "User, Group or ServiceAccount.")
        .declaredRequired()
        .knownValues("Group", "ServiceAccount", "User"),
      user: field(2, user, "The user, for the kind User.").nullable(),
      group: field(3, group, "The group, for the kind Group.").nullable(),
      serviceAccount: field(4, account, "The account, for the kind ServiceAccount.").nullable(),
    },
    { check: checkSubject },
  );
}
