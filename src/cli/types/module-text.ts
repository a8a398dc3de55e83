import { platform } from "../../vocabulary/platform.ts";
import type { SourceDefinition, SourceVersion } from "./definition-source.ts";
import { commentLines, descriptionOf, objectBody } from "./type-writer.ts";

/** The schema of a version without one: unknown fields are kept. */
const anything = { [`${platform.schemaExtensionPrefix}preserve-unknown-fields`]: true };

/** The metadata of every object, as far as clients read and write it. */
const objectMeta = `/** Metadata of an object: its name, namespace, labels, and fields that the server sets. */
interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: Array<{
    apiVersion: string;
    kind: string;
    name: string;
    uid: string;
    controller?: boolean;
    blockOwnerDeletion?: boolean;
  }>;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  managedFields?: unknown[];
  selfLink?: string;
}
`;

/** The interfaces of a definition in the order of its versions. */
export interface DefinitionTypes {
  readonly definition: SourceDefinition;
  readonly versions: readonly {
    readonly version: SourceVersion;
    readonly doc: string;
    readonly body: string;
  }[];
}

/**
 * Returns the types of a definition.
 *
 * @throws {DefinitionFault}
 */
export function typesOf(definition: SourceDefinition): DefinitionTypes {
  const { group, kind } = definition;
  const versions = definition.versions.map((version) => {
    const { name, path } = version;
    const schema = version.schema ?? anything;
    const doc = descriptionOf(schema, path) || `${kind} of ${group}/${name}.`;
    return { version, doc, body: objectBody(schema, path, `${group}/${name}`, kind) };
  });
  return { definition, versions };
}

/**
 * Returns a TypeScript module with the types of definitions, ordered by group, kind and name.
 *
 * @param augments whether it also declares them to the client of the package.
 */
export function moduleText(all: readonly DefinitionTypes[], augments: boolean): string {
  const ordered = all.toSorted((a, b) => compare(orderOf(a), orderOf(b)));
  const names = interfaceNames(ordered);
  const texts = ordered.flatMap(({ versions }, at) =>
    versions.map(({ doc, body }, version) => {
      const comment = commentLines(doc, 0);
      return `${[...comment, `export interface ${names[at]![version]} ${body}`].join("\n")}\n`;
    }),
  );
  const declared = ordered.flatMap(({ definition: { group, kind }, versions }, at) =>
    versions.map(({ version }, index) => {
      const key = JSON.stringify(`${group}/${version.name} ${kind}`);
      return `    ${key}: ${names[at]![index]};\n`;
    }),
  );
  const augmentation = `declare module "plinth" {\n  interface CustomObjects {\n${declared.join("")}  }\n}\n`;
  return [objectMeta, ...texts, ...(augments ? [augmentation] : [])].join("\n");
}

function orderOf({ definition: { group, kind, name } }: DefinitionTypes): string {
  return [group, kind, name].join("\n");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the name of each version's interface: `OrderV1`; `OrderV1ShopExampleCom` if several groups have it, with a
 * number if that is taken too.
 */
function interfaceNames(all: readonly DefinitionTypes[]): string[][] {
  const plain = (kind: string, version: string): string => pascal(kind) + pascal(version);
  const counts = new Map<string, number>();
  for (const { definition } of all) {
    for (const { name } of definition.versions) {
      const short = plain(definition.kind, name);
      counts.set(short, (counts.get(short) ?? 0) + 1);
    }
  }
  const usedNames = new Set<string>(counts.keys());
  return all.map(({ definition: { group, kind, versions } }) =>
    versions.map(({ name }) => {
      const short = plain(kind, name);
      if (counts.get(short) === 1) return short;
      const long = short + pascal(group);
      let unique = long;
      for (let at = 2; usedNames.has(unique); at++) unique = `${long}${at}`;
      usedNames.add(unique);
      return unique;
    }),
  );
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("");
}
