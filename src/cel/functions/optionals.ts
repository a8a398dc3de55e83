import { ValueList } from "../values/collections.ts";
import { declareFunction, type CelFunction, type Run } from "./function-table.ts";
import type { Meter } from "../costs/meter.ts";
import {
  CelList,
  CelMap,
  Duration,
  Fault,
  noOverload,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from "../values/values.ts";

/** Adapts a function of an optional value. */
function ofOptional(run: (optional: Optional) => Value): Run {
  return ([optional]) => (optional instanceof Optional ? run(optional) : noOverload);
}

/** Whether a value is false, null, the number 0, empty, or the start of time. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (typeof value !== "object") return false;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  return value instanceof Timestamp && value.nanos === zeroTime;
}

/** The time 0001-01-01T00:00:00Z. */
const zeroTime = -62_135_596_800_000_000_000n;

const noValue = new Fault("optional.none() dereference");

/** Meter steps per item of a list. */
const stepsPerItem = 5;

function unwrap([list]: readonly Value[], meter: Meter): Value {
  if (!(list instanceof CelList)) return noOverload;
  const values: Value[] = [];
  meter.work(list.size * stepsPerItem);
  for (let at = 0; at < list.size; at++) {
    const item = list.get(at);
    if (!(item instanceof Optional)) return noOverload;
    if (item.value !== undefined) values.push(item.value);
  }
  return new ValueList(values);
}

function itemAt(indexOf: (size: number) => number): Run {
  return ([list]) => {
    if (!(list instanceof CelList)) return noOverload;
    return list.size === 0 ? Optional.none : new Optional(list.get(indexOf(list.size)));
  };
}

/** Functions of optional values. */
export const optionalFunctions: readonly (readonly [string, CelFunction])[] = [
  ["optional.of", declareFunction(["(A) -> optional<A>"], ([value]) => new Optional(value!))],
  [
    "optional.ofNonZeroValue",
    declareFunction(["(A) -> optional<A>"], ([value]) =>
      isZero(value!) ? Optional.none : new Optional(value!),
    ),
  ],
  ["optional.none", declareFunction(["() -> optional<A>"], () => Optional.none)],
  [
    "value",
    declareFunction(
      ["optional<A>.() -> A"],
      ofOptional(({ value }) => value ?? noValue),
    ),
  ],
  [
    "hasValue",
    declareFunction(
      ["optional<A>.() -> bool"],
      ofOptional(({ value }) => value !== undefined),
    ),
  ],
  [
    "or",
    declareFunction(
      ["optional<A>.(optional<A>) -> optional<A>"],
      ofOptional((optional) => optional),
      {
        lazy: true,
      },
    ),
  ],
  [
    "orValue",
    declareFunction(
      ["optional<A>.(A) -> A"],
      ofOptional(({ value }) => value ?? noValue),
      { lazy: true },
    ),
  ],
  [
    "_[?_]",
    declareFunction(
      [
        "(list<A>, int) -> optional<A>",
        "(optional<list<A>>, int) -> optional<A>",
        "(map<A, B>, A) -> optional<B>",
        "(optional<map<A, B>>, A) -> optional<B>",
      ],
      () => noOverload,
    ),
  ],
  [
    "_[_]",
    declareFunction(
      ["(optional<list<A>>, int) -> optional<A>", "(optional<map<A, B>>, A) -> optional<B>"],
      () => noOverload,
      { accepts: ([operand]) => operand instanceof Optional },
    ),
  ],
];

/** Functions of lists that return optional values, and the selection of present values. */
export const optionalListFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "first",
    declareFunction(
      ["list<A>.() -> optional<A>"],
      itemAt(() => 0),
    ),
  ],
  [
    "last",
    declareFunction(
      ["list<A>.() -> optional<A>"],
      itemAt((size) => size - 1),
    ),
  ],
  ["optional.unwrap", declareFunction(["(list<optional<A>>) -> list<A>"], unwrap)],
  ["unwrapOpt", declareFunction(["list<optional<A>>.() -> list<A>"], unwrap)],
];
