/** Whether a rule's URL entry, exact or ending in `*`, covers a path or another entry. */
export function urlCovers(entry: string, path: string): boolean {
  if (entry === path) return true;
  const prefix = urlPrefix(entry);
  return prefix !== undefined && path.startsWith(prefix);
}

/** A URL entry without its final `*`; undefined for an exact entry. */
export function urlPrefix(entry: string): string | undefined {
  let end = entry.length;
  while (end > 0 && entry[end - 1] === "*") end--;
  return end === entry.length ? undefined : entry.slice(0, end);
}
