import { getMember, type JsonObject, type JsonValue } from "../base/json/value.ts";
import { parseDurationFormat } from "../schema/custom/duration-format.ts";
import { dayOf, timestampOf } from "./times.ts";
import { dyn, listOf, type CelType, type ListIdentity, type ListType, type ObjectType } from "./types.ts";
import { CelList, CelMap, CelObject, Duration, Fault, type Value } from "./values.ts";

/** The value that a JSON value of a declared type is to an expression. */
export function valueOfJson(json: JsonValue, type: CelType): Value {
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
        timestampOf(text) ??
        dayOf(text) ??
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

/** A list in an object. Items that are more than a number or a text are made once, at the first access. */
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

/** A map in an object. Its values are made once, as the items of lists. */
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
    const found = getMember(this.members, key);
    if (found === undefined) return undefined;
    const value = valueOfJson(found, this.value);
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

/** An object of which no fields are known. */
class UntypedMap extends JsonMap {
  /** A name that is no member is taken for the escaped form of one. */
  override select(name: string, plain?: string): Value | undefined {
    const found = this.get(name);
    return found === undefined && plain !== undefined ? this.get(plain) : found;
  }
}

/** An object of a declared type. A field that is null counts as one that isn't set. Its values are made once. */
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
    const found = field === undefined ? undefined : getMember(this.members, field.jsonName);
    if (found === undefined || found === null || field === undefined) return undefined;
    const value = valueOfJson(found, field.type);
    if (isWorthCaching(value)) this.values.set(name, value);
    return value;
  }
}

/** Whether making a value takes more than reading it; texts and numbers are not worth the memory. */
function isWorthCaching(value: Value): boolean {
  return typeof value === "object" && value !== null;
}
