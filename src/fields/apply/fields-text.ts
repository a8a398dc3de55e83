import { encodeString } from "../../base/json/encode.ts";
import { fieldElement, sortTexts, valueElement, type FieldSet } from "./field-set.ts";
import { elementOfItem, nullHandlingOf, type Strictness } from "./parts.ts";
import { memberShape, openingOf, type ParentShape, type Shape } from "./shape.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns the text of the set of all fields of an object except the ignored ones: as `fieldSetText` of `readSet`, but in one walk
 * and without creating the set.
 *
 * @returns undefined if `strictness` is strict and a list has items with missing or equal keys; `readSet` reports the error.
 */
export function textOfFields(value: unknown, shape: Shape, ignored: FieldSet): string;
export function textOfFields(
  value: unknown,
  shape: Shape,
  ignored: FieldSet,
  strictness: Strictness,
): string | undefined;
export function textOfFields(
  value: unknown,
  shape: Shape,
  ignored: FieldSet,
  strictness: Strictness = "lenient",
): string | undefined {
  const writer = new Writer(strictness);
  const text = `{${writer.parts(value, shape, ignored) ?? ""}}`;
  return writer.hasInvalidList ? undefined : text;
}

class Writer {
  /** Whether a list has items with missing or equal keys; only if strict. */
  hasInvalidList = false;

  constructor(private readonly strictness: Strictness) {}

  /** Returns the texts of the parts of a value, `""` if all of them are ignored; undefined for an atomic or empty value. */
  parts(value: unknown, shape: Shape, ignored: FieldSet): string | undefined {
    switch (shape.kind) {
      case "leaf":
        return undefined;
      case "deduced":
      case "struct":
      case "map":
        return isObject(value) ? this.members(value, shape, ignored) : undefined;
      case "set":
        return Array.isArray(value) ? this.values(value, ignored) : undefined;
      case "items":
        return Array.isArray(value) ? this.items(value, shape, ignored) : undefined;
    }
  }

  private members(value: JsonObject, parent: ParentShape, ignored: FieldSet): string | undefined {
    const isStruct = parent.kind === "struct";
    const opening = isStruct ? parent.opening : openingOf;
    const nulls = nullHandlingOf(this.strictness);
    let text = "";
    let hasParts = false;
    for (const name of sortTexts(Object.keys(value))) {
      const member = value[name];
      if (member === undefined || (member === null && nulls === "omit")) continue;
      const shape = memberShape(parent, name);
      if (shape === undefined) continue;
      hasParts = true;
      const below = ignored.isEmpty ? ignored : ignored.below(fieldElement(name));
      if (below.isMember) continue;
      const own = this.parts(member, shape, below);
      const declared = isStruct && parent.declares(name);
      // A declared object or list is owned only through its fields: if all of them are ignored, it has no owner.
      if (own === "" && declared) continue;
      const includesPath = own !== undefined && own !== "" && !declared;
      text += `${text === "" ? "" : ","}${opening(name)}${includesPath ? '".":{},' : ""}${own ?? ""}}`;
    }
    return hasParts ? text : undefined;
  }

  private values(values: readonly unknown[], ignored: FieldSet): string | undefined {
    if (values.length === 0) return undefined;
    const elements = [...new Set(values.map(valueElement))];
    if (elements.length < values.length) this.markInvalid();
    const owned = sortTexts(elements).filter((element) => !ignored.below(element).isMember);
    return owned.map((element) => `${encodeString(element)}:{}`).join(",");
  }

  private items(
    list: readonly unknown[],
    shape: Shape & { kind: "items" },
    ignored: FieldSet,
  ): string | undefined {
    const byElement = new Map<string, unknown>();
    for (const item of list) {
      const element = elementOfItem(item, shape, this.strictness);
      if (element === undefined || byElement.has(element)) this.markInvalid();
      else byElement.set(element, item);
    }
    if (byElement.size === 0) return undefined;
    let text = "";
    for (const element of sortTexts([...byElement.keys()])) {
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      if (below.isMember) continue;
      const own = this.parts(byElement.get(element), shape.element, below) ?? "";
      // The set of an item also has the path of the item itself.
      text += `${text === "" ? "" : ","}${encodeString(element)}:{${own === "" ? "" : `".":{},${own}`}}`;
    }
    return text;
  }

  private markInvalid(): void {
    if (this.strictness === "strict") this.hasInvalidList = true;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
