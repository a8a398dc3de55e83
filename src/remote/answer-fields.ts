/** The fields of an object in the answer of a service of others, and nothing that every object has; undefined for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as object, value) as Record<string, unknown>;
}
