/** A schema or an object, in the names of the kubernetes vocabulary. */
export type Json = Readonly<Record<string, unknown>>;

/** A definition and objects of its kind, which this server and the reference validate. */
export interface ReferenceCase {
  readonly name: string;
  /** The schema of the objects. */
  readonly schema: Json;
  /** Created one by one; updates of `old` if there is one. */
  readonly objects: readonly Json[];
  readonly old?: Json;
}

/** A rule and values of the spec. */
export type Row = readonly [rule: string, ...specs: readonly unknown[]];

/** A rule that is too long for a title. */
export interface TitledRow {
  readonly title: string;
  readonly rule: string;
  readonly specs?: readonly unknown[];
}

export const string = { type: "string" };
export const integer = { type: "integer" };
export const number = { type: "number" };
export const boolean = { type: "boolean" };
export const list = (items: Json, more: Json = {}): Json => ({ type: "array", items, ...more });
export const map = (values: Json, more: Json = {}): Json => ({
  type: "object",
  additionalProperties: values,
  ...more,
});
export const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
/** An object with any members. */
export const preserving = { "x-kubernetes-preserve-unknown-fields": true };
export const date = { type: "string", format: "date" };
export const time = { type: "string", format: "date-time" };
export const span = { type: "string", format: "duration" };
/** Limited, so that rules aren't rejected for their estimated cost; lists and maps are limited for the same reason. */
export const text = { type: "string", maxLength: 40 };
export const few = { maxItems: 8 };
export const fewMembers = { maxProperties: 8 };
/** A list whose items are identified by these fields. */
export const listMapBy = (...keys: readonly string[]): Json => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});
export const withRule = (schema: Json, ...rules: readonly string[]): Json => ({
  ...schema,
  "x-kubernetes-validations": rules.map((rule) => ({ rule })),
});

const wholeSchema = (spec: Json): Json => object({ spec });
export const wholeObject = (spec: unknown): Json => ({
  apiVersion: "cel.example.com/v1",
  kind: "Case",
  metadata: { name: "one" },
  ...(spec === undefined ? {} : { spec }),
});

/** Cases of one schema of the spec, each with a rule at the spec. */
export function rulesOf(
  subject: string,
  spec: Json,
  rows: readonly (Row | TitledRow)[],
  old?: unknown,
): ReferenceCase[] {
  return rows.map((row) => {
    const {
      title,
      rule,
      specs = [],
    } = "title" in row ? row : { title: row[0], rule: row[0], specs: row.slice(1) };
    return {
      name: `${subject}: ${title}`,
      schema: wholeSchema(withRule(spec, rule)),
      objects: specs.map(wholeObject),
      ...(old === undefined ? {} : { old: wholeObject(old) }),
    };
  });
}

/** Cases of schemas of the spec, with values of it. */
export function schemasOf(
  subject: string,
  rows: readonly (readonly [title: string, spec: Json, ...specs: readonly unknown[]])[],
): ReferenceCase[] {
  return rows.map(([title, spec, ...specs]) => ({
    name: `${subject}: ${title}`,
    schema: wholeSchema(spec),
    objects: specs.map(wholeObject),
  }));
}
