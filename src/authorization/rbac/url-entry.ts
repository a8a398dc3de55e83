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
