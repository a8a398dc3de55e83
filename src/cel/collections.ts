import type { ListIdentity } from "./types.ts";
import { CelList, CelMap, Uint, type Value } from "./values.ts";

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

/** Two lists behind each other, neither of them copied: doubling a list costs nothing but the loop over it. */
export class JoinedList extends CelList {
  readonly size: number;

  constructor(
    private readonly first: CelList,
    private readonly second: CelList,
  ) {
    super();
    this.size = first.size + second.size;
  }

  get(index: number): Value {
    const { first } = this;
    return index < first.size ? first.get(index) : this.second.get(index - first.size);
  }
}

/** A map that an expression made. Numbers that are equal are the same key, of whatever type. */
export class ValueMap extends CelMap {
  private readonly entries = new Map<string, readonly [Value, Value]>();

  /** Adds an entry; false where the key is there already, or can't be one. */
  add(key: Value, value: Value): boolean {
    const text = keyText(key);
    if (text === undefined || this.entries.has(text)) return false;
    this.entries.set(text, [key, value]);
    return true;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: Value): Value | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.entries.get(text)?.[1];
  }

  keys(): readonly Value[] {
    return [...this.entries.values()].map(([key]) => key);
  }
}

/** Text that equal keys share. */
function keyText(key: Value): string | undefined {
  switch (typeof key) {
    case "string":
      return `s${key}`;
    case "boolean":
      return key ? "true" : "false";
    case "bigint":
      return `n${key}`;
    case "number":
      return Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
    default:
      return key instanceof Uint ? `n${key.value}` : undefined;
  }
}

/** Whether a value may be the key of a map that an expression makes. */
export function isKey(value: Value): boolean {
  return typeof value !== "number" && keyText(value) !== undefined;
}
