/**
 * The order and the anatomy of keys (`/{group}/{resource}/{namespace}/{name}`), shared by all engines.
 */

/** Compares two strings by their UTF-8 bytes; JavaScript's own order differs beyond the basic plane. */
export function compareKeys(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Where a UTF-16 code unit stands in UTF-8 order: surrogates begin four-byte characters and so come last. */
function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The least string above every key that starts with `prefix`, which ends in `/` (the next character is `0`). */
export function prefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

/** Calls `visit` with each prefix of the key that ends in `/`, shortest first: `/`, `/g/`, `/g/r/`, `/g/r/n/`. */
export function eachPrefix(key: string, visit: (prefix: string) => void): void {
  for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
    visit(key.slice(0, slash + 1));
  }
}

/** How many segments a prefix names: 0 for `/`, 2 for a collection, 3 for a partition. */
export function prefixDepth(prefix: string): number {
  let depth = -1;
  for (let i = 0; i < prefix.length; i++) if (prefix.charCodeAt(i) === 0x2f) depth++;
  return depth;
}

/** The key's collection, `/{group}/{resource}/`, and partition, `/{group}/{resource}/{namespace}/`, as prefixes. */
export function countersOf(key: string): { collection: string; partition: string } {
  const second = key.indexOf("/", 1);
  const third = key.indexOf("/", second + 1);
  const fourth = key.indexOf("/", third + 1);
  return { collection: key.slice(0, third + 1), partition: key.slice(0, fourth + 1) };
}

/** Whether a key is right below a prefix: their prefixes are the same. */
export function isIn(key: string, partition: string): boolean {
  return partition !== "" && key.startsWith(partition) && !key.includes("/", partition.length);
}

/** The longest key that an engine takes. */
export const maxKeyBytes = 1024;

/** Whether a string is too long to be a key: nothing is ever found under it. */
export function isTooLong(key: string): boolean {
  return key.length > maxKeyBytes / 3 && Buffer.byteLength(key) > maxKeyBytes;
}

/**
 * Refuses what is no key: it would never be found again under its collection.
 *
 * @throws {TypeError} a bug of the caller: not of the form `/{group}/{resource}/{namespace}/{name}`, a NUL in it, or
 *   above 1024 bytes.
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

/** @throws {TypeError} a bug of the caller: a prefix begins and ends with `/`. */
export function assertPrefix(prefix: string): void {
  if (!prefix.startsWith("/") || !prefix.endsWith("/")) {
    throw new TypeError(`not a storage prefix: ${JSON.stringify(prefix)}`);
  }
}
