import { struct } from "./v1.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const namespaceDoc = "Namespace of it; absent in the whole cluster.";

/** A reference to a binding. */
const BindingReference = struct("BindingReference", "A binding.", {
  kind: field(1, string, "RoleBinding or ClusterRoleBinding.").required(),
  namespace: field(2, string, namespaceDoc),
  name: field(3, string, "Name of the binding.").required(),
});

/** A reference to a role. */
const RoleReference = struct("RoleReference", "A role.", {
  kind: field(1, string, "Role or ClusterRole.").required(),
  namespace: field(2, string, namespaceDoc),
  name: field(3, string, "Name of the role.").required(),
});

const BoundSubject = struct("BoundSubject", "A user, group or service account, as a binding names it.", {
  kind: field(1, string, "User, Group or ServiceAccount.").required(),
  namespace: field(2, string, "Namespace of a service account."),
  name: field(3, string, "Name of the subject.").required(),
});

const ShownRule = struct("ShownRule", "A rule of a role; of long lists only the first entries.", {
  verbs: field(1, list(string), "Verbs that the rule allows.").atomic().required(),
  apiGroups: field(2, list(string), "Groups of the resources.").atomic(),
  resources: field(3, list(string), "Resource types.").atomic(),
  resourceNames: field(4, list(string), "Names that the rule is limited to; empty: all.").atomic(),
  nonResourceURLs: field(5, list(string), "URL paths.").atomic(),
  entriesLeftOut: field(6, int32, "How many entries of long lists aren't shown."),
});

const binding = field(1, BindingReference, "The binding that grants.").required();
const role = field(2, RoleReference, "The role that the binding refers to.").required();
const rule = field(4, ShownRule, "The role's rule.").required();
const ruleIndex = field(5, int32, "Place of the rule among the role's rules, from 0.").declaredRequired();
const aggregatedFrom = field(
  6,
  list(string),
  "Where the role gathers its rules from others: the cluster roles in which this rule is written.",
).atomic();
const subject = field(
  3,
  BoundSubject,
  "The subject by which the binding matches the user: the user or a group.",
).required();

/** A grant of one rule to a subject that is named elsewhere. */
export const SubjectGrant = struct("SubjectGrant", "A binding and a rule that allow the action.", {
  binding,
  role,
  rule,
  ruleIndex,
  aggregatedFrom,
});

/** A grant of one rule to a subject. */
export const AccessGrant = struct("AccessGrant", "A binding and a rule that allow what was asked.", {
  binding,
  role,
  subject,
  rule,
  ruleIndex,
  aggregatedFrom,
});

const MissingPart = struct("MissingPart", "What a grant lacks to allow what was asked.", {
  part: field(1, string, "The part of the question that doesn't match.")
    .required()
    .knownValues("verb", "apiGroup", "resource", "resourceName", "nonResourceURL", "namespace"),
  wanted: field(2, string, "What was asked for.").emitEmpty(),
  given: field(3, list(string), "What is granted instead; of long lists the first entries.").atomic(),
  message: field(4, string, "The same for people.").required(),
});

/** A grant that nearly allows the requested action. */
export const NearMiss = struct("NearMiss", "A binding and a rule that come close to what was asked.", {
  binding,
  role,
  subject,
  rule,
  ruleIndex,
  aggregatedFrom,
  missing: field(7, list(MissingPart), "What they lack.").atomic().required(),
});

/** A binding that has no effect. */
export const BindingFault = struct(
  "BindingFault",
  "A binding of the user or one of their groups that doesn't count, or not as a whole.",
  {
    binding: field(1, BindingReference, "The binding.").required(),
    role: field(
      2,
      RoleReference,
      "The role that it refers to; absent where that is of an unknown kind.",
    ).nullable(),
    fault: field(3, string, "What is wrong.").required().knownValues("RoleNotFound", "Invalid"),
    message: field(4, string, "The same for people.").required(),
  },
);
