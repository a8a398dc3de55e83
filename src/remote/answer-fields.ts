/** Returns the own fields of an object in the response of an external service; undefined if it isn't an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as object, value) as Record<string, unknown>;
}
