import type { JsonObject } from "../../base/json/value.ts";
import type { CelType, ListIdentity, ObjectType, OpaqueType } from "../types/types.ts";

/**
 * A value during evaluation: `int` is `bigint`, `double` is `number`. A fault is a value and isn't thrown, so that
 * `false && fault` is false.
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
  | OpaqueValue
  | Optional
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
    /** Offset of the time zone from UTC in minutes; only used for formatting. */
    readonly offset = 0,
  ) {}
}

/** A duration. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** A value of an opaque type, which has functions but no fields. */
export abstract class OpaqueValue {
  abstract readonly type: OpaqueType;
  /** Size for the cost of functions. */
  get size(): number {
    return 1;
  }
  /** Meter steps for a comparison with another value. */
  get stepsToCompare(): number {
    return 1;
  }
  /** @param other a value of the same type. */
  abstract equals(other: OpaqueValue): boolean;
}

/** A value that may be absent. */
export class Optional {
  static readonly none = new Optional(undefined);
  constructor(readonly value: Value | undefined) {}
}

/** A type as a value. */
export class TypeValue {
  constructor(readonly type: CelType) {}
}

/** The components of a URL as in Go's `net/url`. */
export interface UrlParts {
  /** In lower case. */
  readonly scheme: string;
  /** With brackets and port, percent-decoded. */
  readonly host: string;
  /** Not percent-decoded. */
  readonly path: string;
  /** Not percent-decoded. */
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

/** A list. Items may be created on access. */
export abstract class CelList {
  abstract readonly size: number;
  /** See {@link ListIdentity}. Equality and `+` use that of the left operand. */
  readonly identity?: ListIdentity | undefined;
  /** @param index from 0 to `size - 1`. */
  abstract get(index: number): Value;
}

/** A map. */
export abstract class CelMap {
  abstract readonly size: number;
  /** Returns the value of a key; undefined if it is absent or invalid. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): readonly Value[];

  has(key: Value): boolean {
    return this.get(key) !== undefined;
  }

  /**
   * Returns the value of a selection `map.name`.
   *
   * @param _plain the unescaped name, if the name is escaped.
   */
  select(name: string, _plain?: string): Value | undefined {
    return this.get(name);
  }
}

/** An object of a declared type. As in Kubernetes, dynamic access treats it as a map of the fields that are set. */
export abstract class CelObject extends CelMap {
  abstract readonly type: ObjectType;
  /** All JSON members, including undeclared ones. */
  abstract readonly members: JsonObject;
}

export const noOverload = new Fault("no such overload");
const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** Returns the result of integer arithmetic; a fault on overflow of 64 bits. */
export function checkedInt(value: bigint): Value {
  return value > maxInt || value < minInt ? new Fault("integer overflow") : value;
}

/** As {@link checkedInt}, for unsigned integers. */
export function checkedUint(value: bigint): Value {
  return value > maxUint || value < 0n ? new Fault("unsigned integer overflow") : new Uint(value);
}

/** Returns the number of characters (code points) of a string. */
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
