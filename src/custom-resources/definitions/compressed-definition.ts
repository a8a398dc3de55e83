import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { ReadSchema } from "./custom-kind.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import { outlineBytes } from "./definition-outline.ts";
import { asBuffer, decodeBody } from "../../resources/objects/stored.ts";

/** Larger bodies are rare; compressing them would block other requests. */
const maxCompressedBytes = 256 * 1024;
/** Compression level: 20 KB become 2 KB in a tenth of a millisecond. */
const level = 3;

/** A stored definition, compressed in memory: a server may have thousands, most of which are never requested. */
export class CompressedDefinition {
  /** Revision of its last write. */
  readonly revision: Revision;
  /** Not compressed, because discovery reads the outlines of all definitions. */
  private readonly outlineBytes: Buffer;
  private readonly compressed: boolean;
  private readonly bytes: Uint8Array;

  constructor({ body, revision }: Entry) {
    this.revision = revision;
    this.outlineBytes = outlineBytes(asBuffer(body));
    this.compressed = body.length <= maxCompressedBytes;
    // A copy: the result of zlib is a slice of a 16 KB buffer, which would stay in memory.
    this.bytes = this.compressed ? Buffer.from(deflateRawSync(body, { level })) : body;
  }

  /** See {@link outlineBytes}. */
  get outline(): CustomResourceDefinition {
    return decodeBody(this.outlineBytes) as unknown as CustomResourceDefinition;
  }

  /** Reads the schemas of its versions. */
  get schemas(): ReadSchema {
    let recent: WeakRef<CustomResourceDefinition> | undefined;
    return (name) => {
      let definition = recent?.deref();
      if (definition === undefined) {
        definition = decodeBody(this.body) as unknown as CustomResourceDefinition;
        // The schemas of all versions are often read one after the other; there may be thousands.
        recent = new WeakRef(definition);
      }
      const version = definition.spec.versions?.find((one) => one.name === name);
      return version?.schema?.openAPIV3Schema as unknown as object | undefined;
    };
  }

  private get body(): Buffer {
    return this.compressed ? inflateRawSync(this.bytes) : asBuffer(this.bytes);
  }
}
