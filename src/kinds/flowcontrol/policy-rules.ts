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
    "Matches requests for resources.",
    {
      verbs: field(1, list(string), "Verbs of the requests; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      apiGroups: field(
        2,
        list(string),
        "API groups of the resources; `*` matches all and must be the only item.",
      )
        .declaredRequired()
        .set(),
      resources: field(
        3,
        list(string),
        "Resources and subresources such as `pods/status`; `*` matches all and must be the only item.",
      )
        .declaredRequired()
        .set(),
      clusterScope: field(4, bool, "Whether requests without a namespace match."),
      namespaces: field(
        5,
        list(string),
        "Namespaces of the resources; `*` matches all and must be the only item.",
      )
        .emitEmpty()
        .set(),
    },
    { check: checkResourceRule },
  );
  const urlRule = struct(
    "NonResourcePolicyRule",
    "Matches requests for URL paths.",
    {
      verbs: field(1, list(string), "Verbs of the requests; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      nonResourceURLs: field(6, list(string), "URL paths; `*` at the end matches any suffix.")
        .declaredRequired()
        .set(),
    },
    { check: checkUrlRule },
  );
  return struct(
    "PolicyRulesWithSubjects",
    "Subjects and requests; a request matches if both its subject and a rule match.",
    {
      subjects: field(
        1,
        list(declareSubject(declarations)),
        "Users, groups and service accounts that make the requests; one must match.",
      )
        .declaredRequired()
        .atomic(),
      resourceRules: field(2, list(resourceRule), "Rules that match requests for resources.").atomic(),
      nonResourceRules: field(3, list(urlRule), "Rules that match requests for URL paths.").atomic(),
    },
    { check: checkRules },
  );
}

function declareSubject({ struct }: Declarations) {
  const user = struct("UserSubject", "A user.", {
    name: field(1, string, "Name of the user; `*` matches every user.").required(),
  });
  const group = struct("GroupSubject", "A group of users.", {
    name: field(1, string, "Name of the group; `*` matches every group.").required(),
  });
  const account = struct(
    "ServiceAccountSubject",
    "A service account.",
    {
      namespace: field(1, string, "Namespace of the account.").declaredRequired(),
      name: field(2, string, "Name of the account; `*` matches every account of the namespace.").required(),
    },
    { check: checkAccount },
  );
  return struct(
    "Subject",
    "A user, group or service account.",
    {
      kind: field(1, string, "Kind of the subject: User, Group or ServiceAccount.")
        .declaredRequired()
        .knownValues("Group", "ServiceAccount", "User"),
      user: field(2, user, "The user; only for the kind User.").nullable(),
      group: field(3, group, "The group; only for the kind Group.").nullable(),
      serviceAccount: field(4, account, "The account; only for the kind ServiceAccount.").nullable(),
    },
    { check: checkSubject },
  );
}
