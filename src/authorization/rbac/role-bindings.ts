import type { BindingRecord } from "./binding-record.ts";
import { itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";

/**
 * The bindings of one role by the namespace in which they hold; the empty namespace is the whole cluster. Those of the
 * role's own namespace take no map: a Role has no others.
 */
export class RoleBindings {
  private near: OneOrMany<BindingRecord>;
  private far: Map<string, OneOrMany<BindingRecord>> | undefined;

  /** @param home namespace of the role; empty for a ClusterRole. */
  constructor(private readonly home: string) {}

  /** Takes a binding in. */
  add(binding: BindingRecord): void {
    const { namespace } = binding;
    if (namespace === this.home) this.near = withItem(this.near, binding);
    else {
      this.far ??= new Map();
      this.far.set(namespace, withItem(this.far.get(namespace), binding));
    }
  }

  /** Forgets a binding. */
  remove(binding: BindingRecord): void {
    const { namespace } = binding;
    if (namespace === this.home) {
      this.near = withoutItem(this.near, binding);
      return;
    }
    const left = withoutItem(this.far?.get(namespace), binding);
    if (left !== undefined) this.far?.set(namespace, left);
    else this.far?.delete(namespace);
  }

  /** The bindings that hold in exactly this namespace, or (empty) in the whole cluster. */
  in(namespace: string): Iterable<BindingRecord> {
    return itemsOf(namespace === this.home ? this.near : this.far?.get(namespace));
  }
}
