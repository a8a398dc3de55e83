import { deepEqual, type JsonValue } from "../../base/json/value.ts";
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

/** What the checks look things up in; {@link RbacIndex} is the source of roles and rules. */
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

/** A role as a request writes it. */
export interface WrittenRole extends RoleObject {
  readonly aggregationRule?: unknown;
  readonly metadata?: object | undefined;
}

/** A binding as a request writes it. */
export interface WrittenBinding extends BindingObject {
  readonly metadata?: object | undefined;
}

/** A write of a Role (in `namespace`) or a ClusterRole (namespace empty). */
export interface RoleWrite {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly name: string;
  readonly role: WrittenRole;
  /** The existing role; undefined when the write creates it. */
  readonly live: WrittenRole | undefined;
}

/** A write of a RoleBinding (in `namespace`) or a ClusterRoleBinding (namespace empty). */
export interface BindingWrite {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly name: string;
  readonly binding: WrittenBinding;
  /** The existing binding; undefined when the write creates it. */
  readonly live: WrittenBinding | undefined;
}

/** The right to everything, which whoever sets an aggregation rule must hold: it may gather anything. */
const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Keeps a user from writing themself more rights: a role's author holds every right in it, or may `escalate` it, or is
 * in `system:masters`. A write that leaves alone what the role gives is not checked: its rules, its aggregation rule
 * and, of a ClusterRole, the labels by which others gather it.
 *
 * @throws {StatusError} Forbidden, with the missing rights in the message.
 */
export async function checkRoleWrite(write: RoleWrite, sources: EscalationSources): Promise<void> {
  const { user, namespace, role, live } = write;
  if (live !== undefined && changesCollectionFieldsOnly(role, live)) return;
  if (isSuperuser(user, sources)) return;
  const resource = namespace === "" ? "clusterroles" : "roles";
  // As in the reference, a role that is being created has no name yet for a rule with resourceNames to match.
  const name = live === undefined ? "" : write.name;
  if (await may("escalate", { user, namespace, resource, name }, sources)) return;
  const excess = ungrantable(user, namespace, role.rules ?? [], sources);
  if (excess !== "") throw forbidden(resource, write.name, excess, sources);
  if (role.aggregationRule === undefined || role.aggregationRule === null) return;
  if (ungrantable(user, namespace, everything, sources) !== "") {
    const message = "must have cluster-admin privileges to use the aggregationRule";
    throw forbidden(resource, write.name, message, sources);
  }
}

/**
 * Keeps a user from granting rights that they lack: whoever writes a binding holds every right of its role, or may
 * `bind` that role, or is in `system:masters`. As in {@link checkRoleWrite}, an update that changes nothing but owner references
 * and finalizers is not checked.
 *
 * @throws {StatusError} Forbidden, with the missing rights in the message; NotFound when the role doesn't exist and
 * the user may not bind it unseen.
 */
export async function checkBindingWrite(write: BindingWrite, sources: EscalationSources): Promise<void> {
  const { user, namespace, binding, live } = write;
  if (live !== undefined && changesCollectionFieldsOnly(binding, live)) return;
  if (isSuperuser(user, sources)) return;
  const { kind, name } = binding.roleRef;
  const isCluster = kind === "ClusterRole";
  const resource = isCluster ? "clusterroles" : "roles";
  if (await may("bind", { user, namespace, resource, name }, sources)) return;
  const rules = sources.policy.roleRules(isCluster ? "ClusterRole" : "Role", namespace, name);
  if (rules === undefined) {
    const group = groupName(rbac, sources.vocabulary);
    throw objectNotFound({ resource, group, name });
  }
  const excess = ungrantable(user, namespace, rules, sources);
  if (excess === "") return;
  throw forbidden(namespace === "" ? "clusterrolebindings" : "rolebindings", write.name, excess, sources);
}

function isSuperuser(user: UserInfo, { vocabulary }: EscalationSources): boolean {
  return user.groups.includes(`${vocabulary.systemPrefix}masters`);
}

async function may(
  verb: "bind" | "escalate",
  target: { user: UserInfo; namespace: string; resource: string; name: string },
  { authorizer, vocabulary }: EscalationSources,
): Promise<boolean> {
  const group = groupName(rbac, vocabulary);
  const attributes = { kind: "resource", verb, group, version: "*", subresource: "", ...target } as const;
  return (await authorizer.authorize(attributes)).verdict === "allow";
}

/** Why the user can't grant the rules; empty when they can. */
function ungrantable(
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
  { policy }: EscalationSources,
): string {
  const held = policy.policyRulesFor(user, namespace);
  const { missing, undecided } = compareRules(held.rules, rules);
  if (missing.length === 0) return "";
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const what = describeRules(missing).join("\n");
  const errors = held.evaluationError === "" ? "" : `; resolution errors: ${held.evaluationError}`;
  if (undecided) {
    return `cannot be decided: too many rules to tell whether ${who} holds these RBAC permissions:\n${what}${errors}`;
  }
  return `${who} is attempting to grant RBAC permissions not currently held:\n${what}${errors}`;
}

/** Whether two objects are equal but for the metadata that the garbage collector writes, and their resource versions. */
function changesCollectionFieldsOnly(
  object: WrittenRole | WrittenBinding,
  live: WrittenRole | WrittenBinding,
): boolean {
  return deepEqual(withoutCollectionFields(object), withoutCollectionFields(live));
}

function withoutCollectionFields(object: WrittenRole | WrittenBinding): JsonValue {
  const metadata = {
    ...object.metadata,
    ownerReferences: undefined,
    finalizers: undefined,
    managedFields: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
  };
  return { ...object, metadata } as unknown as JsonValue;
}

function forbidden(
  resource: string,
  name: string,
  why: string,
  { vocabulary }: EscalationSources,
): StatusError {
  return objectForbidden({ resource, group: groupName(rbac, vocabulary), name }, why);
}
