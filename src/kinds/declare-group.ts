import { declarationsIn, type Declarations } from "../schema/kind.ts";
import { ObjectMeta } from "../schema/object-meta.ts";
import {
  bool,
  bytes,
  double,
  duration,
  field,
  int32,
  int64,
  intOrString,
  json,
  list,
  map,
  microTime,
  quantity,
  string,
  time,
} from "../schema/types.ts";
import { ageColumn, nameColumn } from "./columns.ts";
import { Condition } from "./meta/condition.ts";
import { LabelSelector } from "./meta/label-selector.ts";

/** Members of the result of {@link declareGroup} that don't depend on the group: types of fields, and shared structs and columns. */
const words = {
  field,
  list,
  map,
  string,
  bool,
  int32,
  int64,
  double,
  bytes,
  time,
  microTime,
  duration,
  quantity,
  intOrString,
  json,
  ObjectMeta,
  Condition,
  LabelSelector,
  nameColumn,
  ageColumn,
};

/** A group of the embedding program, for static types. */
interface OwnGroup<B extends string> {
  readonly base: B;
  readonly suffixed: false;
}

/**
 * Returns the functions that declare the kinds of one version of a group; `createServer({ kinds })` serves the kinds.
 *
 * @param group full name of the group, which contains a dot: `shop.example.com`.
 * @returns `kind`, `struct`, `atomicStruct`, `union`; `field(number, type, doc)`, `list(type)`, `map(type)`; the scalar types `string`, `bool`,
 *   `int32`, `int64`, `double`, `bytes`, `time`, `microTime`, `duration`, `quantity`, `intOrString`, `json`; the structs `ObjectMeta`,
 *   `Condition`, `LabelSelector`; and `nameColumn`, `ageColumn`. A field without a number has no binary form.
 *
 * @example
 * const { kind, field, string, ObjectMeta } = declareGroup("shop.example.com", "v1");
 * const Order = kind({
 *   name: "Order", resource: "orders", singular: "order", scope: "Namespaced", doc: "An order of a customer.",
 *   fields: {
 *     metadata: field(1, ObjectMeta, "Metadata of the order."),
 *     item: field(2, string, "Name of the ordered item.").required(),
 *   },
 * });
 */
export function declareGroup<const B extends string, const V extends string>(
  group: B,
  version: V,
): Declarations<OwnGroup<B>, V> & typeof words {
  const own: OwnGroup<B> = { base: group, suffixed: false };
  return { ...words, ...declarationsIn(own, version) };
}
