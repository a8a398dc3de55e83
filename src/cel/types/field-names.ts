import type { ObjectField, ObjectType } from "./types.ts";

/** Reserved words, which must be escaped as field names. */
const keywords = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const unescapes: ReadonlyMap<string, string> = new Map(
  [...escapes].map(([plain, escaped]) => [escaped, plain]),
);

const accessible = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/;

/**
 * Returns the escaped name of a field in expressions: `a-b` is `a__dash__b`, `namespace` is `__namespace__`. Undefined if expressions
 * can't access the field.
 */
export function escapedFieldName(name: string): string | undefined {
  if (!accessible.test(name)) return undefined;
  if (keywords.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[.\-/]/g, (mark) => escapes.get(mark)!);
}

/** Returns the field of an escaped name; undefined if the name isn't escaped. */
export function unescapedFieldName(name: string): string | undefined {
  const keyword = /^__([a-z]+)__$/.exec(name)?.[1];
  if (keyword !== undefined && keywords.has(keyword)) return keyword;
  const plain = name.replaceAll(/__(?:underscores|dot|dash|slash)__/g, (mark) => unescapes.get(mark)!);
  return escapedFieldName(plain) === name ? plain : undefined;
}

/** Returns the field whose name is a reserved word. */
export function reservedField({ fields }: ObjectType, name: string): ObjectField | undefined {
  return keywords.has(name) ? fields.get(`__${name}__`) : undefined;
}
