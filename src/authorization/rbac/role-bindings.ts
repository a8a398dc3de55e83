import { itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";

/** The bindings of one role by namespace; empty for ClusterRoleBindings. */
export class RoleBindings<B extends { readonly namespace: string }> {
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
