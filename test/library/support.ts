/** A definition of the namespaced kind `Thing`, with a text `spec.size`. */
export function definitionOfThings() {
  const properties = { spec: { type: "object", properties: { size: { type: "string" } } } };
  return {
    apiVersion: "apiextensions.platform.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties } },
        },
      ],
    },
  };
}

/** An object of {@link definitionOfThings} in the namespace `shop`. */
export function thing(name: string, size = "medium") {
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name, namespace: "shop" },
    spec: { size },
  };
}
