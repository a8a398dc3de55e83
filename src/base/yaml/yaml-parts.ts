import type { CST } from "yaml";

/** A mapping or sequence in block style: a token with items that can be composed in parts. */
export type BlockToken = CST.BlockMap | CST.BlockSequence;
type BlockItem = BlockToken["items"][number];

/** Maximum number of characters of a part. It is composed without a yield, which takes a few milliseconds at most. */
const partCharacters = 8 * 1024;

/** Consecutive items of a block collection. */
export interface BlockPart {
  /** The items, as a collection of their own. */
  readonly collection: BlockToken;
  /** The value of the only item, which has an empty collection in its place; `end` is the offset of its end in the text. */
  readonly large?: { readonly value: BlockToken; readonly end: number };
}

/**
 * Returns the content of a document if it is a block collection that is to be composed in parts. A document with a tag or an anchor
 * is composed as a whole.
 *
 * @param end offset of the end of the text.
 */
export function largeContent({ start, value }: CST.Document, end: number): BlockToken | undefined {
  return isBlock(value) && end - value.offset > partCharacters && !start.some(isProperty) ? value : undefined;
}

/**
 * Divides a block collection into parts, in order.
 *
 * @param end offset of the end of the collection in the text.
 */
export function* partsOf(token: BlockToken, end: number): Generator<BlockPart> {
  let items: BlockItem[] = [];
  let itemsAt = token.offset;
  for (const [index, item] of token.items.entries()) {
    const at = startOf(item, token.offset);
    const next = token.items[index + 1];
    const itemEnd = next === undefined ? end : startOf(next, end);
    if (items.length > 0 && itemEnd - itemsAt > partCharacters) {
      yield { collection: withItems(token, items) };
      items = [];
    }
    const value = itemEnd - at > partCharacters ? divisibleValue(item) : undefined;
    if (value !== undefined) {
      const shortened = { ...item, value: { ...value, items: [] } } as BlockItem;
      yield { collection: withItems(token, [shortened]), large: { value, end: itemEnd } };
      continue;
    }
    if (items.length === 0) itemsAt = at;
    items.push(item);
  }
  if (items.length > 0) yield { collection: withItems(token, items) };
}

/**
 * Number of lexical tokens in a syntax tree; counts to `limit` at most. Depth of recursion: that of the tree.
 */
export function countTokens(token: CST.Token | null | undefined, limit: number): number {
  if (token === undefined || token === null) return 0;
  let count = 1;
  if (!("items" in token)) return count + ("end" in token ? (token.end?.length ?? 0) : 0);
  for (const { start, key, sep, value } of token.items as readonly CST.CollectionItem[]) {
    count += start.length + (sep?.length ?? 0);
    count += countTokens(key, limit - count) + countTokens(value, limit - count);
    if (count >= limit) return count;
  }
  return count;
}

/** Returns the value of an item if it is a block collection without a tag or an anchor, which apply to the whole. */
function divisibleValue({ start, sep, value }: CST.CollectionItem): BlockToken | undefined {
  return isBlock(value) && !(sep ?? start).some(isProperty) ? value : undefined;
}

function isBlock(token: CST.Token | undefined): token is BlockToken {
  return token?.type === "block-map" || token?.type === "block-seq";
}

function isProperty({ type }: CST.SourceToken): boolean {
  return type === "anchor" || type === "tag";
}

/** Returns a collection of some consecutive items of another; it begins where they begin. */
function withItems(token: BlockToken, items: readonly BlockItem[]): BlockToken {
  return { ...token, offset: startOf(items[0]!, token.offset), items } as BlockToken;
}

/** Returns the offset of the first token of an item. */
function startOf({ start, key, sep, value }: CST.CollectionItem, otherwise: number): number {
  return (start[0] ?? key ?? sep?.[0] ?? value)?.offset ?? otherwise;
}
