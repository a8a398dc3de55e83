import { isMap, parseDocument } from "yaml";
import { isRecord } from "./paths.ts";
import { textOf, type FieldType } from "./schema.ts";

/** Longer lists and maps are edited as YAML. */
const maxItems = 100;

/** Whether a form can edit a value with the type that the schema has; otherwise it is edited as YAML. */
export function fits({ kind }: FieldType, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (kind) {
    case "text":
    case "choice":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
    case "number":
      return typeof value === "number";
    case "integer-or-text":
    case "quantity":
      return typeof value === "string" || typeof value === "number";
    case "list":
      return (
        Array.isArray(value) &&
        value.length <= maxItems &&
        value.every(
          (one) => typeof one === "number" || (typeof one === "string" && one !== "" && !one.includes("\n")),
        )
      );
    case "map":
      return (
        isRecord(value) &&
        Object.keys(value).length <= maxItems &&
        Object.values(value).every((one) => typeof one === "string" || typeof one === "number")
      );
    case "section":
      return isRecord(value);
    case "yaml":
      return true;
  }
}

/** The value of a text in a form, or why it has none. An undefined value removes the field. */
export type Parsed = { readonly value: unknown } | { readonly error: string };

/** Returns the value of the text of a field; a list has one item in each line. */
export function parseText(type: FieldType, text: string): Parsed {
  if (type.kind === "list") return parseList(type.item, text);
  if (text === "") return { value: undefined };
  switch (type.kind) {
    case "integer":
    case "number":
      return parseNumber(type.kind, text);
    case "integer-or-text":
      return /^-?\d+$/.test(text) ? parseNumber("integer", text) : { value: text };
    case "boolean":
      return { value: text === "true" };
    default:
      return { value: text };
  }
}

function parseList(item: "text" | "integer" | "number", text: string): Parsed {
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length === 0) return { value: undefined };
  if (item === "text") return { value: lines };
  const values: unknown[] = [];
  for (const line of lines) {
    const one = parseNumber(item, line);
    if ("error" in one) return one;
    values.push(one.value);
  }
  return { value: values };
}

function parseNumber(kind: "integer" | "number", text: string): Parsed {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return { error: `${text} is not a number` };
  if (kind === "number") return { value };
  if (!Number.isInteger(value)) return { error: `${text} is not an integer` };
  return Number.isSafeInteger(value) ? { value } : { error: `${text} is too large for the form` };
}

/** Returns the text of a field's value, as {@link parseText} reads it. */
export function fieldText(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join("\n") : textOf(value);
}

/** Returns the object of a YAML text; undefined if it has an error, or expands to too many values by aliases. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    const value: unknown = document.toJS();
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/**
 * Sets a field in the YAML of an object, or removes it if the value is undefined. Objects that become empty are removed too. Comments and
 * the form of other fields stay.
 */
export function withField(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  const parents = path.slice(0, -1).map((_name, at) => path.slice(0, at + 1));
  if (value === undefined) {
    if (parents.every((parent) => isMap(document.getIn(parent)))) document.deleteIn(path);
    for (const parent of parents.toReversed()) {
      const node = document.getIn(parent);
      if (isMap(node) && node.items.length === 0) document.deleteIn(parent);
    }
  } else {
    for (const parent of parents) {
      if (!isMap(document.getIn(parent))) document.setIn(parent, document.createNode({}));
    }
    document.setIn(path, document.createNode(value));
  }
  return document.toString({ lineWidth: 0 });
}
