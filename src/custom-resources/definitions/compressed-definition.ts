import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import { partsOf } from "./definition-outline.ts";
import { asBuffer, decodeBody } from "../../resources/objects/stored.ts";
import { sharedSchema, type SharedSchema } from "./shared-schema.ts";

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
  return decodeBody(partsOf(asBuffer(entry.body)).outline) as unknown as CustomResourceDefinition;
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
    return decodeBody(this.outlineBytes) as unknown as CustomResourceDefinition;
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
