import { StatusError } from "../../base/status-error.ts";
import { parse } from "../../cel/syntax/parser.ts";
import { ExpressionError, type Call, type Expression } from "../../cel/syntax/syntax.ts";
import type { Entry } from "../../storage/store.ts";
import { namesOf } from "../registry/registry.ts";
import type { HeaderReader, Selection, SelectionTerm } from "./selection.ts";
import { uidOf } from "./stored.ts";

const uidPath = "object.metadata.uid";
const namespacePath = "object.metadata.namespace";

/** The two halves of an unsigned number of 64 bits; the high half of 2^64 is 2^32. */
interface Hash {
  readonly high: number;
  readonly low: number;
}

/** A range of hashes, as in `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`. */
interface ShardRange {
  readonly path: string;
  /** Inclusive. */
  readonly start: string;
  /** Exclusive. */
  readonly end: string;
}

/** Hash ranges of the parameter `shardSelector`; see {@link parseShards}. */
export interface Shards {
  readonly path: string;
  readonly ranges: readonly ShardRange[];
}

/**
 * Parses a shard selector: calls of `shardRange(PATH, 'START', 'END')`, joined by `||`. An object is selected if the FNV-1a hash of its field
 * is in one of the ranges.
 *
 * @throws {StatusError} BadRequest for another expression.
 */
export function parseShards(text: string): Shards {
  if (text.trim() === "") throw invalid(text, "is empty; omit the parameter to select all objects");
  let expression: Expression;
  try {
    expression = parse(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw invalid(text, `is not an expression: ${error.message}`);
  }
  const ranges = rangesOf(expression, text);
  const { path } = ranges[0]!;
  const other = ranges.find((range) => range.path !== path);
  if (other !== undefined) {
    throw invalid(text, `uses ${path} and ${other.path}; all ranges must be of the same field`);
  }
  return { path, ranges };
}

function rangesOf(expression: Expression, text: string): ShardRange[] {
  if (expression.node === "logical" && expression.operator === "or") {
    return expression.operands.flatMap((operand) => rangesOf(operand, text));
  }
  if (expression.node === "call" && expression.name === "shardRange" && expression.target === undefined) {
    return [rangeOf(expression, text)];
  }
  throw invalid(text, "must be calls of shardRange(), joined by ||");
}

function rangeOf({ args }: Call, text: string): ShardRange {
  if (args.length !== 3) {
    throw invalid(text, `calls shardRange() with ${args.length} arguments; it takes field, start and end`);
  }
  const path = pathOf(args[0]!);
  if (path !== uidPath && path !== namespacePath) {
    throw invalid(text, `must use the field ${uidPath} or ${namespacePath}`);
  }
  const [start, end] = [boundOf(args[1]!, "start", text), boundOf(args[2]!, "end", text)];
  if (!isBelow(hashOfBound(start), hashOfBound(end))) {
    throw invalid(text, `has a range whose start ${start} is not less than its end ${end}`);
  }
  return { path, start, end };
}

function pathOf(expression: Expression): string | undefined {
  if (expression.node === "identifier") return expression.name;
  if (expression.node !== "select" || expression.test) return undefined;
  const operand = pathOf(expression.operand);
  return operand === undefined ? undefined : `${operand}.${expression.field}`;
}

const upperBound = "0x10000000000000000";

function boundOf(expression: Expression, name: "start" | "end", text: string): string {
  const value = expression.node === "literal" ? expression.value : undefined;
  if (typeof value === "string" && (/^0x[0-9a-f]{16}$/.test(value) || value === upperBound)) return value;
  throw invalid(
    text,
    `has an invalid ${name} of a range; allowed are strings of 0x and 16 lower-case hexadecimal digits, and '${upperBound}'`,
  );
}

function invalid(text: string, reason: string): StatusError {
  return new StatusError("BadRequest", `parameter shardSelector: ${JSON.stringify(text)} ${reason}`);
}

function hashOfBound(bound: string): Hash {
  return { high: parseInt(bound.slice(2, -8), 16), low: parseInt(bound.slice(-8), 16) };
}

function isBelow(one: Hash, other: Hash): boolean {
  return one.high < other.high || (one.high === other.high && one.low < other.low);
}

const offsetBasis: Hash = { high: 0xcbf29ce4, low: 0x84222325 };
/** The prime of FNV-1a is 2^40 + 435. */
const primeLow = 435;

/** Returns the 64-bit FNV-1a hash of a text in UTF-8. */
function hashOf(text: string): Hash {
  let { high, low } = offsetBasis;
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * primeLow;
    high = (Math.imul(high, primeLow) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return { high, low };
}

/** Limits a selection to the objects of shards. */
export class ShardSelection implements Selection {
  readonly everything = false;
  readonly name: string | undefined;
  readonly text: string;
  readonly terms: readonly SelectionTerm[];
  /** The shard selector in its canonical form. */
  readonly shard: string;
  private readonly isOfUid: boolean;
  private readonly ranges: readonly { readonly start: Hash; readonly end: Hash }[];

  constructor(
    private readonly inner: Selection,
    { path, ranges }: Shards,
  ) {
    this.name = inner.name;
    this.terms = inner.terms;
    this.shard = ranges.map(({ start, end }) => `shardRange(${path}, '${start}', '${end}')`).join(" || ");
    this.text = JSON.stringify([inner.text, { shard: this.shard }]);
    this.isOfUid = path === uidPath;
    this.ranges = ranges.map(({ start, end }) => ({ start: hashOfBound(start), end: hashOfBound(end) }));
  }

  matches(entry: Entry, read?: HeaderReader): boolean {
    if (!this.inner.matches(entry, read)) return false;
    const hash = hashOf(this.isOfUid ? (read?.(entry).uid ?? uidOf(entry)) : namesOf(entry.key).namespace);
    return this.ranges.some(({ start, end }) => !isBelow(hash, start) && isBelow(hash, end));
  }
}
