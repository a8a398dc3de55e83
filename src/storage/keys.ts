/**
 * Order and structure of keys (`/{group}/{resource}/{namespace}/{name}`), shared by all engines.
 */

/** Compares two strings by their UTF-8 bytes. JavaScript compares UTF-16 code units, which differs for surrogate pairs. */
export function compareKeys(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 code unit in UTF-8 order: surrogates encode four-byte characters, so they sort last. */
function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns the smallest string above every key that starts with `prefix`, which ends in `/` (the next character is `0`). */
export function prefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

/** Calls `visit` with each prefix of the key that ends in `/`, shortest first: `/`, `/g/`, `/g/r/`, `/g/r/n/`. */
export function eachPrefix(key: string, visit: (prefix: string) => void): void {
  for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
    visit(key.slice(0, slash + 1));
  }
}

/** Returns the number of segments of a prefix: 0 for `/`, 2 for a collection, 3 for a partition. */
export function prefixDepth(prefix: string): number {
  let depth = -1;
  for (let i = 0; i < prefix.length; i++) if (prefix.charCodeAt(i) === 0x2f) depth++;
  return depth;
}

/** Returns the prefixes of the key's collection (`/{group}/{resource}/`) and partition (`/{group}/{resource}/{namespace}/`). */
export function countersOf(key: string): { collection: string; partition: string } {
  const second = key.indexOf("/", 1);
  const third = key.indexOf("/", second + 1);
  const fourth = key.indexOf("/", third + 1);
  return { collection: key.slice(0, third + 1), partition: key.slice(0, fourth + 1) };
}

/** Whether `partition` is the partition of a key. */
export function isIn(key: string, partition: string): boolean {
  return partition !== "" && key.startsWith(partition) && !key.includes("/", partition.length);
}

/** Separates the identifier of a keyspace (`keyspaces/`) from the group of a key. Neither contains it. */
export const keyspaceSeparator = "@";

/** Returns the identifier of the keyspace of a key or prefix; undefined outside of keyspaces. */
export function keyspaceOf(key: string): string | undefined {
  const at = key.indexOf(keyspaceSeparator);
  if (at < 0) return undefined;
  const slash = key.indexOf("/", 1);
  return slash >= 0 && slash < at ? undefined : key.slice(1, at);
}

/** Returns a key or prefix as it is within its keyspace; one outside of keyspaces is returned as it is. */
export function withoutKeyspace(key: string): string {
  const id = keyspaceOf(key);
  return id === undefined ? key : `/${key.slice(id.length + 2)}`;
}

/** Maximum length of a key, in UTF-8 bytes. */
export const maxKeyBytes = 1024;

/** Whether a string is longer than {@link maxKeyBytes}, so no key equals it. */
export function isTooLong(key: string): boolean {
  return key.length > maxKeyBytes / 3 && Buffer.byteLength(key) > maxKeyBytes;
}

/**
 * Checks that a string is a valid key.
 *
 * @throws {TypeError} (a bug of the caller) if it isn't of the form `/{group}/{resource}/{namespace}/{name}`, contains a NUL, or has
 *   more than 1024 bytes.
 */
export function assertKey(key: string): void {
  const { partition } = countersOf(key);
  const sound = key.startsWith("/") && prefixDepth(partition) === 3 && key.length > partition.length;
  if (!sound || key.includes("\0")) {
    throw new TypeError(`not a storage key: ${JSON.stringify(key)}`);
  }
  if (isTooLong(key)) {
    throw new TypeError(`storage key above ${maxKeyBytes} bytes: ${key.slice(0, 80)}…`);
  }
}

/** @throws {TypeError} (a bug of the caller) if the prefix doesn't begin and end with `/`. */
export function assertPrefix(prefix: string): void {
  if (!prefix.startsWith("/") || !prefix.endsWith("/")) {
    throw new TypeError(`not a storage prefix: ${JSON.stringify(prefix)}`);
  }
}
