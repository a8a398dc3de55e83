import { declareFunction, traversal, type CelFunction } from "../functions/function-table.ts";
import type { Language } from "../libraries.ts";
import { dyn, listOf, objectType, string, type CelType, type ObjectField, type ObjectType } from "./types.ts";
import { noOverload } from "../values/values.ts";

/** Fields of any name, whose values are dynamic. */
class AnyFields extends Map<string, ObjectField> {
  override get(jsonName: string): ObjectField {
    return { type: dyn, jsonName };
  }

  override has(): boolean {
    return true;
  }
}

const anyFields: ReadonlyMap<string, ObjectField> = new AnyFields();

const patchFields: Readonly<Record<string, CelType>> = { op: string, path: string, from: string, value: dyn };

/** The result of an expression that yields an apply configuration; the types of its parts have names such as `Object.spec`. */
export const configurationType: ObjectType = objectType("Object", () => anyFields);

const patchType: ObjectType = objectType(
  "JSONPatch",
  () => new Map(Object.entries(patchFields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
);

/** The result of an expression that yields a JSON patch. */
export const patchListType = listOf(patchType);

/** Returns the types that expressions of mutations can construct: `JSONPatch`, `Object` and the types of its parts. */
export function patchTypeOf(name: string): ObjectType | undefined {
  if (name === patchType.name) return patchType;
  if (name === configurationType.name) return configurationType;
  return name.startsWith("Object.") ? objectType(name, () => anyFields) : undefined;
}

const escapeKey: CelFunction = declareFunction(
  ["(string) -> string"],
  ([key], meter) => {
    if (typeof key !== "string") return noOverload;
    meter.work(key.length);
    return key.replaceAll("~", "~0").replaceAll("/", "~1");
  },
  { cost: traversal },
);

/** Returns a language with the functions of mutations: `jsonpatch.escapeKey`. */
export function withPatchFunctions({ functions, features }: Language): Language {
  return { functions: new Map(functions).set("jsonpatch.escapeKey", escapeKey), features };
}
