import type { JsonObject } from "../base/json/value.ts";
import type { CelType, ListIdentity, ObjectType } from "./types.ts";

/**
 * A value while an expression is evaluated: `int` is `bigint`, `double` is `number`, the others as their names say. A value
 * that is a fault is passed on like any other, so that `false && fault` is false; nothing is thrown for it.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | Url
  | TypeValue
  | CelList
  | CelMap
  | CelObject
  | Fault;

/** A fault of an evaluation, such as a missing key. */
export class Fault {
  constructor(readonly message: string) {}
}

export class Uint {
  constructor(readonly value: bigint) {}
}

/** A time. */
export class Timestamp {
  constructor(
    /** Nanoseconds since 1970. */
    readonly nanos: bigint,
    /** Minutes that the zone in which the time is written is ahead of UTC; counts for its text only. */
    readonly offset = 0,
  ) {}
}

/** A length of time. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** A type as a value. */
export class TypeValue {
  constructor(readonly type: CelType) {}
}

/** The parts that Go's `net/url` finds in a URL. */
export interface UrlParts {
  /** In lower case. */
  readonly scheme: string;
  /** With brackets and port, its escapes decoded. */
  readonly host: string;
  /** As it is written. */
  readonly path: string;
  /** As it is written. */
  readonly query: string;
}

/** A URL. */
export class Url implements UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(
    readonly text: string,
    { scheme, host, path, query }: UrlParts,
  ) {
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }
}

/** A list. Items are made when they are asked for. */
export abstract class CelList {
  abstract readonly size: number;
  /** See {@link ListIdentity}. Equality and `+` go by that of the list on the left. */
  readonly identity?: ListIdentity | undefined;
  /** @param index from 0 up to, not including, the size. */
  abstract get(index: number): Value;
}

/** A map. */
export abstract class CelMap {
  abstract readonly size: number;
  /** The value of a key; undefined for one that isn't there, or can't be a key. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): readonly Value[];

  has(key: Value): boolean {
    return this.get(key) !== undefined;
  }

  /**
   * The value under a name as it stands in `map.name`.
   *
   * @param _plain the key that the name is the escaped form of, if it is one.
   */
  select(name: string, _plain?: string): Value | undefined {
    return this.get(name);
  }
}

/** An object of a declared type. To what doesn't know the type it is a map of the fields that are set, as in the reference. */
export abstract class CelObject extends CelMap {
  abstract readonly type: ObjectType;
  /** All members, those that the type doesn't have too. */
  abstract readonly members: JsonObject;
}

export const noOverload = new Fault("no such overload");
const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** A result of integer arithmetic; a fault when 64 bits don't hold it. */
export function checkedInt(value: bigint): Value {
  return value > maxInt || value < minInt ? new Fault("integer overflow") : value;
}

/** As {@link checkedInt}, for unsigned integers. */
export function checkedUint(value: bigint): Value {
  return value > maxUint || value < 0n ? new Fault("unsigned integer overflow") : new Uint(value);
}

/** The number of characters (code points) of a text. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    count--;
    at++;
  }
  return count;
}
