import type { UserInfo } from "../../base/user-info.ts";
import { rbac } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  RuleList,
  RuleResolver,
  NonResourceRule,
  ResourceRule,
} from "../authorizer.ts";
import { keyOfSubject, readSubjects, type BoundSubject, type SubjectKey } from "./bound-subject.ts";
import { type BindingRecord, RoleRecord } from "./role-record.ts";
import type { BindingObject, PolicyRule, StoredRole, Rule } from "./policy.ts";
import { ruleQuery } from "./rule-match.ts";
import { RuleFinder } from "./rule-finder.ts";
import { maxProblems, type Scope, type Evaluation } from "./scope.ts";
import { TableBudget, tableLimits, type TableLimits } from "./table-budget.ts";
import { SubjectDirectory } from "./subject-directory.ts";
import { SubjectScopes } from "./subject-scopes.ts";

/** The rules that apply to a user in a scope, and the errors while they were collected (empty if none). */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly evaluationError: string;
}

const noOpinion: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" };

/**
 * RBAC authorizer over an in-memory index of roles and bindings (spec: access review 2.4 and 5). The caller adds and removes
 * objects. The time of a decision doesn't depend on the number of bindings: it looks up the user and each of their groups, and
 * their grants in the cluster and in the namespace of the request. The time of a change is proportional to the size of the
 * changed object. The memory of lookup tables is limited ({@link TableLimits}); rules above the limit are compared one by one,
 * with the same result.
 *
 * Invalid roles and bindings don't change a decision, they are reported in `evaluationError`. A binding to a missing role is
 * reported to all its subjects. An unknown subject kind, a namespace on a User or Group, and an unknown roleRef kind are reported
 * to all users and groups that the binding names, including those in the invalid subject. A decision reports at most 16 errors
 * of each sort.
 *
 * @example
 * const index = new RbacIndex(platform);
 * index.putRole("team-a", "reader", { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] });
 * index.putRoleBinding("team-a", "readers", { roleRef: { kind: "Role", name: "reader" }, subjects: [dev] });
 */
export class RbacIndex implements Authorizer, RuleResolver {
  private readonly users = new Map<string, SubjectScopes>();
  private readonly groups = new Map<string, SubjectScopes>();
  private readonly clusterRoles = new Map<string, RoleRecord>();
  /** By `namespace/name`. */
  private readonly roles = new Map<string, RoleRecord>();
  /** By name (ClusterRoleBinding) or `namespace/name` (RoleBinding). */
  private readonly bindings = new Map<string, BindingRecord>();
  private readonly apiGroup: string;
  /** Increases with each change of a role or binding; equal values mean equal decisions. */
  generation = 0;
  private readonly budget: TableBudget;
  /** Finds rules by resource, for {@link whoCan}. */
  readonly finder = new RuleFinder(() => this.allRoles());
  readonly directory: SubjectDirectory;

  /** @param limits memory limits of lookup tables; they affect the duration of a decision, not its result. */
  constructor(
    private readonly vocabulary: Vocabulary,
    limits: TableLimits = tableLimits,
  ) {
    this.budget = new TableBudget(limits);
    this.apiGroup = groupName(rbac, vocabulary);
    this.directory = new SubjectDirectory(vocabulary.systemPrefix, () => this.allSubjects());
  }

  /** Adds or replaces a ClusterRole. */
  putClusterRole(name: string, role: StoredRole): void {
    this.setRole(this.ensureRole("ClusterRole", "", name), role);
  }

  /** Removes a ClusterRole. Its bindings stay and report a missing role. */
  removeClusterRole(name: string): void {
    this.removeRoleOf("ClusterRole", "", name);
  }

  /** Adds or replaces a Role. */
  putRole(namespace: string, name: string, role: StoredRole): void {
    this.setRole(this.ensureRole("Role", namespace, name), role);
  }

  /** Removes a Role. Its bindings stay and report a missing role. */
  removeRole(namespace: string, name: string): void {
    this.removeRoleOf("Role", namespace, name);
  }

  /** Adds or replaces a ClusterRoleBinding. */
  putClusterRoleBinding(name: string, binding: BindingObject): void {
    this.putBinding("", name, binding);
  }

  /** Removes a ClusterRoleBinding. */
  removeClusterRoleBinding(name: string): void {
    this.removeBinding("", name);
  }

  /** Adds or replaces a RoleBinding. */
  putRoleBinding(namespace: string, name: string, binding: BindingObject): void {
    this.putBinding(namespace, name, binding);
  }

  /** Removes a RoleBinding. */
  removeRoleBinding(namespace: string, name: string): void {
    this.removeBinding(namespace, name);
  }

  /** Combinations in all tables, counted as in {@link TableLimits.total}. */
  get tableSize(): number {
    return this.budget.used;
  }

  /** Returns the current rules of a role; undefined if it doesn't exist. */
  roleRules(
    kind: "ClusterRole" | "Role",
    namespace: string,
    name: string,
  ): readonly PolicyRule[] | undefined {
    return this.findRole(kind, namespace, name)?.rules;
  }

