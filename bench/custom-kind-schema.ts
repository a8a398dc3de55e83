const longestText = 4096;

/**
 * Returns a structural schema for an example. Lists whose items all have a name are maps by name, as in workloads.
 *
 * @param prefix of schema extensions: `x-kubernetes-`.
 */
export function customKindSchema(example: unknown, prefix: string): object {
  if (example === null) return { type: "string", nullable: true };
  if (Array.isArray(example)) return listSchema(example, prefix);
  switch (typeof example) {
    case "object":
      return objectSchema(example as object, prefix);
    case "number":
      return { type: "integer", format: "int64", minimum: 0 };
    case "boolean":
      return { type: "boolean" };
    default:
      return { type: "string", maxLength: longestText };
  }
}

function listSchema(example: readonly unknown[], prefix: string): object {
  const isNamed = example.every((item) => typeof item === "object" && Object.hasOwn(item as object, "name"));
  // An item with the members of all items.
  const items = isNamed
    ? { ...customKindSchema(Object.assign({}, ...example), prefix), required: ["name"] }
    : customKindSchema(example[0] ?? "", prefix);
  const extensions = isNamed
    ? { [`${prefix}list-type`]: "map", [`${prefix}list-map-keys`]: ["name"] }
    : { [`${prefix}list-type`]: "atomic" };
  return { type: "array", items, ...extensions };
}

function objectSchema(example: object, prefix: string): object {
  const members = Object.entries(example).map(([name, value]) => [name, customKindSchema(value, prefix)]);
  return { type: "object", properties: Object.fromEntries(members) as object };
}
