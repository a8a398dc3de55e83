import { literalValue } from "../evaluation/constants.ts";
import { typeOfValue } from "../functions/conversions.ts";
import { cidrType, ipType } from "../types/opaque-types.ts";
import { ExpressionError, type LiteralValue } from "../syntax/syntax.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  optionalOf,
  string,
  timestamp,
  uint,
  type CelType,
} from "../types/types.ts";

/** Types of keys by which `sortBy` sorts. */
export const sortable: readonly CelType[] = [int, uint, double, bool, duration, timestamp, string, bytes];

/** Returns the type of a literal. */
export function literalType(value: LiteralValue): CelType {
  return typeOfValue(literalValue(value));
}

/** What the type of the result of a macro depends on. */
export interface ComprehensionTypes {
  readonly over: CelType;
  readonly key: CelType;
  /** Type of the transformation, or of the item. */
  readonly elementType: CelType;
  readonly maxSize: number | undefined;
}

/** Returns the types of both variables of a macro. */
export function entryTypes(over: CelType): [CelType, CelType] {
  if (over.is === "list") return [int, over.element];
  return over.is === "map" ? [over.key, over.value] : [dyn, dyn];
}

/** Type names of later releases. */
export const laterTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["optional_type", optionalOf(dyn)],
  ["net.IP", ipType],
  ["net.CIDR", cidrType],
]);

/** The optional items of a literal that has none. */
export const noneOptional: ReadonlySet<number> = new Set();

export function undeclared(name: string, at: number): ExpressionError {
  return new ExpressionError(`undeclared reference to '${name}'`, at);
}
