import type { SubjectKey } from "./binding-record.ts";
import { Scope, type Verdicts } from "./scope.ts";
import type { SpreadBudget } from "./spread-budget.ts";

/**
 * What one user or group is granted, by namespace; the empty namespace is the whole cluster. Most have a single
 * namespace, which takes no map.
 */
export class SubjectScopes implements SubjectKey {
  /** What holds in the whole cluster. */
  private cluster: Scope | undefined;
  private onlyNamespace = "";
  private only: Scope | undefined;
  private many: Map<string, Scope> | undefined;

  constructor(
    readonly isGroup: boolean,
    readonly name: string,
    private readonly budget: SpreadBudget,
  ) {}

  get isEmpty(): boolean {
    return this.cluster === undefined && this.only === undefined && (this.many?.size ?? 0) === 0;
  }

  get(namespace: string): Scope | undefined {
    if (namespace === "") return this.cluster;
    if (this.many !== undefined) return this.many.get(namespace);
    return this.onlyNamespace === namespace ? this.only : undefined;
  }

  /** The scope of a namespace, made when there is none. */
  ensure(namespace: string): Scope {
    const there = this.get(namespace);
    if (there !== undefined) return there;
    const scope = new Scope(this, this.budget);
    if (namespace === "") this.cluster = scope;
    else this.add(namespace, scope);
    return scope;
  }

  delete(namespace: string): void {
    if (namespace === "") this.cluster = undefined;
    else if (this.many !== undefined) this.many.delete(namespace);
    else if (this.onlyNamespace === namespace) this.only = undefined;
  }

  /** What holds somewhere, with the namespace; the empty namespace is the whole cluster. */
  *everywhere(): Iterable<readonly [namespace: string, scope: Scope]> {
    if (this.cluster !== undefined) yield ["", this.cluster];
    if (this.only !== undefined) yield [this.onlyNamespace, this.only];
    if (this.many !== undefined) yield* this.many;
  }

  /** Adds to the verdicts what holds in the cluster and, unless it is empty, in the namespace. */
  judge(namespace: string, verdicts: Verdicts): void {
    this.cluster?.judge(verdicts);
    if (namespace !== "") this.get(namespace)?.judge(verdicts);
  }

  private add(namespace: string, scope: Scope): void {
    if (this.many === undefined && this.only === undefined) {
      this.onlyNamespace = namespace;
      this.only = scope;
      return;
    }
    if (this.many === undefined) {
      this.many = new Map([[this.onlyNamespace, this.only!]]);
      this.only = undefined;
    }
    this.many.set(namespace, scope);
  }
}
