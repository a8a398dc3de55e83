/** Returns the canonical text of an address (RFC 5952): lower case, the longest run of two or more zero groups as `::`. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) => (bytes[2 * at]! << 8) | bytes[2 * at + 1]!);
  const { start, length } = longestZeros(groups);
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return text(groups);
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** Returns the first longest run of zeros. */
function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > longest.length) longest = { start, length: end - start };
  }
  return longest;
}
