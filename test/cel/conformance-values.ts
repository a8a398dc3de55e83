import { ValueList, ValueMap } from "../../src/cel/values/collections.ts";
import { parseCelDuration, parseTimestamp } from "../../src/cel/values/times.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  namedTypes,
  nullType,
  string,
  timestamp,
  typeOf,
  uint,
  type CelType,
} from "../../src/cel/types/types.ts";
import { TypeValue, Uint, type Value } from "../../src/cel/values/values.ts";

/** A value of the suite that this implementation doesn't have, such as a protobuf message. */
class UnsupportedValue extends Error {}

export type Json = Readonly<Record<string, unknown>>;

/** Converts a `cel.expr.Value` of the suite from its JSON form. */
export function valueOf(json: Json): Value {
  const [kind, given] = Object.entries(json)[0]!;
  const text = given as string;
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return given as Value;
    case "int64Value":
      return BigInt(text);
    case "uint64Value":
      return new Uint(BigInt(text));
    case "doubleValue":
      return Number(text);
    case "bytesValue":
      return Buffer.from(text, "base64");
    case "typeValue":
      return new TypeValue(named(text));
    case "listValue":
      return new ValueList(((given as Json)["values"] as Json[] | undefined)?.map(valueOf) ?? []);
    case "mapValue":
      return mapValue((given as Json)["entries"] as { key: Json; value: Json }[] | undefined);
    case "objectValue":
      return message(given as Json);
    default:
      throw new UnsupportedValue(kind);
  }
}

function mapValue(entries: readonly { key: Json; value: Json }[] = []): Value {
  const map = new ValueMap();
  for (const { key, value } of entries) map.set(valueOf(key), valueOf(value));
  return map;
}

function message(json: Json): Value {
  const value = json["value"];
  switch (json["@type"]) {
    case "type.googleapis.com/google.protobuf.Timestamp":
      return parseTimestamp(value as string)!;
    case "type.googleapis.com/google.protobuf.Duration":
      return parseCelDuration(value as string)!;
    default:
      throw new UnsupportedValue(String(json["@type"]));
  }
}

function named(name: string): CelType {
  const found = namedTypes.get(name);
  if (found === undefined) throw new UnsupportedValue(`type ${name}`);
  return found;
}

const primitives: Readonly<Record<string, CelType>> = {
  BOOL: bool,
  INT64: int,
  UINT64: uint,
  DOUBLE: double,
  STRING: string,
  BYTES: bytes,
};

/** The type that a `cel.expr.Type` of the suite says, in its JSON form. */
export function typeNamed(json: Json): CelType {
  const [kind, given] = Object.entries(json)[0]!;
  switch (kind) {
    case "dyn":
      return dyn;
    case "null":
      return nullType;
    case "primitive":
      return primitives[given as string]!;
    case "wellKnown":
      if (given === "TIMESTAMP") return timestamp;
      if (given === "DURATION") return duration;
      throw new UnsupportedValue(String(given));
    case "listType":
      return listOf(typeNamed((given as { elemType: Json }).elemType));
    case "mapType": {
      const { keyType, valueType } = given as { keyType: Json; valueType: Json };
      return mapOf(typeNamed(keyType), typeNamed(valueType));
    }
    case "type":
      return typeOf(typeNamed(given as Json));
    default:
      throw new UnsupportedValue(kind);
  }
}
