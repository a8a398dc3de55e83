import type { UserInfo } from "../../base/user-info.ts";
import { rbac } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes, Authorizer, Decision, RuleList, RuleResolver } from "../authorizer.ts";
import { keyOfSubject, readSubjects, type BoundSubject, type SubjectKey } from "./bound-subject.ts";
import type { BindingRecord } from "./role-record.ts";
import type { BindingObject, PolicyRule, StoredRole, Rule } from "./policy.ts";
import { RoleRecord } from "./role-record.ts";
import { ruleQuery } from "./rule-match.ts";
import { RuleFinder } from "./rule-finder.ts";
import { listRules } from "./rule-list.ts";
import { maxProblems, type Scope, type Evaluation } from "./scope.ts";
import { TableBudget, tableLimits, type TableLimits } from "./table-budget.ts";
import { SubjectDirectory } from "./subject-directory.ts";
import { SubjectScopes } from "./subject-scopes.ts";

/** The rules that a user holds somewhere, and the errors met while collecting them (empty: none). */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly evaluationError: string;
}

const noOpinion: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" };

/**
 * Role-based authorization over an index of roles and bindings that its owner keeps current (spec: access review 2.4
 * and 5). Every answer is immediate and costs the same with ten bindings as with a hundred thousand: it looks at the
 * user and each of their groups, and there at what is bound in the cluster and in the namespace asked about. A change
 * costs what the changed object says and the subjects it touches. What tables cost is bounded ({@link TableLimits});
 * rules beyond that are compared one by one, which takes longer and decides the same.
 *
 * Faults never decide, they accompany the decision as `evaluationError`: a role that is bound and doesn't exist is
 * reported to everybody whom the binding covers; a subject of an unknown kind, a namespace on a User or Group, and a
 * roleRef of an unknown kind are reported to everybody whom the binding names, by a sound subject or by the faulty one.
 * It is not reported to other users. An answer reports at most 16 faults of each sort.
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
  /** By name, or by `namespace/name`. */
  private readonly bindings = new Map<string, BindingRecord>();
  private readonly apiGroup: string;
  private readonly budget: TableBudget;
  /** For questions that start from rules; ordinary ones start from users. */
  readonly finder = new RuleFinder(() => this.everyRole());
  readonly directory: SubjectDirectory;

  /** @param limits what tables may cost; decisions don't depend on it, only how long they take. */
  constructor(
    private readonly vocabulary: Vocabulary,
    limits: TableLimits = tableLimits,
  ) {
    this.budget = new TableBudget(limits);
    this.apiGroup = groupName(rbac, vocabulary);
    this.directory = new SubjectDirectory(vocabulary.systemPrefix, () => this.everybody());
  }

  /** Adds or replaces a ClusterRole. */
  putClusterRole(name: string, role: StoredRole): void {
    this.setRole(this.roleAt("ClusterRole", "", name), role);
  }

  /** Forgets a ClusterRole; bindings that name it dangle from now on. */
  removeClusterRole(name: string): void {
    this.dropRole("ClusterRole", "", name);
  }

  /** Adds or replaces a Role. */
  putRole(namespace: string, name: string, role: StoredRole): void {
    this.setRole(this.roleAt("Role", namespace, name), role);
  }

  /** Forgets a Role; bindings that name it dangle from now on. */
  removeRole(namespace: string, name: string): void {
    this.dropRole("Role", namespace, name);
  }

  /** Adds or replaces a ClusterRoleBinding. */
  putClusterRoleBinding(name: string, binding: BindingObject): void {
    this.putBinding("", name, binding);
  }

  /** Forgets a ClusterRoleBinding. */
  removeClusterRoleBinding(name: string): void {
    this.dropBinding("", name);
  }

  /** Adds or replaces a RoleBinding. */
  putRoleBinding(namespace: string, name: string, binding: BindingObject): void {
    this.putBinding(namespace, name, binding);
  }

  /** Forgets a RoleBinding. */
  removeRoleBinding(namespace: string, name: string): void {
    this.dropBinding(namespace, name);
  }

  /** Combinations that tables hold now, as the limits count them ({@link TableLimits.total}). */
  get tableSize(): number {
    return this.budget.used;
  }

  /** The current rules of a role; undefined when it doesn't exist. */
  roleRules(
    kind: "ClusterRole" | "Role",
    namespace: string,
    name: string,
  ): readonly PolicyRule[] | undefined {
    return this.findRole(kind, namespace, name)?.rules;
  }

  /** Every ClusterRole that exists or is bound. */
  everyClusterRole(): Iterable<RoleRecord> {
    return this.clusterRoles.values();
  }

  /** What a user and their groups are granted, each by themself; those without bindings are left out. */
  scopesOf({ name, groups }: UserInfo): SubjectScopes[] {
    const all = [this.users.get(name), ...groups.map((group) => this.groups.get(group))];
    return [...new Set(all)].filter((scopes) => scopes !== undefined);
  }

  /** The decision, however long it takes. */
  authorize(attributes: Attributes): Decision {
    for (;;) {
      const decision = this.attempt(attributes);
      if (decision !== undefined) return decision;
    }
  }

  /**
   * The decision; undefined when more rules must first be added to tables than one turn of the event loop may add. Then a
   * question in a further turn comes nearer to it.
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
      left: this.budget.limits.perTurn,
      unfinished: false,
    };
    const { user } = attributes;
    const namespace = attributes.kind === "resource" ? attributes.namespace : "";
    this.users.get(user.name)?.evaluate(namespace, evaluation);
    for (const group of user.groups) this.groups.get(group)?.evaluate(namespace, evaluation);
    if (evaluation.unfinished && evaluation.allowed === undefined) return undefined;
    const decision = evaluation.allowed ?? noOpinion;
    if (evaluation.missing.length === 0 && evaluation.faulty.length === 0) return decision;
    const evaluationError = this.problemText(evaluation.missing, evaluation.faulty);
    return { ...decision, reason: decision.reason || `RBAC: ${evaluationError}`, evaluationError };
  }

  /** Every rule that holds for the user in a namespace, those of the whole cluster included. Never incomplete. */
  rulesFor(user: UserInfo, namespace: string): RuleList {
    const { rules, evaluationError } = this.policyRulesFor(user, namespace);
    return { ...listRules(rules), incomplete: false, evaluationError };
  }

  /**
   * The rules that a user holds in a namespace (empty: in the whole cluster only), for comparing with rules that they
   * want to grant. URL paths count only where they are bound in the whole cluster.
   */
  policyRulesFor(user: UserInfo, namespace: string): HeldRules {
    const rules = new Set<Rule>();
    const missing = new Set<RoleRecord>();
    const faulty = new Set<BindingRecord>();
    const gather = (scope: Scope | undefined, urlsCount: boolean): void => {
      if (scope === undefined) return;
      for (const binding of scope.faultyBindings) faulty.add(binding);
      for (const role of scope.roles()) {
        if (role.rules === undefined) missing.add(role);
        for (const rule of role.rules ?? [])
          if (urlsCount || rule.nonResourceURLs.length === 0) rules.add(rule);
      }
    };
    for (const scopes of [this.users.get(user.name), ...user.groups.map((group) => this.groups.get(group))]) {
      gather(scopes?.get(""), true);
      if (namespace !== "") gather(scopes?.get(namespace), false);
    }
    const evaluationError = this.problemText(
      [...missing].slice(0, maxProblems),
      [...faulty].slice(0, maxProblems),
    );
    return { rules: [...rules], evaluationError };
  }

  private *everybody(): Iterable<SubjectScopes> {
    yield* this.users.values();
    yield* this.groups.values();
  }

  private *everyRole(): Iterable<RoleRecord> {
    yield* this.clusterRoles.values();
    yield* this.roles.values();
  }

  private putBinding(namespace: string, name: string, object: BindingObject): void {
    this.dropBinding(namespace, name);
    const { roleRef } = object;
    const role = this.boundRole(namespace, object);
    const { subjects, faults } = readSubjects(object, namespace);
    if (role === undefined) faults.push(`unsupported role reference kind ${JSON.stringify(roleRef.kind)}`);
    const binding = { name, namespace, role, subjects, fault: faults.join(", ") };
    this.bindings.set(keyOf(namespace, name), binding);
    role?.refer(binding);
    for (const subject of subjects) {
      for (const key of this.namedBy(subject)) {
        if (subject.counts) this.scopeOf(key, namespace).grant(binding);
        if (faults.length > 0) this.scopeOf(key, namespace).reportFault(binding);
      }
    }
  }

  private dropBinding(namespace: string, name: string): void {
    const key = keyOf(namespace, name);
    const binding = this.bindings.get(key);
    if (binding === undefined) return;
    this.bindings.delete(key);
    for (const subject of binding.subjects) {
      for (const subjectKey of this.namedBy(subject)) this.revoke(subjectKey, binding);
    }
    const { role } = binding;
    if (role === undefined) return;
    role.unrefer(binding);
    this.forgetUnused(role);
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

  /** Users and groups that a subject names, even when a fault keeps it from matching: the fault is reported to them. */
  private namedBy(subject: BoundSubject): readonly SubjectKey[] {
    const { kind, name, counts } = subject;
    if (counts) return [keyOfSubject(subject, this.vocabulary.systemPrefix)];
    if (kind === "ServiceAccount") return [];
    const keys = [true, false].map((isGroup) => ({ isGroup, name }));
    return keys.filter((key) => kind !== (key.isGroup ? "User" : "Group"));
  }

  private scopeOf(key: SubjectKey, namespace: string): Scope {
    const subjects = key.isGroup ? this.groups : this.users;
    let scopes = subjects.get(key.name);
    if (scopes === undefined) {
      scopes = new SubjectScopes(key.isGroup, key.name, this.budget);
      subjects.set(key.name, scopes);
      this.directory.added(scopes);
    }
    return scopes.ensure(namespace);
  }

  private boundRole(namespace: string, { roleRef }: BindingObject): RoleRecord | undefined {
    if (roleRef.kind === "ClusterRole") return this.roleAt("ClusterRole", "", roleRef.name);
    if (roleRef.kind === "Role") return this.roleAt("Role", namespace, roleRef.name);
    return undefined;
  }

  private findRole(kind: "ClusterRole" | "Role", namespace: string, name: string): RoleRecord | undefined {
    return kind === "ClusterRole" ? this.clusterRoles.get(name) : this.roles.get(keyOf(namespace, name));
  }

  private roleAt(kind: "ClusterRole" | "Role", namespace: string, name: string): RoleRecord {
    let role = this.findRole(kind, namespace, name);
    if (role !== undefined) return role;
    role = new RoleRecord(kind, namespace, name, this.budget);
    if (kind === "ClusterRole") this.clusterRoles.set(name, role);
    else this.roles.set(keyOf(namespace, name), role);
    return role;
  }

  private dropRole(kind: "ClusterRole" | "Role", namespace: string, name: string): void {
    const role = this.findRole(kind, namespace, name);
    if (role === undefined) return;
    this.setRole(role, undefined);
    this.forgetUnused(role);
  }

  private setRole(role: RoleRecord, object: StoredRole | undefined): void {
    role.put(object);
    this.finder.changed(role);
  }

  private forgetUnused(role: RoleRecord): void {
    if (!role.isForgotten) return;
    if (role.kind === "ClusterRole") this.clusterRoles.delete(role.name);
    else this.roles.delete(keyOf(role.namespace, role.name));
  }

  /** That a role doesn't exist, as errors say it. */
  missingText({ kind, name }: RoleRecord): string {
    return `${kind.toLowerCase()}.${this.apiGroup} ${JSON.stringify(name)} not found`;
  }

  private problemText(missing: readonly RoleRecord[], faulty: readonly BindingRecord[]): string {
    const texts = [...missing.map((role) => this.missingText(role)), ...faulty.map(faultText)];
    return texts.length < 2 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  }
}

function faultText({ namespace, name, fault }: BindingRecord): string {
  const what = namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  return `${what} ${JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)}: ${fault}`;
}

function keyOf(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
