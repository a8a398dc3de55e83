import type { SubjectKey } from "./bound-subject.ts";
import { Scope, type Evaluation } from "./scope.ts";
import type { TableBudget } from "./table-budget.ts";

/** The scopes of one user or group by namespace; the empty namespace is the whole cluster. */
export class SubjectScopes implements SubjectKey {
  private readonly scopes = new Map<string, Scope>();

  constructor(
    readonly isGroup: boolean,
    readonly name: string,
    private readonly budget: TableBudget,
  ) {}

  get isEmpty(): boolean {
    return this.scopes.size === 0;
  }

  get(namespace: string): Scope | undefined {
    return this.scopes.get(namespace);
  }

  /** Returns the scope of a namespace; creates it if it doesn't exist. */
  ensure(namespace: string): Scope {
    let scope = this.scopes.get(namespace);
    if (scope === undefined) this.scopes.set(namespace, (scope = new Scope(this, this.budget)));
    return scope;
  }

  delete(namespace: string): void {
    this.scopes.delete(namespace);
  }

  /** Returns all scopes with their namespaces. */
  entries(): Iterable<readonly [namespace: string, scope: Scope]> {
    return this.scopes;
  }

  /** Evaluates the roles that are bound in the cluster and, unless it is empty, in the namespace. */
  evaluate(namespace: string, evaluation: Evaluation): void {
    this.scopes.get("")?.evaluate(evaluation);
    if (namespace !== "") this.scopes.get(namespace)?.evaluate(evaluation);
  }
}
