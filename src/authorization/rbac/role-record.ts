import type { LabelSelectorObject } from "../../base/label-selector.ts";
import type { BoundSubject } from "./bound-subject.ts";
import { itemsOf, type OneOrMany } from "./one-or-many.ts";
import { completeRules, type PolicyRule, type StoredRole, type Rule } from "./policy.ts";
import { RoleBindings } from "./role-bindings.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";
import { prepareLists } from "./long-lists.ts";
import { RuleTable } from "./rule-table.ts";
import type { TableBudget, Turn } from "./table-budget.ts";

/** Roles with no more rules and list entries than this are compared rule by rule, which needs no memory. */
const scannedRules = 3;
const scannedEntries = 24;

/** A binding as the index holds it. */
export interface BindingRecord {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  /** Undefined when the roleRef's kind is none that could be resolved. */
  readonly role: RoleRecord | undefined;
  readonly subjects: readonly BoundSubject[];
  /** What keeps parts of the binding from counting; empty when nothing does. */
  readonly fault: string;
}

/** A scope that holds rules of a role in a table of its own. */
export interface RuleHolder {
  /** Updates the table; `before` are the rules that the role had, undefined when it didn't exist. */
  roleChanged(role: RoleRecord, before: readonly Rule[] | undefined): void;
}

/** A role, or the place of one that bindings name and that doesn't exist. */
export class RoleRecord {
  /** Number of bindings that refer to the role. */
  private references = 0;
  /** The bindings that refer to the role. */
  readonly bindings = new RoleBindings<BindingRecord>();
  /** The role's labels, which aggregation selectors of other roles match; undefined when it has none. */
  labels: Readonly<Record<string, string>> | undefined;
  /** The selectors of the role's aggregation rule; undefined when it has none. */
  aggregationSelectors: readonly LabelSelectorObject[] | undefined;
  /** The scopes that hold the role's rules in their merged table. */
  mergedScopes: OneOrMany<RuleHolder>;
  private current: readonly Rule[] | undefined;
  private table: RuleTable<RoleRecord> | undefined;

  constructor(
    readonly kind: "ClusterRole" | "Role",
    readonly namespace: string,
    readonly name: string,
    private readonly budget: TableBudget,
  ) {}

  /** Takes in a binding that refers to the role. */
  refer(binding: BindingRecord): void {
    this.references++;
    this.bindings.add(binding);
  }

  /** Forgets a binding that {@link RoleRecord.refer} took in. */
  unrefer(binding: BindingRecord): void {
    this.references--;
    this.bindings.remove(binding);
  }

  /** Makes the role what an object says, or takes it out of existence. */
  put(role: StoredRole | undefined): void {
    this.labels = role?.metadata?.labels ?? undefined;
    this.aggregationSelectors = role?.aggregationRule?.clusterRoleSelectors ?? undefined;
    this.setRules(role === undefined ? undefined : (role.rules ?? []));
  }

  /** Whether neither the role nor a binding of it exists. */
  get isForgotten(): boolean {
    return this.references === 0 && this.current === undefined;
  }

  /** The role's rules; undefined while it doesn't exist. */
  get rules(): readonly Rule[] | undefined {
    return this.current;
  }

  /** Whether one of the role's rules allows what is asked; the turn says whether one that waits may. */
  allows(query: RuleQuery, turn: Turn): boolean {
    const { current } = this;
    if (current === undefined) return false;
    if (this.table === undefined) {
      if (isScanned(current)) return scan(current, query);
      this.table = new RuleTable<RoleRecord>(this.budget);
      this.table.add(current, this);
    }
    return this.table.find(query, turn) !== undefined;
  }

  private setRules(rules: readonly PolicyRule[] | undefined): void {
    const before = this.current;
    this.current = rules === undefined ? undefined : completeRules(rules);
    for (const rule of this.current ?? []) prepareLists(rule);
    if (before !== undefined) this.table?.remove(before, this);
    this.table = undefined;
    for (const scope of itemsOf(this.mergedScopes)) scope.roleChanged(this, before);
  }
}

function scan(rules: readonly Rule[], query: RuleQuery): boolean {
  for (const rule of rules) {
    if (ruleAllows(rule, query)) return true;
  }
  return false;
}

function isScanned(rules: readonly Rule[]): boolean {
  if (rules.length > scannedRules) return false;
  let entries = 0;
  for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
    entries +=
      verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
  }
  return entries <= scannedEntries;
}
