import { urlPrefix } from "./url-entry.ts";

/** URL entries of rules, for asking which paths they cover: what that costs hardly depends on their number. */
export class UrlSet {
  private readonly exact = new Set<string>();
  /** The entries that end in `*`, without it, sorted; none begins with another. */
  private readonly prefixes: string[] = [];

  constructor(entries: Iterable<string>) {
    const prefixes: string[] = [];
    for (const entry of entries) {
      const prefix = urlPrefix(entry);
      if (prefix === undefined) this.exact.add(entry);
      else prefixes.push(prefix);
    }
    for (const prefix of prefixes.toSorted()) {
      const last = this.prefixes.at(-1);
      if (last === undefined || !prefix.startsWith(last)) this.prefixes.push(prefix);
    }
  }

  /** Whether one of the entries covers the path, or the entry of another rule. */
  covers(path: string): boolean {
    if (this.exact.has(path)) return true;
    // Whatever sorts between a prefix and the path begins with that prefix, and so isn't here: it's the last before it.
    let low = 0;
    let high = this.prefixes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.prefixes[middle]! <= path) low = middle + 1;
      else high = middle;
    }
    return low > 0 && path.startsWith(this.prefixes[low - 1]!);
  }
}
