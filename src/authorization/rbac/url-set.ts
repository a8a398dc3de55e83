import { urlPrefix } from "./url-entry.ts";

/** A set of URL entries. A lookup takes logarithmic time. */
export class UrlSet {
  private readonly exact = new Set<string>();
  /** Sorted entries with a trailing `*`, without it; none is a prefix of another. */
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

  /** Whether one of the entries matches a path, or covers an entry of another rule. */
  covers(path: string): boolean {
    if (this.exact.has(path)) return true;
    // No prefix is a prefix of another, so only the last one that sorts before the path can match.
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
