import type { Field, UnionForm, UnionType } from "./types.ts";

/** Returns the union form of a JSON value; undefined if no union has such a form. */
export function unionForm(value: unknown): UnionForm | undefined {
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? "list" : "object";
}

/** Returns the field of a union for a value; undefined if the union doesn't have the form. */
export function formOf(type: UnionType, value: unknown): Field | undefined {
  const form = unionForm(value);
  return form === undefined ? undefined : type.forms[form];
}
