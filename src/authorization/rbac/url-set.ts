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

/** Whether a URL entry of a rule, exact or with a trailing `*`, matches a path or covers another entry. */
export function urlCovers(entry: string, path: string): boolean {
  if (entry === path) return true;
  const prefix = urlPrefix(entry);
  return prefix !== undefined && path.startsWith(prefix);
}

/** Returns a URL entry without trailing `*`; undefined for an exact entry. */
export function urlPrefix(entry: string): string | undefined {
  let end = entry.length;
  while (end > 0 && entry[end - 1] === "*") end--;
  return end === entry.length ? undefined : entry.slice(0, end);
}
