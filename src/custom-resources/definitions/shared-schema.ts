import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { EvictableValues } from "../../base/collections/evictable-values.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import type { Release } from "../../base/releases.ts";
import { languageOf } from "../../cel/libraries.ts";
import { rulesOf, type RuleNode } from "../../kinds/apiextensions/rule-tree.ts";
import { anyObject, parseSchema, schemaCost, type SchemaNode } from "../../schema/custom/schema-node.ts";

/** Larger schemas are rare; compressing them would block other requests. */
const maxCompressedBytes = 256 * 1024;
/** Compression level: 20 KB become 2 KB in a tenth of a millisecond. */
const level = 3;

/** Maximum number of cached subschemas: those of about 100 definitions, about 20 MB. */
const maxParsed = 100_000;
const parsedSchemas = new EvictableValues(maxParsed);

/** A parsed schema and its rules. */
export class ParsedSchema {
  /** By release, because servers of several releases may share the schema. */
  private readonly rules = new Map<Release, RuleNode | undefined>();

  constructor(readonly node: SchemaNode) {}

  /** Returns the rules of the schema; created when the first object is validated. */
  rulesIn(release: Release): RuleNode | undefined {
    if (!this.rules.has(release)) {
      const language = languageOf(release, "stored");
      this.rules.set(
        release,
        rulesOf(this.node, () => language),
      );
    }
    return this.rules.get(release);
  }
}

/** The schema of a version that has none: objects with any members. */
export const anySchema = new ParsedSchema(anyObject);

/**
 * A schema of a stored definition, compressed in memory: a server may have thousands, most of which are never used. All definitions with
 * the same schema share it, also those of other servers of the process.
 */
export class SharedSchema {
  private readonly compressed: boolean;
  private readonly bytes: Uint8Array;
  /** By prefix of the extensions. */
  private readonly parsedByPrefix = new Map<string, () => ParsedSchema>();

  /** @param json the schema as JSON. */
  constructor(
    readonly digest: string,
    json: Buffer,
  ) {
    this.compressed = json.length <= maxCompressedBytes;
    // A copy: the result of zlib is a slice of a 16 KB buffer, and the JSON one of the whole definition.
    this.bytes = Buffer.from(this.compressed ? deflateRawSync(json, { level }) : json);
  }

  get size(): number {
    return this.bytes.length;
  }

  /** Decodes the schema. Callers must not keep it: schemas are most of the size of a definition. */
  read(): object {
    const { bytes } = this;
    const json = this.compressed
      ? inflateRawSync(bytes)
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return decodeTrusted(json) as object;
  }

  /**
   * Returns the parsed schema; it is cached while it is used.
   *
   * @param prefix prefix of the extensions, such as `x-kubernetes-`.
   */
  parsed(prefix: string): ParsedSchema {
    let value = this.parsedByPrefix.get(prefix);
    if (value === undefined) {
      value = parsedSchemas.value(() => {
        const schema = this.read();
        return { value: new ParsedSchema(parseSchema(schema, prefix)), cost: schemaCost(schema) };
      });
      this.parsedByPrefix.set(prefix, value);
    }
    return value();
  }
}

/** Schemas that are likely to be stored again, by digest; limited in number and compressed bytes. */
const recent = new RecentMap<SharedSchema>({ entries: 4096, cost: 16 * 2 ** 20 });

/** Returns the schema of its JSON; the same object for equal bytes, unless many others were stored since. */
export function sharedSchema(json: Buffer): SharedSchema {
  const digest = createHash("sha256").update(json).digest("base64");
  let schema = recent.get(digest);
  if (schema === undefined) {
    schema = new SharedSchema(digest, json);
    recent.set(digest, schema, schema.size);
  }
  return schema;
}
