import type { Decision } from "../authorizer.ts";
import { describeGrant } from "./grant-text.ts";
import type { BindingRecord, RoleRecord, RuleHolder } from "./role-record.ts";
import type { SubjectKey } from "./bound-subject.ts";
import { firstItem, itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import type { RuleQuery } from "./rule-match.ts";
import { RuleTable } from "./rule-table.ts";
import type { TableBudget, Turn } from "./table-budget.ts";

/** Up to so many roles are asked one after another; more are merged into one table. */
const askedRoles = 4;

/** The evaluation of one request: what is asked, and what the scopes have found so far. */
export interface Evaluation extends Turn {
  readonly query: RuleQuery;
  /** For reasons: how names of service accounts begin. */
  readonly systemPrefix: string;
  allowed: Decision | undefined;
  /** Roles that are bound and don't exist: at most {@link maxProblems}, so that many of them don't make reviews slower. */
  readonly missing: RoleRecord[];
  /** Bindings that have a fault: at most {@link maxProblems}. */
  readonly faulty: BindingRecord[];
}

/** How many missing roles, and how many faulty bindings, one answer reports. */
export const maxProblems = 16;

/** A role as one subject has it in one scope, with every binding that grants it there. */
class RoleGrant {
  bindings: OneOrMany<BindingRecord>;
  /** Remembered: the same request comes again and again. */
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
 * What one subject is granted in one namespace, or in the whole cluster. Few roles are kept in a list and asked in
 * turn, so that they share what each role knows about itself; many are put into one table when first asked, which from
 * then on is changed only where a role or binding changes.
 */
export class Scope implements RuleHolder {
  private few: RoleGrant[] = [];
  private many: Map<RoleRecord, RoleGrant> | undefined;
  /** Kept while there are many. */
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

  /** The roles that are granted here. */
  *roles(): Iterable<RoleRecord> {
    if (this.many !== undefined) yield* this.many.keys();
    for (const grant of this.few) yield grant.role;
  }

  /** The roles that are granted here, each with the bindings that do it. */
  *grants(): Iterable<{ readonly role: RoleRecord; readonly bindings: OneOrMany<BindingRecord> }> {
    if (this.many !== undefined) yield* this.many.values();
    yield* this.few;
  }

  /** Bindings here that have a fault. */
  get faultyBindings(): Iterable<BindingRecord> {
    return itemsOf(this.faulty);
  }

  /** Grants a binding's role here. */
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

  /** Takes back what {@link Scope.grant} gave for the same binding. */
  revoke(binding: BindingRecord): void {
    this.faulty = withoutItem(this.faulty, binding);
    const { role } = binding;
    const grant = role === undefined ? undefined : this.grantOf(role);
    if (grant === undefined) return;
    grant.setBindings(withoutItem(grant.bindings, binding));
    if (grant.bindings === undefined) this.removeRole(grant.role);
  }

  /** Has a binding's fault reported to those who ask here. */
  reportFault(binding: BindingRecord): void {
    this.faulty = withItem(this.faulty, binding);
  }

  /** Evaluates the roles of this scope. */
  evaluate(evaluation: Evaluation): void {
    if (this.faulty !== undefined) collect(itemsOf(this.faulty), evaluation.faulty);
    if (this.many !== undefined) {
      this.evaluateMany(this.many, evaluation);
      return;
    }
    for (const grant of this.few) {
      const { role } = grant;
      if (role.rules === undefined) collect([role], evaluation.missing);
      else if (evaluation.allowed === undefined && role.allows(evaluation.query, evaluation)) {
        evaluation.allowed = grant.decisionFor(this.subject, evaluation.systemPrefix);
      }
    }
  }

  /** Updates the table after a role of it changed; `before` are the rules it had, undefined when it didn't exist. */
  roleChanged(role: RoleRecord, before: readonly Rule[] | undefined): void {
    if (before !== undefined) this.table?.remove(before, role);
    this.noteRules(role);
  }

  private evaluateMany(many: Map<RoleRecord, RoleGrant>, evaluation: Evaluation): void {
    if (this.missing !== undefined) collect(itemsOf(this.missing), evaluation.missing);
    if (evaluation.allowed !== undefined) return;
    const role = (this.table ??= tableOf(many.keys(), this.budget)).find(evaluation.query, evaluation);
    if (role !== undefined)
      evaluation.allowed = many.get(role)!.decisionFor(this.subject, evaluation.systemPrefix);
  }

  private grantOf(role: RoleRecord): RoleGrant | undefined {
    if (this.many !== undefined) return this.many.get(role);
    return this.few.find((grant) => grant.role === role);
  }

  private addRole(grant: RoleGrant): void {
    if (this.many === undefined) {
      this.few = [...this.few, grant]; // never with room to grow: most scopes stay at one
      if (this.few.length > askedRoles) this.merge();
      return;
    }
    this.many.set(grant.role, grant);
    grant.role.mergedScopes = withItem(grant.role.mergedScopes, this);
    this.noteRules(grant.role);
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

  private noteRules(role: RoleRecord): void {
    if (role.rules === undefined) {
      this.missing = withItem(this.missing, role);
      return;
    }
    this.missing = withoutItem(this.missing, role);
    this.table?.add(role.rules, role);
  }
}

function tableOf(roles: Iterable<RoleRecord>, budget: TableBudget): RuleTable<RoleRecord> {
  const table = new RuleTable<RoleRecord>(budget);
  for (const role of roles) {
    if (role.rules !== undefined) table.add(role.rules, role);
  }
  return table;
}

function collect<T>(items: Iterable<T>, into: T[]): void {
  for (const item of items) {
    if (into.length >= maxProblems) return;
    if (!into.includes(item)) into.push(item);
  }
}
