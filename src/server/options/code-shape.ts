import { OptionsError } from "./options-error.ts";
import { isObject, shown } from "./settings.ts";

/** The required form of an object of the embedding program, such as a plugin. */
export interface CodeShape {
  /** The required form; completes "… is not". */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  readonly required?: boolean;
  readonly members?: CodeShapes;
  /** The shape of each item of a list. */
  readonly items?: CodeShape;
}

/** Shapes by the name of the member. */
export type CodeShapes = Readonly<Record<string, CodeShape>>;

const isText = (value: unknown) => typeof value === "string";

export const text: CodeShape = { expected: "a text", accepts: isText };

export const texts: CodeShape = {
  expected: "a list of texts",
  accepts: (value) => Array.isArray(value) && value.every(isText),
};

export const boolean: CodeShape = {
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
};

/** A union of string literals. */
export const oneOf = (values: readonly string[]): CodeShape => ({
  expected: `one of ${values.join(", ")}`,
  accepts: (value) => values.includes(value as string),
});

/** An object with these methods. */
export const methods = (...names: readonly string[]): CodeShape => ({
  expected: `an object with the methods ${names.join(", ")}`,
  accepts: (value) => isObject(value) && names.every((name) => typeof value[name] === "function"),
});

/** A function or method. */
export const call: CodeShape = {
  expected: "a function",
  accepts: (value) => typeof value === "function",
};

/** An object with at least these members. */
export const contract = (members: CodeShapes): CodeShape => ({
  expected: `an object with ${Object.keys(members).join(", ")}`,
  accepts: isObject,
  members,
});

/** A list of such values. */
export const listOf = (items: CodeShape): CodeShape => ({
  expected: "a list",
  accepts: Array.isArray,
  items,
});

/** The same shape, but required. */
export const needed = (shape: CodeShape): CodeShape => ({ ...shape, required: true });

/**
 * Checks a value of the embedding program. Undefined means that it is not set.
 *
 * @throws {OptionsError} which names the option as the library does, such as `admissionPlugins[0].name`.
 */
export function checkShape(value: unknown, shape: CodeShape, name: string): void {
  if (value === undefined) {
    if (shape.required) throw new OptionsError(`${name}: is needed, and must be ${shape.expected}`);
    return;
  }
  if (!shape.accepts(value)) throw new OptionsError(`${name}: ${shown(value)} is not ${shape.expected}`);
  if (shape.items !== undefined) {
    for (const [index, item] of (value as unknown[]).entries())
      checkShape(item, needed(shape.items), `${name}[${index}]`);
  }
  for (const [key, member] of Object.entries(shape.members ?? {}))
    checkShape((value as Readonly<Record<string, unknown>>)[key], member, `${name}.${key}`);
}