  /** Returns all ClusterRoles that exist or that a binding refers to. */
  allClusterRoles(): Iterable<RoleRecord> {
    return this.clusterRoles.values();
  }

  /** Returns the scopes of a user and of each of their groups. Subjects without bindings are omitted. */
  scopesOf({ name, groups }: UserInfo): SubjectScopes[] {
    const all = [this.users.get(name), ...groups.map((group) => this.groups.get(group))];
    return [...new Set(all)].filter((scopes) => scopes !== undefined);
  }

  /** Returns the decision. May block the event loop while rules are added to tables; see {@link RbacIndex.attempt}. */
  authorize(attributes: Attributes): Decision {
    for (;;) {
      const decision = this.attempt(attributes);
      if (decision !== undefined) return decision;
    }
  }

  /**
   * Returns the decision, or undefined if more rules must be added to tables than the limit for one iteration of the event loop.
   * The caller then repeats the call in a later iteration.
   */
  attempt(attributes: Attributes): Decision | undefined {
    const { systemPrefix } = this.vocabulary;
    const query = ruleQuery(attributes);
    const evaluation: Evaluation = {
      query,
      systemPrefix,
      allowed: undefined,
      missing: [],
      faulty: [],
      remaining: this.budget.limits.perTurn,
      unfinished: false,
    };
    const { user } = attributes;
    const namespace = attributes.kind === "resource" ? attributes.namespace : "";
    this.users.get(user.name)?.evaluate(namespace, evaluation);
    for (const group of user.groups) this.groups.get(group)?.evaluate(namespace, evaluation);
    if (evaluation.unfinished && evaluation.allowed === undefined) return undefined;
    const decision = evaluation.allowed ?? noOpinion;
    if (evaluation.missing.length === 0 && evaluation.faulty.length === 0) return decision;
    const evaluationError = this.evaluationErrorText(evaluation.missing, evaluation.faulty);
    return { ...decision, reason: decision.reason || `RBAC: ${evaluationError}`, evaluationError };
  }

  /** Returns all rules that apply to the user in a namespace, including cluster-wide ones. The list is always complete. */
  rulesFor(user: UserInfo, namespace: string): RuleList {
    const { rules, evaluationError } = this.policyRulesFor(user, namespace);
    return { ...listRules(rules), incomplete: false, evaluationError };
  }

  /**
   * Returns the rules that apply to a user in a namespace, including cluster-wide ones (empty namespace: only these). Rules with URL
   * paths are included only from ClusterRoleBindings.
   */
  policyRulesFor(user: UserInfo, namespace: string): HeldRules {
    const rules = new Set<Rule>();
    const missing = new Set<RoleRecord>();
    const faulty = new Set<BindingRecord>();
    const collectRules = (scope: Scope | undefined, includeUrls: boolean): void => {
      if (scope === undefined) return;
      for (const binding of scope.faultyBindings) faulty.add(binding);
      for (const role of scope.roles()) {
        if (role.rules === undefined) missing.add(role);
        for (const rule of role.rules ?? [])
          if (includeUrls || rule.nonResourceURLs.length === 0) rules.add(rule);
      }
    };
    for (const scopes of [this.users.get(user.name), ...user.groups.map((group) => this.groups.get(group))]) {
      collectRules(scopes?.get(""), true);
      if (namespace !== "") collectRules(scopes?.get(namespace), false);
    }
    const evaluationError = this.evaluationErrorText(
      [...missing].slice(0, maxProblems),
      [...faulty].slice(0, maxProblems),
    );
    return { rules: [...rules], evaluationError };
  }

  private *allSubjects(): Iterable<SubjectScopes> {
    yield* this.users.values();
    yield* this.groups.values();
  }

  private *allRoles(): Iterable<RoleRecord> {
    yield* this.clusterRoles.values();
    yield* this.roles.values();
  }

  private putBinding(namespace: string, name: string, object: BindingObject): void {
    this.generation++;
    this.removeBinding(namespace, name);
    const { roleRef } = object;
    const role = this.referencedRole(namespace, object);
    const { subjects, faults } = readSubjects(object, namespace);
    if (role === undefined) faults.push(`unsupported role reference kind ${JSON.stringify(roleRef.kind)}`);
    const binding = { name, namespace, role, subjects, fault: faults.join(", ") };
    this.bindings.set(keyOf(namespace, name), binding);
    role?.addBinding(binding);
    for (const subject of subjects) {
      for (const key of this.keysNamedBy(subject)) {
        if (subject.valid) this.ensureScope(key, namespace).grant(binding);
        if (faults.length > 0) this.ensureScope(key, namespace).reportFault(binding);
      }
    }
  }

  private removeBinding(namespace: string, name: string): void {
    this.generation++;
    const key = keyOf(namespace, name);
    const binding = this.bindings.get(key);
    if (binding === undefined) return;
    this.bindings.delete(key);
    for (const subject of binding.subjects) {
      for (const subjectKey of this.keysNamedBy(subject)) this.revoke(subjectKey, binding);
    }
    const { role } = binding;
    if (role === undefined) return;
    role.removeBinding(binding);
    this.removeUnused(role);
  }

