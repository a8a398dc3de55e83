import { itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";

/** The bindings of one role by the namespace in which they hold; the empty namespace is the whole cluster. */
export class RoleBindings<B extends { readonly namespace: string }> {
  private readonly byNamespace = new Map<string, OneOrMany<B>>();

  add(binding: B): void {
    const { namespace } = binding;
    this.byNamespace.set(namespace, withItem(this.byNamespace.get(namespace), binding));
  }

  remove(binding: B): void {
    const { namespace } = binding;
    const left = withoutItem(this.byNamespace.get(namespace), binding);
    if (left !== undefined) this.byNamespace.set(namespace, left);
    else this.byNamespace.delete(namespace);
  }

  /** The bindings that hold in exactly this namespace, or (empty) in the whole cluster. */
  in(namespace: string): Iterable<B> {
    return itemsOf(this.byNamespace.get(namespace));
  }
}
