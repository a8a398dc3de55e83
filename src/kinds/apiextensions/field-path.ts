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

/** A name in a path. */
interface PathSegment {
  readonly name: string;
  /** Whether the name is in quotes and brackets. */
  readonly isQuoted: boolean;
}

/** Parses a field path such as `.spec.names['a b']`; undefined if it is malformed. */
export function parseFieldPath(path: string): readonly PathSegment[] | undefined {
  if (path.length > maxLength) return undefined;
  const segments: PathSegment[] = [];
  segment.lastIndex = 0;
  while (segment.lastIndex < path.length) {
    const match = segment.exec(path);
    if (match === null) return undefined;
    const [, plain, quoted] = match;
    const name = plain ?? unescaped(quoted!);
    if (name === undefined) return undefined;
    segments.push({ name, isQuoted: plain === undefined });
  }
  return segments;
}

/** A step of the path: the name of a property, or the key of a map. */
interface FieldStep {
  readonly name: string;
  readonly isKey: boolean;
}

/**
 * Parses the field path of a rule, relative to the rule's schema.
 *
 * @returns undefined if the path is malformed or names a field that the schema doesn't have.
 */
export function ruleFieldPath(path: string, schema: SchemaNode): readonly FieldStep[] | undefined {
  const steps: FieldStep[] = [];
  let node: SchemaNode = schema;
  for (const { name } of parseFieldPath(path) ?? []) {
    const isKey: boolean = node.properties.size === 0;
    const below = isKey ? node.additional : node.properties.get(name);
    if (below === undefined) return undefined;
    node = below;
    steps.push({ name, isKey });
  }
  return steps.length === 0 ? undefined : steps;
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
