import { firstItem, type OneOrMany } from "./one-or-many.ts";
import { urlPrefix } from "./url-entry.ts";

/**
 * Owners by URL entry: exact paths, and prefixes (entries with a trailing `*`). A lookup tries only the existing lengths of
 * prefixes, so its time depends on the length of the path, not on the number of entries.
 */
export class UrlTable<Owner extends object> {
  private readonly exact = new Map<string, OneOrMany<Owner>>();
  private readonly prefixes = new Map<string, OneOrMany<Owner>>();
  /** Number of prefixes of each length. */
  private readonly lengths = new Map<number, number>();

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.prefixes.size === 0;
  }

  /** Replaces the owners of a URL entry by the result of `change`. */
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

  /** Returns an owner of an entry that matches the path. A `*` in the path is an ordinary character. */
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
