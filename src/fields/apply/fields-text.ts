import { encodeString } from "../../base/json/encode.ts";
import { fieldElement, inOrder, valueElement, type FieldSet } from "./field-set.ts";
import { elementOfItem, nullsOf, type Strictness } from "./parts.ts";
import type { Shape } from "./shape.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The text of the set of all fields of an object but the ignored ones: what `fieldSetText` makes of what `readSet` reads, in
 * one walk and without the set.
 *
 * @returns undefined strictly for lists that can't be taken apart; `readSet` tells why.
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
  return writer.failed ? undefined : text;
}

const isDeclaredNowhere = (): boolean => false;

class Writer {
  /** Whether a list was met that can't be taken apart strictly. */
  failed = false;

  constructor(private readonly strictness: Strictness) {}

  /** The texts of the parts of a value, `""` when all of them are ignored; undefined for what is owned as one. */
  parts(value: unknown, shape: Shape, ignored: FieldSet): string | undefined {
    switch (shape.kind) {
      case "leaf":
        return undefined;
      case "deduced":
        return isObject(value) ? this.members(value, () => shape, ignored, isDeclaredNowhere) : undefined;
      case "struct":
        return isObject(value) ? this.members(value, shape.member, ignored, shape.declares) : undefined;
      case "map":
        return isObject(value)
          ? this.members(value, () => shape.element, ignored, isDeclaredNowhere)
          : undefined;
      case "set":
        return Array.isArray(value) ? this.values(value, ignored) : undefined;
      case "items":
        return Array.isArray(value) ? this.items(value, shape, ignored) : undefined;
    }
  }

  private members(
    value: JsonObject,
    shapeOf: (name: string) => Shape | undefined,
    ignored: FieldSet,
    declares: (name: string) => boolean,
  ): string | undefined {
    const nulls = nullsOf(this.strictness);
    let text = "";
    let some = false;
    for (const name of inOrder(Object.keys(value))) {
      const member = value[name];
      if (member === undefined || (member === null && nulls === "left out")) continue;
      const shape = shapeOf(name);
      if (shape === undefined) continue;
      some = true;
      const element = fieldElement(name);
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      if (below.isMember) continue;
      const own = this.parts(member, shape, below);
      const declared = declares(name);
      // A declared object is owned through its members; when all of them are ignored it has no owner.
      if (own === "" && declared) continue;
      const isBeside = own !== undefined && own !== "" && !declared;
      text += `${text === "" ? "" : ","}${encodeString(element)}:{${isBeside ? '".":{},' : ""}${own ?? ""}}`;
    }
    return some ? text : undefined;
  }

  private values(values: readonly unknown[], ignored: FieldSet): string | undefined {
    if (values.length === 0) return undefined;
    const elements = [...new Set(values.map(valueElement))];
    if (elements.length < values.length) this.fail();
    const owned = inOrder(elements).filter((element) => !ignored.below(element).isMember);
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
      if (element === undefined || byElement.has(element)) this.fail();
      else byElement.set(element, item);
    }
    if (byElement.size === 0) return undefined;
    let text = "";
    for (const element of inOrder([...byElement.keys()])) {
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      if (below.isMember) continue;
      const own = this.parts(byElement.get(element), shape.element, below) ?? "";
      // An item is owned itself, beside what is in it.
      text += `${text === "" ? "" : ","}${encodeString(element)}:{${own === "" ? "" : `".":{},${own}`}}`;
    }
    return text;
  }

  private fail(): void {
    if (this.strictness === "strict") this.failed = true;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
