import type { SchemaNode } from "../../schema/custom/schema-node.ts";

/** Maximum length of a path. */
const maxLength = 4096;

const segment = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;

const escapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

/** A step of the path: the name of a property, or the key of a map. */
interface FieldStep {
  readonly name: string;
  readonly isKey: boolean;
}

/**
 * Parses the field path of a rule, relative to the rule's schema: `.spec.names['a b']`.
 *
 * @returns undefined if the path is malformed or names a field that the schema doesn't have.
 */
export function ruleFieldPath(path: string, schema: SchemaNode): readonly FieldStep[] | undefined {
  if (path.length > maxLength) return undefined;
  const steps: FieldStep[] = [];
  let node: SchemaNode | undefined = schema;
  let at = 0;
  while (at < path.length) {
    segment.lastIndex = at;
    const match = segment.exec(path);
    if (match === null || node === undefined) return undefined;
    at += match[0].length;
    const name = match[1] ?? unescaped(match[2]!);
    if (name === undefined) return undefined;
    const isKey: boolean = node.properties.size === 0;
    node = isKey ? node.additional : node.properties.get(name);
    if (node === undefined) return undefined;
    steps.push({ name, isKey });
  }
  return steps;
}

/** Decodes the escape sequences of a quoted name; undefined for an unknown one. */
function unescaped(text: string): string | undefined {
  let isValid = true;
  const plain = text.replaceAll(/\\(.)/gs, (_, letter: string) => {
    const character = escapes[letter];
    if (character === undefined) isValid = false;
    return character ?? "";
  });
  return isValid ? plain : undefined;
}
