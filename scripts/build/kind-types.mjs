// Writes the published types of the built-in kinds as object types. The types that TypeScript derives from the declarations are
// equivalent, but so large that programs with them compile seconds slower. Not interfaces, because those have no index signature
// and so can't be passed as `ApiObject`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { typeText } from "./type-text.mjs";

/** TypeScript types of the scalars; as in `src/schema/types.ts`. */
const scalarTypes = {
  string: "string",
  bool: "boolean",
  int32: "number",
  int64: "number | bigint",
  double: "number | bigint",
  bytes: "string",
  time: "string",
  microTime: "string",
  duration: "string",
  quantity: "string",
  intOrString: "number | string",
  json: "unknown",
  object: "Record<string, unknown>",
  fieldsV1: "Record<string, unknown>",
};

/** Group suffixes of the vocabularies; `GroupSuffix` in `src/vocabulary/vocabularies.ts`. */
const suffixes = ["platform.io", "k8s.io"];

/** Fields that every object has. */
const objectFields = ["  apiVersion: string;", "  kind: string;", "  metadata: ObjectMetaValue;"];

/**
 * Replaces the declarations of `kinds/all` and of `BuiltInObjects` in the folder of the published types.
 *
 * @param {string} folder the folder of the declarations
 * @param {Record<string, unknown>} exported what `kinds/all` exports: kinds by name, and `builtInKinds`
 */
export function writeKindTypes(folder, exported) {
  const { builtInKinds, ...kinds } = exported;
  writeFileSync(path.join(folder, "kinds/all.d.ts"), allText(kinds));
  const file = path.join(folder, "kinds/typed-objects.d.ts");
  writeFileSync(file, typedObjectsText(readFileSync(file, "utf8"), builtInKinds, kinds));
}

/** The module of all kinds: a constant and a type for each, and the types of their parts. */
function allText(kinds) {
  const structs = new Structs(Object.keys(kinds));
  const blocks = Object.entries(kinds).map(([name, kind]) => {
    const { base, suffixed } = kind.group;
    const group = `{ readonly base: ${JSON.stringify(base)}; readonly suffixed: ${suffixed} }`;
    const typeArguments = [name, group, JSON.stringify(kind.version), JSON.stringify(kind.name)];
    const fields = Object.entries(kind.type.fields).filter(
      ([field]) => !["apiVersion", "kind", "metadata"].includes(field),
    );
    return [
      ...comment(kind.type.doc, ""),
      `export type ${name} = {`,
      ...objectFields,
      ...fieldLines(fields, structs),
      "};",
      `export declare const ${name}: TypedKind<${typeArguments.join(", ")}>;`,
    ].join("\n");
  });
  return `import type { Kind, ObjectMetaValue, TypedKind } from "../schema/kind.ts";
/** Built-in kinds in the order of discovery: by group, then by the priority of the version, then by resource. */
export declare const builtInKinds: readonly Kind[];
${[...blocks, ...structs.texts()].join("\n")}
`;
}

/** The types of structs, each with a name that no kind and no other struct has. */
class Structs {
  #names = new Map();
  #texts = new Map();
  #taken;

  constructor(taken) {
    this.#taken = new Set(taken);
  }

  nameOf(struct) {
    const existing = this.#names.get(struct);
    if (existing !== undefined) return existing;
    const name = this.#freeName(struct);
    this.#taken.add(name);
    this.#names.set(struct, name);
    const lines = fieldLines(withLaterFields(struct), this);
    this.#texts.set(name, [...comment(struct.doc, ""), `export type ${name} = {`, ...lines, "};"].join("\n"));
    return name;
  }

  texts() {
    return [...this.#texts.keys()].toSorted().map((name) => this.#texts.get(name));
  }

  #freeName({ name, groupVersion: { group, version } }) {
    const pascal = (text) => text.replaceAll(/(?:^|[^a-z0-9]+)([a-z])/g, (_, letter) => letter.toUpperCase());
    const candidates = [name, name + pascal(version), name + pascal(group.base) + pascal(version)];
    for (let count = 2; ; count++) {
      const free = candidates.find((one) => !this.#taken.has(one));
      if (free !== undefined) return free;
      candidates.push(`${candidates[2]}${count}`);
    }
  }
}

/** The fields of a struct, with those that later releases add. */
function withLaterFields({ fields, rules }) {
  const later = Object.entries(rules.later?.() ?? {}).flatMap(([name, { value }]) =>
    value === undefined || Object.hasOwn(fields, name) ? [] : [[name, value]],
  );
  return [...Object.entries(fields), ...later];
}

function fieldLines(fields, structs) {
  return fields.flatMap(([name, { type, facts }]) => {
    const member = /^[\w$]+$/.test(name) ? name : JSON.stringify(name);
    const text = typeText(type, {
      scalar: (scalar) => scalarTypes[scalar],
      struct: (struct) => structs.nameOf(struct),
    });
    return [
      ...comment(facts.doc, "  "),
      facts.required ? `  ${member}: ${text};` : `  ${member}?: ${text} | undefined;`,
    ];
  });
}

/** The module of object types by name, with an interface in place of a type that is derived from the declarations. */
function typedObjectsText(text, builtInKinds, kinds) {
  const names = new Map(Object.entries(kinds).map(([name, kind]) => [kind, name]));
  const lines = builtInKinds.flatMap((kind) => {
    const { base, suffixed } = kind.group;
    const groups = suffixed ? suffixes.map((suffix) => `${base}.${suffix}`) : [base];
    return groups.map((group) => {
      const apiVersion = group === "" ? kind.version : `${group}/${kind.version}`;
      return `  "${apiVersion} ${kind.name}": kinds.${names.get(kind)};`;
    });
  });
  const derived = /type BuiltIn = typeof exported;\n|export type BuiltInObjects = \{[\s\S]*?\n\};\n/g;
  if (text.match(derived)?.length !== 2) throw new Error("kinds/typed-objects.d.ts has changed");
  return text
    .replace('import type * as exported from "./all.ts";', 'import type * as kinds from "./all.ts";')
    .replaceAll(derived, (one) =>
      one.startsWith("type") ? "" : `export interface BuiltInObjects {\n${lines.join("\n")}\n}\n`,
    );
}

function comment(doc, indentation) {
  const lines = doc
    .trim()
    .replaceAll("*/", String.raw`*\/`)
    .split("\n");
  if (lines.length > 1)
    return [
      `${indentation}/**`,
      ...lines.map((line) => `${indentation} * ${line}`.trimEnd()),
      `${indentation} */`,
    ];
  return lines[0] === "" ? [] : [`${indentation}/** ${lines[0]} */`];
}
