import { objectAs } from "../../schema/api-object.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import { asBuffer, decodeBody } from "../../resources/objects/stored.ts";
import { sharedSchema, type SharedSchema } from "./shared-schema.ts";

/** The start of a schema. In stored JSON these bytes occur only there: within a text their quotes would be escaped. */
const schemaMark = Buffer.from('"openAPIV3Schema":{');

const endOfEmpty = Buffer.from("}");

const quote = 0x22;
const backslash = 0x5c;
const opening = 0x7b;
const closing = 0x7d;

/** The JSON of a stored definition in parts. */
interface DefinitionParts {
  /** The definition with empty schemas. */
  readonly outline: Buffer;
  /** The schemas, in order; slices of the definition. */
  readonly schemas: readonly Buffer[];
}

/**
 * Separates the body of a stored definition from its schemas. Schemas are most of the size of a definition, and names, versions and conditions are
 * read without them: a server may have thousands of definitions.
 */
export function partsOf(body: Buffer): DefinitionParts {
  const schemas: Buffer[] = [];
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = body.indexOf(schemaMark); at !== -1; at = body.indexOf(schemaMark, from)) {
    const start = at + schemaMark.length;
    parts.push(body.subarray(from, start), endOfEmpty);
    from = endOfObject(body, start);
    schemas.push(body.subarray(start - 1, from));
  }
  parts.push(body.subarray(from));
  return { outline: Buffer.concat(parts), schemas };
}

/** The position after an object of well-formed JSON. @param start the position after its opening brace. */
function endOfObject(body: Buffer, start: number): number {
  let depth = 1;
  for (let at = start; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === quote) at = endOfText(body, at + 1);
    else if (byte === opening) depth++;
    else if (byte === closing && --depth === 0) return at + 1;
  }
  throw new Error("a stored object ends within a schema");
}

/** The position of the closing quote of a text. @param start the position after its opening quote. */
function endOfText(body: Buffer, start: number): number {
  for (let at = body.indexOf(quote, start); at !== -1; at = body.indexOf(quote, at + 1)) {
    let before = at;
    while (body[before - 1] === backslash) before--;
    if ((at - before) % 2 === 0) return at;
  }
  throw new Error("a stored object ends within a text");
}

const compressedByEntry = new WeakMap<Entry, CompressedDefinition>();

/** Returns the compressed definition of an entry; the same object for the same entry, which forks of a server share. */
export function compressedDefinition(entry: Entry): CompressedDefinition {
  let definition = compressedByEntry.get(entry);
  if (definition === undefined) compressedByEntry.set(entry, (definition = new CompressedDefinition(entry)));
  return definition;
}

/**
 * Returns the definition of an entry with empty schemas. It doesn't compress the schemas, for followers that need only names, versions and
 * conditions.
 */
export function definitionOutline(entry: Entry): CustomResourceDefinition {
  const compressed = compressedByEntry.get(entry);
  if (compressed !== undefined) return compressed.outline;
  return objectAs<CustomResourceDefinition>(decodeBody(partsOf(asBuffer(entry.body)).outline));
}

/** A stored definition with its schemas compressed and shared in memory. */
export class CompressedDefinition {
  /** Revision of its last write. */
  readonly revision: Revision;
  /** Not compressed, because discovery reads the outlines of all definitions. */
  private readonly outlineBytes: Buffer;
  /** In the order of the versions that have one. */
  private readonly schemas: readonly SharedSchema[];

  constructor({ body, revision }: Entry) {
    this.revision = revision;
    const { outline, schemas } = partsOf(asBuffer(body));
    this.outlineBytes = outline;
    this.schemas = schemas.map(sharedSchema);
  }

  /** The definition with empty schemas. */
  get outline(): CustomResourceDefinition {
    return objectAs<CustomResourceDefinition>(decodeBody(this.outlineBytes));
  }

  /** A text that changes with every schema. */
  get schemaDigests(): string {
    return this.schemas.map(({ digest }) => digest).join();
  }

  /** Returns the schemas by the name of their version. */
  schemasOf(outline: CustomResourceDefinition): ReadonlyMap<string, SharedSchema> {
    const versions = (outline.spec.versions ?? []).filter(
      ({ schema }) => schema?.openAPIV3Schema !== undefined,
    );
    return new Map(versions.map(({ name }, index) => [name, this.schemas[index]!]));
  }
}
