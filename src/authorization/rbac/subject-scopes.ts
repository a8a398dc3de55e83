import type { SubjectKey } from "./binding-record.ts";
import { Scope, type Verdicts } from "./scope.ts";
import type { SpreadBudget } from "./spread-budget.ts";

/** What one user or group is granted, by namespace; the empty namespace is the whole cluster. */
export class SubjectScopes implements SubjectKey {
  private readonly scopes = new Map<string, Scope>();

  constructor(
    readonly isGroup: boolean,
    readonly name: string,
    private readonly budget: SpreadBudget,
  ) {}

  get isEmpty(): boolean {
    return this.scopes.size === 0;
  }

  get(namespace: string): Scope | undefined {
    return this.scopes.get(namespace);
  }

  /** The scope of a namespace, made when there is none. */
  ensure(namespace: string): Scope {
    let scope = this.scopes.get(namespace);
    if (scope === undefined) this.scopes.set(namespace, (scope = new Scope(this, this.budget)));
    return scope;
  }

  delete(namespace: string): void {
    this.scopes.delete(namespace);
  }

  /** All scopes, each with its namespace. */
  everywhere(): Iterable<readonly [namespace: string, scope: Scope]> {
    return this.scopes;
  }

  /** Adds to the verdicts what holds in the cluster and, unless it is empty, in the namespace. */
  judge(namespace: string, verdicts: Verdicts): void {
    this.scopes.get("")?.judge(verdicts);
    if (namespace !== "") this.scopes.get(namespace)?.judge(verdicts);
  }
}
