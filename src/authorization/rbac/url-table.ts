import { firstItem, type OneOrMany } from "./one-or-many.ts";
import { urlPrefix } from "./url-entry.ts";

/**
 * Owners by URL entry: exact paths, and prefixes whose entry ends in `*`. A lookup tries only the lengths that prefixes
 * have, so its cost depends on the path's length and not on the number of entries.
 */
export class UrlTable<Owner extends object> {
  private readonly exact = new Map<string, OneOrMany<Owner>>();
  private readonly prefixes = new Map<string, OneOrMany<Owner>>();
  /** How many prefixes there are of each length. */
  private readonly lengths = new Map<number, number>();

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.prefixes.size === 0;
  }

  /** Replaces the owners of a rule's URL entry by what `change` makes of them. */
  change(url: string, change: (owners: OneOrMany<Owner>) => OneOrMany<Owner>): void {
    const prefix = urlPrefix(url);
    const map = prefix === undefined ? this.exact : this.prefixes;
    const key = prefix ?? url;
    const before = map.get(key);
    const after = change(before);
    if (after === undefined) map.delete(key);
    else map.set(key, after);
    if (prefix === undefined || (before === undefined) === (after === undefined)) return;
    const count = (this.lengths.get(prefix.length) ?? 0) + (after === undefined ? -1 : 1);
    if (count === 0) this.lengths.delete(prefix.length);
    else this.lengths.set(prefix.length, count);
  }

  /** An owner of an entry that covers the path. A path that itself ends in `*` is compared like any other. */
  find(path: string): Owner | undefined {
    const exact = this.exact.get(path);
    if (exact !== undefined) return firstItem(exact);
    if (this.prefixes.size === 0) return undefined;
    for (const length of this.lengths.keys()) {
      if (length > path.length) continue;
      const owners = this.prefixes.get(length === path.length ? path : path.slice(0, length));
      if (owners !== undefined) return firstItem(owners);
    }
    return undefined;
  }
}
