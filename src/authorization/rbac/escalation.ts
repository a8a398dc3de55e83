import { jsonOf, deepEqual, type JsonValue } from "../../base/json/value.ts";
import { objectForbidden, objectNotFound } from "../../base/object-errors.ts";
import type { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { rbac } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Authorizer } from "../authorizer.ts";
import { compareRules, describeRules, quotedList } from "./coverage.ts";
import type { BindingObject, PolicyRule, RoleObject } from "./policy.ts";
import type { HeldRules } from "./rbac-index.ts";

/** Dependencies of the checks; `policy` is a {@link RbacIndex}. */
export interface EscalationSources {
  readonly authorizer: Authorizer;
  readonly policy: {
    policyRulesFor(user: UserInfo, namespace: string): HeldRules;
    roleRules(
      kind: "ClusterRole" | "Role",
      namespace: string,
      name: string,
    ): readonly PolicyRule[] | undefined;
  };
  readonly vocabulary: Vocabulary;
}

/** The role in the request. */
export interface WrittenRole extends RoleObject {
  readonly aggregationRule?: unknown;
  readonly metadata?: object | undefined;
}

/** The binding in the request. */
export interface WrittenBinding extends BindingObject {
  readonly metadata?: object | undefined;
}

/** A write of a Role (in `namespace`) or a ClusterRole (namespace empty). */
export interface RoleWrite {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly name: string;
  readonly role: WrittenRole;
  /** The stored role; undefined for a create. */
  readonly live: WrittenRole | undefined;
}

/** A write of a RoleBinding (in `namespace`) or a ClusterRoleBinding (namespace empty). */
export interface BindingWrite {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly name: string;
  readonly binding: WrittenBinding;
  /** The stored binding; undefined for a create. */
  readonly live: WrittenBinding | undefined;
}

/** All permissions. A user who sets an aggregation rule must have them, because the rule may select any role. */
const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Prevents privilege escalation by roles: the user must have all permissions of the role, or the verb `escalate` on it, or be
 * in `system:masters`. An update that changes only owner references, finalizers and managed fields is not checked.
 *
 * @throws {StatusError} Forbidden, with the missing permissions in the message.
 */
export async function checkRoleWrite(write: RoleWrite, sources: EscalationSources): Promise<void> {
  const { user, namespace, role, live } = write;
  if (live !== undefined && changesOnlyGarbageCollectorFields(role, live)) return;
  if (isSuperuser(user, sources)) return;
  const resource = namespace === "" ? "clusterroles" : "roles";
  // As in Kubernetes, the name is empty for a create, so a rule with resourceNames doesn't match.
  const name = live === undefined ? "" : write.name;
  if (await isAllowed("escalate", { user, namespace, resource, name }, sources)) return;
  const message = escalationMessage(user, namespace, role.rules ?? [], sources);
  if (message !== "") throw forbidden(resource, write.name, message, sources);
  if (role.aggregationRule === undefined || role.aggregationRule === null) return;
  if (escalationMessage(user, namespace, everything, sources) !== "") {
    const message = "must have cluster-admin privileges to use the aggregationRule";
    throw forbidden(resource, write.name, message, sources);
  }
}

/**
 * Prevents privilege escalation by bindings: the user must have all permissions of the bound role, or the verb `bind` on it, or
 * be in `system:masters`. An update that changes only owner references, finalizers and managed fields is not checked.
 *
 * @throws {StatusError} Forbidden, with the missing permissions in the message; NotFound if the role doesn't exist and the
 * user doesn't have the verb `bind` on it.
 */
export async function checkBindingWrite(write: BindingWrite, sources: EscalationSources): Promise<void> {
  const { user, namespace, binding, live } = write;
  if (live !== undefined && changesOnlyGarbageCollectorFields(binding, live)) return;
  if (isSuperuser(user, sources)) return;
  const { kind, name } = binding.roleRef;
  const isCluster = kind === "ClusterRole";
  const resource = isCluster ? "clusterroles" : "roles";
  if (await isAllowed("bind", { user, namespace, resource, name }, sources)) return;
  const rules = sources.policy.roleRules(isCluster ? "ClusterRole" : "Role", namespace, name);
  if (rules === undefined) {
    const group = groupName(rbac, sources.vocabulary);
    throw objectNotFound({ resource, group, name });
  }
  const message = escalationMessage(user, namespace, rules, sources);
  if (message === "") return;
  throw forbidden(namespace === "" ? "clusterrolebindings" : "rolebindings", write.name, message, sources);
}

function isSuperuser(user: UserInfo, { vocabulary }: EscalationSources): boolean {
  return user.groups.includes(`${vocabulary.systemPrefix}masters`);
}

async function isAllowed(
  verb: "bind" | "escalate",
  target: { user: UserInfo; namespace: string; resource: string; name: string },
  { authorizer, vocabulary }: EscalationSources,
): Promise<boolean> {
  const group = groupName(rbac, vocabulary);
  const attributes = { kind: "resource", verb, group, version: "*", subresource: "", ...target } as const;
  return (await authorizer.authorize(attributes)).verdict === "allow";
}

/** Returns the error message if the user lacks permissions of the rules; empty if they have all. */
function escalationMessage(
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
  { policy }: EscalationSources,
): string {
  const current = policy.policyRulesFor(user, namespace);
  const { missing, undecided } = compareRules(current.rules, rules);
  if (missing.length === 0) return "";
  const subject = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const permissions = describeRules(missing).join("\n");
  const errors = current.evaluationError === "" ? "" : `; resolution errors: ${current.evaluationError}`;
  if (undecided) {
    return `cannot be decided: too many rules to tell whether ${subject} holds these RBAC permissions:\n${permissions}${errors}`;
  }
  return `${subject} is attempting to grant RBAC permissions not currently held:\n${permissions}${errors}`;
}

/** Whether two objects differ at most in the metadata that the garbage collector changes, and in their resource versions. */
function changesOnlyGarbageCollectorFields(
  object: WrittenRole | WrittenBinding,
  live: WrittenRole | WrittenBinding,
): boolean {
  return deepEqual(withoutGarbageCollectorFields(object), withoutGarbageCollectorFields(live));
}

function withoutGarbageCollectorFields(object: WrittenRole | WrittenBinding): JsonValue {
  const metadata = {
    ...object.metadata,
    ownerReferences: undefined,
    finalizers: undefined,
    managedFields: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
  };
  return jsonOf({ ...object, metadata });
}

function forbidden(
  resource: string,
  name: string,
  message: string,
  { vocabulary }: EscalationSources,
): StatusError {
  return objectForbidden({ resource, group: groupName(rbac, vocabulary), name }, message);
}
