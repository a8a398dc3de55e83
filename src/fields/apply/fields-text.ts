import { encodeString } from "../../base/json/encode.ts";
import { fieldElement, fieldJson, inOrder, valueElement, type FieldSet } from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import type { Shape } from "./shape.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The text of the set of all fields of an object but the ignored ones, for who creates it: what `fieldSetText` makes of what
 * `readSet` reads (leniently), in one walk and without the set.
 */
export function textOfFields(value: unknown, shape: Shape, ignored: FieldSet): string {
  return `{${parts(value, shape, ignored) ?? ""}}`;
}

/** The texts of the parts of a value, `""` when all of them are ignored; undefined for what is owned as one. */
function parts(value: unknown, shape: Shape, ignored: FieldSet): string | undefined {
  switch (shape.kind) {
    case "leaf":
      return undefined;
    case "deduced":
      return isObject(value) ? members(value, () => shape, ignored) : undefined;
    case "struct":
      return isObject(value) ? members(value, shape.member, ignored) : undefined;
    case "map":
      return isObject(value) ? members(value, () => shape.element, ignored) : undefined;
    case "set":
      return Array.isArray(value) ? valuesOf(value, ignored) : undefined;
    case "items":
      return Array.isArray(value) ? items(value, shape, ignored) : undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function members(
  value: JsonObject,
  shapeOf: (name: string) => Shape | undefined,
  ignored: FieldSet,
): string | undefined {
  let text = "";
  let some = false;
  for (const name of inOrder(Object.keys(value))) {
    const member = value[name];
    if (member === undefined || member === null) continue;
    const shape = shapeOf(name);
    if (shape === undefined) continue;
    some = true;
    const below = ignored.isEmpty ? ignored : ignored.below(fieldElement(name));
    if (below.isMember) continue;
    const own = parts(member, shape, below);
    // An object is there because of what is in it; one of which all is ignored is nobody's.
    if (own === "") continue;
    text += `${text === "" ? "" : ","}${fieldJson(name)}:{${own ?? ""}}`;
  }
  return some ? text : undefined;
}

function valuesOf(values: readonly unknown[], ignored: FieldSet): string | undefined {
  if (values.length === 0) return undefined;
  const elements = inOrder([...new Set(values.map(valueElement))]);
  const kept = elements.filter((element) => !ignored.below(element).isMember);
  return kept.map((element) => `${encodeString(element)}:{}`).join(",");
}

function items(
  list: readonly unknown[],
  shape: Shape & { kind: "items" },
  ignored: FieldSet,
): string | undefined {
  const byElement = new Map<string, unknown>();
  for (const item of list) {
    const element = elementOfItem(item, shape, "lenient");
    if (element !== undefined && !byElement.has(element)) byElement.set(element, item);
  }
  if (byElement.size === 0) return undefined;
  let text = "";
  for (const element of inOrder([...byElement.keys()])) {
    const below = ignored.isEmpty ? ignored : ignored.below(element);
    if (below.isMember) continue;
    const own = parts(byElement.get(element), shape.element, below) ?? "";
    // An item is owned itself, beside what is in it.
    text += `${text === "" ? "" : ","}${encodeString(element)}:{${own === "" ? "" : `".":{},${own}`}}`;
  }
  return text;
}
