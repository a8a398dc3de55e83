import { OptionsError } from "./options-error.ts";

/** What an option of the library takes. */
export interface OptionShape {
  /** Completes "it is not …". */
  readonly takes: string;
  readonly accepts: (value: unknown) => boolean;
  /** The flag of the program that sets the same; messages about it name the option instead. */
  readonly flag?: string | undefined;
  /** Whether it can't be left out. */
  readonly required?: boolean;
  /** The options of a group, which may depend on a value among them. */
  readonly members?: (value: Group) => OptionShapes;
  /** Every option that a group may have. */
  readonly all?: OptionShapes;
  /** Whether there may be members beside those named. */
  readonly open?: boolean;
  /** The same, where it depends on the value. */
  readonly isOpen?: (value: Group) => boolean;
  /** What each item of a list takes. */
  readonly items?: OptionShape;
}

type Group = Readonly<Record<string, unknown>>;
/** The options of a group by their names. */
export type OptionShapes = Readonly<Record<string, OptionShape>>;

const isText = (value: unknown) => typeof value === "string";
const isGroup = (value: unknown): value is Group =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any text. */
export const text = (flag?: string): OptionShape => ({ takes: "a text", accepts: isText, flag });

/** A list of texts. */
export const texts = (flag?: string): OptionShape => ({
  takes: "a list of texts",
  accepts: (value) => Array.isArray(value) && value.every(isText),
  flag,
});

/** True or false. */
export const truth = (flag?: string): OptionShape => ({
  takes: "true or false",
  accepts: (value) => typeof value === "boolean",
  flag,
});

/** An integer within bounds, both included. */
export const integer = (min: number, max: number, flag?: string): OptionShape => ({
  takes: `an integer from ${min} to ${max}`,
  accepts: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
  flag,
});

/** A length of time. */
export const milliseconds = (flag?: string): OptionShape => ({
  takes: "a number of milliseconds, 0 or more",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  flag,
});

/** A number above 0. */
export const rate = (flag?: string): OptionShape => ({
  takes: "a number above 0",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  flag,
});

/** One of some values. */
export const oneOf = (values: readonly string[], flag?: string): OptionShape => ({
  takes: `one of ${values.join(", ")}`,
  accepts: (value) => values.includes(value as string),
  flag,
});

/** An object that does something. */
export const methods = (...names: readonly string[]): OptionShape => ({
  takes: `an object with the methods ${names.join(", ")}`,
  accepts: (value) => isGroup(value) && names.every((name) => typeof value[name] === "function"),
});

/** A function, or a method. */
export const call: OptionShape = { takes: "a function", accepts: (value) => typeof value === "function" };

/** An object with at least these members. */
export const contract = (members: OptionShapes): OptionShape => ({
  takes: `an object with ${Object.keys(members).join(", ")}`,
  accepts: isGroup,
  members: () => members,
  open: true,
});

/** A list of such values. */
export const listOf = (items: OptionShape): OptionShape => ({
  takes: "a list",
  accepts: Array.isArray,
  items,
});

/** One of two, told apart by `isOther`. */
export const either = (
  shape: OptionShape,
  other: OptionShape,
  isOther: (value: Group) => boolean,
): OptionShape => ({
  ...shape,
  members: (value) => (isOther(value) ? other.members : shape.members)?.(value) ?? {},
  isOpen: (value) => (isOther(value) ? other.open : shape.open) ?? false,
});

/** Further options in an object of their own. */
export const group = (members: OptionShapes, flag?: string): OptionShape => ({
  takes: "an object of options",
  accepts: isGroup,
  members: () => members,
  all: members,
  flag,
});

/** Further options, of which one says which others there are. */
export function variants(
  by: string,
  kinds: Readonly<Record<string, OptionShapes>>,
  flag?: string,
): OptionShape {
  const choice = needed(oneOf(Object.keys(kinds)));
  return {
    takes: "an object of options",
    accepts: isGroup,
    members: (value) => ({ [by]: choice, ...kinds[String(value[by])] }),
    all: Object.assign({}, ...Object.values(kinds)) as OptionShapes,
    flag,
  };
}

/** The same, but it can't be left out. */
export const needed = (shape: OptionShape): OptionShape => ({ ...shape, required: true });

/**
 * Checks options by their shapes. Options that are undefined are not given.
 *
 * @throws {OptionsError} which names the option as the library does, such as `storage.engine`.
 */
export function checkShape(value: unknown, shape: OptionShape, name: string): void {
  if (value === undefined) {
    if (shape.required) throw new OptionsError(`${name}: is needed, and must be ${shape.takes}`);
    return;
  }
  if (!shape.accepts(value)) throw new OptionsError(`${name}: ${shown(value)} is not ${shape.takes}`);
  for (const [index, item] of shape.items === undefined ? [] : (value as unknown[]).entries())
    checkShape(item, needed(shape.items!), `${name}[${index}]`);
  if (shape.members === undefined) return;
  const open = shape.isOpen?.(value as Group) ?? shape.open ?? false;
  checkMembers(value as Group, shape.members(value as Group), name, open);
}

function checkMembers(value: Group, members: OptionShapes, name: string, open: boolean): void {
  const within = (key: string) => (name === "options" ? key : `${name}.${key}`);
  for (const [key, shape] of Object.entries(members)) checkShape(value[key], shape, within(key));
  for (const key of open ? [] : Object.keys(value)) {
    if (Object.hasOwn(members, key)) continue;
    const known = Object.keys(members).join(", ");
    throw new OptionsError(`${within(key)}: there is no such option; there are ${known}`);
  }
}

/** The option for each flag, as {@link checkShape} names it. */
export function namesByFlag(shapes: OptionShapes, within = ""): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [key, { flag, all }] of Object.entries(shapes)) {
    if (flag !== undefined) names.set(`--${flag}`, within + key);
    if (all === undefined) continue;
    for (const [inner, name] of namesByFlag(all, `${within}${key}.`)) names.set(inner, name);
  }
  return names;
}

/** A value as a message shows it. */
function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cyclic values, and values with members that JSON hasn't.
    return Array.isArray(value) ? "a list" : "an object";
  }
}
