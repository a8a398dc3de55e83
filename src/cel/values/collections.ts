import type { Meter } from "../costs/meter.ts";
import type { ListIdentity, ObjectType } from "../types/types.ts";
import { CelList, CelMap, Uint, type Value } from "./values.ts";

/** Meter steps for copying a list item, including its conversion from JSON. */
const stepsPerCopy = 5;

/** A list of values. */
export class ValueList extends CelList {
  constructor(
    readonly items: readonly Value[],
    override readonly identity?: ListIdentity,
  ) {
    super();
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    return this.items[index]!;
  }
}

/**
 * Concatenation of two lists. The items are collected at the first access, without recursion, because concatenations may be
 * deeply nested.
 */
export class JoinedList extends CelList {
  readonly size: number;
  private items: readonly Value[] | undefined;

  /** @param meter counts the work of collecting the items. */
  constructor(
    private readonly first: CelList,
    private readonly second: CelList,
    private readonly meter: Meter,
  ) {
    super();
    this.size = first.size + second.size;
  }

  get(index: number): Value {
    return (this.items ??= this.collect())[index]!;
  }

  private collect(): readonly Value[] {
    this.meter.work(this.size * stepsPerCopy);
    const items: Value[] = [];
    const pending: CelList[] = [this];
    for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
      // Empty lists don't count for the size, but can be concatenated any number of times.
      this.meter.work(stepsPerCopy);
      if (list instanceof JoinedList && list.items === undefined) pending.push(list.second, list.first);
      else for (let at = 0; at < list.size; at++) items.push(list.get(at));
    }
    return items;
  }
}

/** A map literal. Equal numbers of different types are the same key. */
export class ValueMap extends CelMap {
  private readonly entries = new Map<MapKey, readonly [Value, Value]>();

  /** Sets the value of a key; returns false for an invalid key. */
  set(key: Value, value: Value): boolean {
    const own = mapKey(key);
    if (own === undefined) return false;
    this.entries.set(own, [key, value]);
    return true;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: Value): Value | undefined {
    const own = mapKey(key);
    return own === undefined ? undefined : this.entries.get(own)?.[1];
  }

  keys(): readonly Value[] {
    return [...this.entries.values()].map(([key]) => key);
  }
}

/** An object that an expression constructs. */
export class ConstructedObject extends CelMap {
  constructor(
    readonly type: ObjectType,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super();
  }

  get size(): number {
    return this.fields.size;
  }

  get(name: Value): Value | undefined {
    return typeof name === "string" ? this.fields.get(name) : undefined;
  }

  keys(): readonly string[] {
    return [...this.fields.keys()];
  }
}

type MapKey = string | boolean | bigint | number;

/** Returns a primitive that is equal for equal keys; undefined for an invalid key. */
function mapKey(key: Value): MapKey | undefined {
  switch (typeof key) {
    case "string":
    case "boolean":
    case "bigint":
      return key;
    case "number":
      return Number.isInteger(key) ? BigInt(key) : key;
    default:
      return key instanceof Uint ? key.value : undefined;
  }
}
