import { getMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { parseDurationFormat } from "../../schema/custom/duration-format.ts";
import { parseDate, parseTimestamp } from "./times.ts";
import {
  dyn,
  listOf,
  type CelType,
  type ListIdentity,
  type ListType,
  type ObjectType,
} from "../types/types.ts";
import { CelList, CelMap, CelObject, Duration, Fault, Optional, type Value } from "./values.ts";

/** Converts a JSON value of a declared type to a CEL value. */
export function valueOfJson(json: JsonValue, type: CelType): Value {
  if (type.is === "optional") return json === null ? Optional.none : new Optional(valueOfJson(json, type.of));
  switch (typeof json) {
    case "string":
      return valueOfText(json, type);
    case "boolean":
      return json;
    case "number":
      if (type.is === "double" || !Number.isInteger(json)) return json;
      return BigInt(json);
    case "bigint":
      return type.is === "double" || BigInt.asIntN(64, json) !== json ? Number(json) : json;
    default:
      if (json === null) return null;
      if (Array.isArray(json)) return new JsonList(json, type.is === "list" ? type : untypedList);
      return valueOfMembers(json, type);
  }
}

function valueOfMembers(json: JsonObject, type: CelType): Value {
  if (type.is === "object") return new JsonObjectValue(json, type);
  return type.is === "map" ? new JsonMap(json, type.value) : new UntypedMap(json, dyn);
}

function valueOfText(text: string, { is }: CelType): Value {
  switch (is) {
    case "bytes":
      return Buffer.from(text, "base64");
    case "timestamp":
      return (
        parseTimestamp(text) ??
        parseDate(text) ??
        new Fault(`invalid timestamp ${JSON.stringify(text.slice(0, 64))}`)
      );
    case "duration":
      return durationValue(text);
    default:
      return text;
  }
}

function durationValue(text: string): Value {
  const nanos = parseDurationFormat(text);
  return nanos === undefined
    ? new Fault(`invalid duration ${JSON.stringify(text.slice(0, 64))}`)
    : new Duration(nanos);
}

const untypedList = listOf(dyn);

/** A list of JSON values. Items other than numbers and strings are converted once, at the first access. */
class JsonList extends CelList {
  private readonly element: CelType;
  private readonly values: Value[] = [];
  override readonly identity: ListIdentity | undefined;

  constructor(
    private readonly items: readonly JsonValue[],
    { element, identity }: ListType,
  ) {
    super();
    this.element = element;
    this.identity = identity;
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    const cached = this.values[index];
    if (cached !== undefined) return cached;
    const value = valueOfJson(this.items[index]!, this.element);
    if (isWorthCaching(value)) this.values[index] = value;
    return value;
  }
}

/** A map of JSON values. Values are converted once, as the items of lists. */
class JsonMap extends CelMap {
  private names: readonly string[] | undefined;
  private readonly values = new Map<string, Value>();

  constructor(
    private readonly members: JsonObject,
    private readonly value: CelType,
  ) {
    super();
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const cached = this.values.get(key);
    if (cached !== undefined) return cached;
    const member = getMember(this.members, key);
    if (member === undefined) return undefined;
    const value = valueOfJson(member, this.value);
    if (isWorthCaching(value)) this.values.set(key, value);
    return value;
  }

  override has(key: Value): boolean {
    return typeof key === "string" && getMember(this.members, key) !== undefined;
  }

  keys(): readonly string[] {
    return (this.names ??= Object.keys(this.members).filter((name) => this.members[name] !== undefined));
  }
}

/** An object without declared fields. */
class UntypedMap extends JsonMap {
  /** If there is no such member, the name is treated as escaped. */
  override select(name: string, plain?: string): Value | undefined {
    const value = this.get(name);
    return value === undefined && plain !== undefined ? this.get(plain) : value;
  }
}

/** An object of a declared type. A null field counts as not set. Values are converted once. */
class JsonObjectValue extends CelObject {
  private readonly values = new Map<string, Value>();
  private names: readonly string[] | undefined;
  private count: number | undefined;

  constructor(
    readonly members: JsonObject,
    readonly type: ObjectType,
  ) {
    super();
  }

  get size(): number {
    return (this.count ??= Object.keys(this.members).length);
  }

  keys(): readonly string[] {
    return (this.names ??= [...this.type.fields.keys()].filter((name) => this.get(name) !== undefined));
  }

  get(name: Value): Value | undefined {
    if (typeof name !== "string") return undefined;
    const cached = this.values.get(name);
    if (cached !== undefined) return cached;
    const field = this.type.fields.get(name);
    const member = field === undefined ? undefined : getMember(this.members, field.jsonName);
    if (member === undefined || member === null || field === undefined) return undefined;
    const value = valueOfJson(member, field.type);
    if (isWorthCaching(value)) this.values.set(name, value);
    return value;
  }
}

/** Whether a converted value is cached; strings and numbers are not worth the memory. */
function isWorthCaching(value: Value): boolean {
  return typeof value === "object" && value !== null;
}
