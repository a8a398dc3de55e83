import type { Decision } from "../authorizer.ts";
import type { BindingRecord, RoleRecord, RoleObserver } from "./role-record.ts";
import { type SubjectKey, keyOfSubject, type BoundSubject } from "./bound-subject.ts";
import { firstItem, itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import type { RuleQuery } from "./rule-match.ts";
import { RuleTable } from "./rule-table.ts";
import type { TableBudget, Turn } from "./table-budget.ts";

/** Up to this number of roles are evaluated one after another; more are merged into one table. */
const maxSeparateRoles = 4;

/** The state of the evaluation of one request. */
export interface Evaluation extends Turn {
  readonly query: RuleQuery;
  /** Prefix of user names of service accounts, for reasons. */
  readonly systemPrefix: string;
  allowed: Decision | undefined;
  /** Bound roles that don't exist: at most {@link maxProblems}, to limit the time of a decision. */
  readonly missing: RoleRecord[];
  /** Invalid bindings: at most {@link maxProblems}. */
  readonly faulty: BindingRecord[];
}

/** Maximum number of missing roles, and of invalid bindings, in one decision. */
export const maxProblems = 16;

/** A role that is granted to a subject in a scope, with the bindings that grant it. */
class RoleGrant {
  bindings: OneOrMany<BindingRecord>;
  /** Cached, because the same request is frequent. */
  private decision: Decision | undefined;

  constructor(readonly role: RoleRecord) {}

  setBindings(bindings: OneOrMany<BindingRecord>): void {
    this.bindings = bindings;
    this.decision = undefined;
  }

  decisionFor(subject: SubjectKey, systemPrefix: string): Decision {
    if (this.decision !== undefined) return this.decision;
    const reason = describeGrant(firstItem(this.bindings)!, this.role, subject, systemPrefix);
    return (this.decision = { verdict: "allow", reason, evaluationError: "" });
  }
}

/**
 * The grants of one subject in one namespace, or in the whole cluster. A few roles are evaluated one after another with the
 * table of each role, which all scopes share. More roles are merged into one table of the scope, which is built at the first
 * request and then updated.
 */
export class Scope implements RoleObserver {
  private few: RoleGrant[] = [];
  private many: Map<RoleRecord, RoleGrant> | undefined;
  /** Roles that don't exist; only maintained while `many` is set. */
  private missing: OneOrMany<RoleRecord>;
  private table: RuleTable<RoleRecord> | undefined;
  private faulty: OneOrMany<BindingRecord>;

  constructor(
    readonly subject: SubjectKey,
    private readonly budget: TableBudget,
  ) {}

  get isEmpty(): boolean {
    return this.few.length === 0 && (this.many?.size ?? 0) === 0 && this.faulty === undefined;
  }

  /** Returns the granted roles. */
  *roles(): Iterable<RoleRecord> {
    if (this.many !== undefined) yield* this.many.keys();
    for (const grant of this.few) yield grant.role;
  }

  /** Returns the granted roles with their bindings. */
  *grants(): Iterable<{ readonly role: RoleRecord; readonly bindings: OneOrMany<BindingRecord> }> {
    if (this.many !== undefined) yield* this.many.values();
    yield* this.few;
  }

  /** The invalid bindings of the scope. */
  get faultyBindings(): Iterable<BindingRecord> {
    return itemsOf(this.faulty);
  }

  /** Adds the role of a binding. */
  grant(binding: BindingRecord): void {
    const { role } = binding;
    if (role === undefined) return;
    let grant = this.grantOf(role);
    if (grant === undefined) {
      grant = new RoleGrant(role);
      this.addRole(grant);
    }
    grant.setBindings(withItem(grant.bindings, binding));
  }

  /** Removes a binding that was added by {@link Scope.grant} or {@link Scope.reportFault}. */
  revoke(binding: BindingRecord): void {
    this.faulty = withoutItem(this.faulty, binding);
    const { role } = binding;
    const grant = role === undefined ? undefined : this.grantOf(role);
    if (grant === undefined) return;
    grant.setBindings(withoutItem(grant.bindings, binding));
    if (grant.bindings === undefined) this.removeRole(grant.role);
  }

  /** Adds an invalid binding, whose fault is reported in decisions of this scope. */
  reportFault(binding: BindingRecord): void {
    this.faulty = withItem(this.faulty, binding);
  }

  /** Evaluates the roles of this scope and adds the result to `evaluation`. */
  evaluate(evaluation: Evaluation): void {
    if (this.faulty !== undefined) addDistinct(itemsOf(this.faulty), evaluation.faulty);
    if (this.many !== undefined) {
      this.evaluateMany(this.many, evaluation);
      return;
    }
    for (const grant of this.few) {
      const { role } = grant;
      if (role.rules === undefined) addDistinct([role], evaluation.missing);
      else if (evaluation.allowed === undefined && role.allows(evaluation.query, evaluation)) {
        evaluation.allowed = grant.decisionFor(this.subject, evaluation.systemPrefix);
      }
    }
  }

  /** Updates the table after a change of a role; `previous` are its previous rules, undefined if it didn't exist. */
  roleChanged(role: RoleRecord, previous: readonly Rule[] | undefined): void {
    if (previous !== undefined) this.table?.remove(previous, role);
    this.addRules(role);
  }

  private evaluateMany(many: Map<RoleRecord, RoleGrant>, evaluation: Evaluation): void {
    if (this.missing !== undefined) addDistinct(itemsOf(this.missing), evaluation.missing);
    if (evaluation.allowed !== undefined) return;
    const role = (this.table ??= buildTable(many.keys(), this.budget)).find(evaluation.query, evaluation);
    if (role !== undefined)
      evaluation.allowed = many.get(role)!.decisionFor(this.subject, evaluation.systemPrefix);
  }

  private grantOf(role: RoleRecord): RoleGrant | undefined {
    if (this.many !== undefined) return this.many.get(role);
    return this.few.find((grant) => grant.role === role);
  }

  private addRole(grant: RoleGrant): void {
    if (this.many === undefined) {
      this.few = [...this.few, grant]; // a copy has no spare capacity: most scopes have one grant
      if (this.few.length > maxSeparateRoles) this.merge();
      return;
    }
    this.many.set(grant.role, grant);
    grant.role.mergedScopes = withItem(grant.role.mergedScopes, this);
    this.addRules(grant.role);
  }

  private removeRole(role: RoleRecord): void {
    if (this.many === undefined) {
      this.few = this.few.filter((grant) => grant.role !== role);
      return;
    }
    this.many.delete(role);
    role.mergedScopes = withoutItem(role.mergedScopes, this);
    this.missing = withoutItem(this.missing, role);
    if (role.rules !== undefined) this.table?.remove(role.rules, role);
  }

  private merge(): void {
    this.many = new Map();
    const grants = this.few;
    this.few = [];
    for (const grant of grants) this.addRole(grant);
  }

  private addRules(role: RoleRecord): void {
    if (role.rules === undefined) {
      this.missing = withItem(this.missing, role);
      return;
    }
    this.missing = withoutItem(this.missing, role);
    this.table?.add(role.rules, role);
  }
}

function buildTable(roles: Iterable<RoleRecord>, budget: TableBudget): RuleTable<RoleRecord> {
  const table = new RuleTable<RoleRecord>(budget);
  for (const role of roles) {
    if (role.rules !== undefined) table.add(role.rules, role);
  }
  return table;
}

function addDistinct<T>(items: Iterable<T>, into: T[]): void {
  for (const item of items) {
    if (into.length >= maxProblems) return;
    if (!into.includes(item)) into.push(item);
  }
}

/** Returns the reason of an allowed request with binding, role and subject (spec: access review 2.2). */
function describeGrant(
  binding: BindingRecord,
  role: RoleRecord,
  key: SubjectKey,
  systemPrefix: string,
): string {
  const bindingKind = binding.namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  const bindingName = binding.namespace === "" ? binding.name : `${binding.name}/${binding.namespace}`;
  const { kind, name, namespace } = subjectFor(binding, key, systemPrefix);
  const subjectText = `${kind} ${JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)}`;
  const roleText = `${role.kind} ${JSON.stringify(role.name)}`;
  return `RBAC: allowed by ${bindingKind} ${JSON.stringify(bindingName)} of ${roleText} to ${subjectText}`;
}

/** Returns the subject of a binding that matches a user or group. */
export function subjectFor(
  binding: BindingRecord,
  { isGroup, name }: SubjectKey,
  systemPrefix: string,
): Pick<BoundSubject, "kind" | "name" | "namespace"> {
  const subject = binding.subjects.find((one) => {
    const subjectKey = keyOfSubject(one, systemPrefix);
    return one.valid && subjectKey.isGroup === isGroup && subjectKey.name === name;
  });
  return subject ?? { kind: isGroup ? "Group" : "User", name, namespace: "" };
}
