import type { LabelSelectorObject } from "../../base/selectors/label-selector.ts";
import type { BoundSubject } from "./bound-subject.ts";
import { itemsOf, type OneOrMany, withItem, withoutItem } from "./one-or-many.ts";
import { completeRules, type PolicyRule, type StoredRole, type Rule } from "./policy.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";
import { prepareLists } from "./long-lists.ts";
import { RuleTable } from "./rule-table.ts";
import type { TableBudget, Turn } from "./table-budget.ts";

/** Roles up to these sizes are compared rule by rule and have no table, to save memory. */
const scannedRules = 3;
const scannedEntries = 24;

/** A binding in the index. */
export interface BindingRecord {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  /** Undefined if the kind of the roleRef is unknown. */
  readonly role: RoleRecord | undefined;
  readonly subjects: readonly BoundSubject[];
  /** Messages about invalid parts of the binding; empty if it is valid. */
  readonly fault: string;
}

/** A scope whose table contains rules of a role. */
export interface RoleObserver {
  /** Updates the table after a change of the role; `previous` are its previous rules, undefined if it didn't exist. */
  roleChanged(role: RoleRecord, previous: readonly Rule[] | undefined): void;
}

/** A role that exists or that a binding refers to. */
export class RoleRecord {
  /** Number of bindings that refer to the role. */
  private references = 0;
  /** The bindings that refer to the role. */
  readonly bindings = new RoleBindings<BindingRecord>();
  /** The labels of the role; the aggregation rules of other roles match them. */
  labels: Readonly<Record<string, string>> | undefined;
  /** The selectors of the role's aggregation rule; undefined without one. */
  aggregationSelectors: readonly LabelSelectorObject[] | undefined;
  /** The scopes that have the role's rules in their table. */
  mergedScopes: OneOrMany<RoleObserver>;
  private current: readonly Rule[] | undefined;
  private table: RuleTable<RoleRecord> | undefined;

  constructor(
    readonly kind: "ClusterRole" | "Role",
    readonly namespace: string,
    readonly name: string,
    private readonly budget: TableBudget,
  ) {}

  /** Adds a binding that refers to the role. */
  addBinding(binding: BindingRecord): void {
    this.references++;
    this.bindings.add(binding);
  }

  /** Removes a binding that was added by {@link RoleRecord.addBinding}. */
  removeBinding(binding: BindingRecord): void {
    this.references--;
    this.bindings.remove(binding);
  }

  /** Sets rules, labels and aggregation rule; undefined if the role was deleted. */
  put(role: StoredRole | undefined): void {
    this.labels = role?.metadata?.labels ?? undefined;
    this.aggregationSelectors = role?.aggregationRule?.clusterRoleSelectors ?? undefined;
    this.setRules(role === undefined ? undefined : (role.rules ?? []));
  }

  /** Whether the role doesn't exist and no binding refers to it. */
  get isUnused(): boolean {
    return this.references === 0 && this.current === undefined;
  }

  /** The rules of the role; undefined if it doesn't exist. */
  get rules(): readonly Rule[] | undefined {
    return this.current;
  }

  /** Whether a rule of the role allows the request. Sets `turn.unfinished` if rules aren't in the table yet. */
  allows(query: RuleQuery, turn: Turn): boolean {
    const { current } = this;
    if (current === undefined) return false;
    if (this.table === undefined) {
      if (isSmall(current)) return someRuleAllows(current, query);
      this.table = new RuleTable<RoleRecord>(this.budget);
      this.table.add(current, this);
    }
    return this.table.find(query, turn) !== undefined;
  }

  private setRules(rules: readonly PolicyRule[] | undefined): void {
    const previous = this.current;
    this.current = rules === undefined ? undefined : completeRules(rules);
    for (const rule of this.current ?? []) prepareLists(rule);
    if (previous !== undefined) this.table?.remove(previous, this);
    this.table = undefined;
    for (const scope of itemsOf(this.mergedScopes)) scope.roleChanged(this, previous);
  }
}

function someRuleAllows(rules: readonly Rule[], query: RuleQuery): boolean {
  for (const rule of rules) {
    if (ruleAllows(rule, query)) return true;
  }
  return false;
}

function isSmall(rules: readonly Rule[]): boolean {
  if (rules.length > scannedRules) return false;
  let entries = 0;
  for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
    entries +=
      verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
  }
  return entries <= scannedEntries;
}

/** The bindings of one role by namespace; empty for ClusterRoleBindings. */
class RoleBindings<B extends { readonly namespace: string }> {
  private readonly byNamespace = new Map<string, OneOrMany<B>>();

  add(binding: B): void {
    const { namespace } = binding;
    this.byNamespace.set(namespace, withItem(this.byNamespace.get(namespace), binding));
  }

  remove(binding: B): void {
    const { namespace } = binding;
    const remaining = withoutItem(this.byNamespace.get(namespace), binding);
    if (remaining !== undefined) this.byNamespace.set(namespace, remaining);
    else this.byNamespace.delete(namespace);
  }

  /** Returns the bindings in exactly this namespace; for the empty namespace the ClusterRoleBindings. */
  in(namespace: string): Iterable<B> {
    return itemsOf(this.byNamespace.get(namespace));
  }
}