  private revoke(key: SubjectKey, binding: BindingRecord): void {
    const subjects = key.isGroup ? this.groups : this.users;
    const scopes = subjects.get(key.name);
    if (scopes === undefined) return;
    const { namespace } = binding;
    const scope = scopes.get(namespace);
    scope?.revoke(binding);
    if (!scope?.isEmpty) return;
    scopes.delete(namespace);
    if (!scopes.isEmpty) return;
    subjects.delete(key.name);
    this.directory.removed(scopes);
  }

  /** Returns the users and groups that a subject names. An invalid subject may name several; its error is reported to them. */
  private keysNamedBy(subject: BoundSubject): readonly SubjectKey[] {
    const { kind, name, valid: counts } = subject;
    if (counts) return [keyOfSubject(subject, this.vocabulary.systemPrefix)];
    if (kind === "ServiceAccount") return [];
    const keys = [true, false].map((isGroup) => ({ isGroup, name }));
    return keys.filter((key) => kind !== (key.isGroup ? "User" : "Group"));
  }

  private ensureScope(key: SubjectKey, namespace: string): Scope {
    const subjects = key.isGroup ? this.groups : this.users;
    let scopes = subjects.get(key.name);
    if (scopes === undefined) {
      scopes = new SubjectScopes(key.isGroup, key.name, this.budget);
      subjects.set(key.name, scopes);
      this.directory.added(scopes);
    }
    return scopes.ensure(namespace);
  }

  private referencedRole(namespace: string, { roleRef }: BindingObject): RoleRecord | undefined {
    if (roleRef.kind === "ClusterRole") return this.ensureRole("ClusterRole", "", roleRef.name);
    if (roleRef.kind === "Role") return this.ensureRole("Role", namespace, roleRef.name);
    return undefined;
  }

  /** Returns a binding; the namespace of a ClusterRoleBinding is empty. */
  findBinding(namespace: string, name: string): BindingRecord | undefined {
    return this.bindings.get(keyOf(namespace, name));
  }

  /** Returns a role that exists or that a binding refers to. */
  findRole(kind: "ClusterRole" | "Role", namespace: string, name: string): RoleRecord | undefined {
    return kind === "ClusterRole" ? this.clusterRoles.get(name) : this.roles.get(keyOf(namespace, name));
  }

  private ensureRole(kind: "ClusterRole" | "Role", namespace: string, name: string): RoleRecord {
    let role = this.findRole(kind, namespace, name);
    if (role !== undefined) return role;
    role = new RoleRecord(kind, namespace, name, this.budget);
    if (kind === "ClusterRole") this.clusterRoles.set(name, role);
    else this.roles.set(keyOf(namespace, name), role);
    return role;
  }

  private removeRoleOf(kind: "ClusterRole" | "Role", namespace: string, name: string): void {
    const role = this.findRole(kind, namespace, name);
    if (role === undefined) return;
    this.setRole(role, undefined);
    this.removeUnused(role);
  }

  private setRole(role: RoleRecord, object: StoredRole | undefined): void {
    this.generation++;
    role.put(object);
    this.finder.changed(role);
  }

  private removeUnused(role: RoleRecord): void {
    if (!role.isUnused) return;
    if (role.kind === "ClusterRole") this.clusterRoles.delete(role.name);
    else this.roles.delete(keyOf(role.namespace, role.name));
  }

  /** Returns the error message for a role that doesn't exist. */
  notFoundMessage({ kind, name }: RoleRecord): string {
    return `${kind.toLowerCase()}.${this.apiGroup} ${JSON.stringify(name)} not found`;
  }

  private evaluationErrorText(missing: readonly RoleRecord[], faulty: readonly BindingRecord[]): string {
    const texts = [...missing.map((role) => this.notFoundMessage(role)), ...faulty.map(faultMessage)];
    return texts.length < 2 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  }
}

function faultMessage({ namespace, name, fault }: BindingRecord): string {
  const kind = namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  return `${kind} ${JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)}: ${fault}`;
}

function keyOf(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/**
 * Converts rules to the lists of a SelfSubjectRulesReview. In a review, the resource name `*` means all names; in a role it is
 * the object with the name `*`. So this removes the name `*`, and rules without another name: the lists contain nothing that
 * isn't granted (spec: access review 2.2).
 */
function listRules(rules: readonly PolicyRule[]): {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
} {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const rule of rules) {
    const verbs = rule.verbs ?? [];
    const resources = rule.resources ?? [];
    const nonResourceURLs = rule.nonResourceURLs ?? [];
    const names = rule.resourceNames ?? [];
    const resourceNames = names.filter((name) => name !== "*");
    if (resources.length > 0 && (names.length === 0 || resourceNames.length > 0)) {
      resourceRules.push({ verbs, apiGroups: rule.apiGroups ?? [], resources, resourceNames });
    }
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return { resourceRules, nonResourceRules };
}
