import type { Field, UnionForm, UnionType } from "./types.ts";

/** The form that a JSON value has, or undefined for one that no union knows. */
export function unionForm(value: unknown): UnionForm | undefined {
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? "list" : "object";
}

/** The field of a union that a value belongs to, or undefined where the union has none for it. */
export function formOf(type: UnionType, value: unknown): Field | undefined {
  const form = unionForm(value);
  return form === undefined ? undefined : type.forms[form];
}
