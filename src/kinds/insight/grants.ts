import { struct } from "./v1.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const namespaceDoc = "Namespace of the object; absent if it is cluster-scoped.";

/** A reference to a binding. */
const BindingReference = struct("BindingReference", "Reference to a binding.", {
  kind: field(1, string, "Kind of the binding: RoleBinding or ClusterRoleBinding.").required(),
  namespace: field(2, string, namespaceDoc),
  name: field(3, string, "Name of the binding.").required(),
});

/** A reference to a role. */
const RoleReference = struct("RoleReference", "Reference to a role.", {
  kind: field(1, string, "Kind of the role: Role or ClusterRole.").required(),
  namespace: field(2, string, namespaceDoc),
  name: field(3, string, "Name of the role.").required(),
});

const BoundSubject = struct("BoundSubject", "A user, group or service account of a binding.", {
  kind: field(1, string, "Kind of the subject: User, Group or ServiceAccount.").required(),
  namespace: field(2, string, "Namespace of a service account."),
  name: field(3, string, "Name of the subject.").required(),
});

const ShownRule = struct("ShownRule", "A rule of a role; long lists are truncated.", {
  verbs: field(1, list(string), "Verbs that the rule allows.").atomic().required(),
  apiGroups: field(2, list(string), "API groups of the resources.").atomic(),
  resources: field(3, list(string), "Resource types that the rule matches.").atomic(),
  resourceNames: field(
    4,
    list(string),
    "Names of the objects to which the rule is limited; empty matches all.",
  ).atomic(),
  nonResourceURLs: field(5, list(string), "URL paths that the rule matches.").atomic(),
  entriesLeftOut: field(6, int32, "Number of entries omitted from truncated lists."),
});

const binding = field(1, BindingReference, "The binding that grants the role.").required();
const role = field(2, RoleReference, "The role that the binding refers to.").required();
const rule = field(4, ShownRule, "A rule of the role.").required();
const ruleIndex = field(5, int32, "Index of the rule in the role, starting at 0.").declaredRequired();
const aggregatedFrom = field(
  6,
  list(string),
  "Names of the cluster roles that contain the rule, if the role aggregates them.",
).atomic();
const subject = field(3, BoundSubject, "User or group in the binding that matches the user.").required();

/** A grant of one rule to a subject that is named elsewhere. */
export const SubjectGrant = struct("SubjectGrant", "A binding and a rule that allow the action.", {
  binding,
  role,
  rule,
  ruleIndex,
  aggregatedFrom,
});

/** A grant of one rule to a subject. */
export const AccessGrant = struct("AccessGrant", "A subject, binding and rule that allow the action.", {
  binding,
  role,
  subject,
  rule,
  ruleIndex,
  aggregatedFrom,
});

const MissingPart = struct("MissingPart", "A part of the request that a rule does not match.", {
  part: field(1, string, "The part that does not match, such as `verb`.")
    .required()
    .knownValues("verb", "apiGroup", "resource", "resourceName", "nonResourceURL", "namespace"),
  wanted: field(2, string, "The requested value, which the rule does not allow.").emitEmpty(),
  given: field(3, list(string), "Values that the rule allows; long lists are truncated.").atomic(),
  message: field(4, string, "Human-readable form of the mismatch.").required(),
});

/** A grant that nearly allows the requested action. */
export const NearMiss = struct("NearMiss", "A binding and a rule that nearly allow the action.", {
  binding,
  role,
  subject,
  rule,
  ruleIndex,
  aggregatedFrom,
  missing: field(7, list(MissingPart), "Parts of the request that the rule does not match.")
    .atomic()
    .required(),
});

/** A binding that has no effect. */
export const BindingFault = struct(
  "BindingFault",
  "A binding of the user or their groups that has no effect, or only in part.",
  {
    binding: field(1, BindingReference, "The faulty binding.").required(),
    role: field(2, RoleReference, "The role of the binding; absent if its kind is unknown.").nullable(),
    fault: field(3, string, "Type of the fault, such as RoleNotFound.")
      .required()
      .knownValues("RoleNotFound", "Invalid"),
    message: field(4, string, "Human-readable form of the fault.").required(),
  },
);
