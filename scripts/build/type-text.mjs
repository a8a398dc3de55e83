/**
 * Prints a type of the kind declarations (`src/schema/types.ts`) as TypeScript.
 *
 * @param {object} type the declared type
 * @param {{ scalar: (name: string) => string, struct: (type: object) => string }} names how scalars and structs are called
 * @returns {string}
 */
export function typeText(type, names) {
  switch (type.shape) {
    case "scalar":
      return names.scalar(type.name);
    case "list": {
      const element = typeText(type.element, names);
      return element.includes(" | ") ? `(${element})[]` : `${element}[]`;
    }
    case "map":
      return `Record<string, ${typeText(type.value, names)}>`;
    case "union":
      return Object.values(type.forms)
        .map((form) => typeText(form.type, names))
        .join(" | ");
    default:
      return names.struct(type);
  }
}
