import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { CustomResourceDefinition } from "../kinds/apiextensions/custom-resource-definition.ts";
import type { ReadSchema } from "../kinds/custom/custom-kind.ts";
import type { Entry, Revision } from "../storage/store.ts";
import { outlineBytes } from "./definition-outline.ts";
import { asBuffer, decodeBody } from "./stored.ts";

/** Larger ones are few, and would take too long at once. */
const maxCompressedBytes = 256 * 1024;
/** A tenth of the size in a tenth of a millisecond for a definition of 20 KB. */
const level = 3;

/** A stored definition as it is kept in memory: small, as a server may have thousands, most of which nobody asks for. */
export class KeptDefinition {
  /** Of the write that made it so. */
  readonly revision: Revision;
  /** Not compressed: all of them are read as soon as a client asks what is served. */
  private readonly outlineBytes: Buffer;
  private readonly compressed: boolean;
  private readonly bytes: Uint8Array;

  constructor({ body, revision }: Entry) {
    this.revision = revision;
    this.outlineBytes = outlineBytes(asBuffer(body));
    this.compressed = body.length <= maxCompressedBytes;
    // A copy: what zlib gives is a part of 16 KB, all of which would be kept.
    this.bytes = this.compressed ? Buffer.from(deflateRawSync(body, { level })) : body;
  }

  /** See {@link outlineBytes}. */
  get outline(): CustomResourceDefinition {
    return decodeBody(this.outlineBytes) as unknown as CustomResourceDefinition;
  }

  /** Reads the schemas of its versions. */
  get schemas(): ReadSchema {
    let lately: WeakRef<CustomResourceDefinition> | undefined;
    return (name) => {
      let definition = lately?.deref();
      if (definition === undefined) {
        definition = decodeBody(this.body) as unknown as CustomResourceDefinition;
        // Who asks for one version often asks for the others too, of which there may be thousands.
        lately = new WeakRef(definition);
      }
      const version = definition.spec.versions?.find((one) => one.name === name);
      return version?.schema?.openAPIV3Schema as unknown as object | undefined;
    };
  }

  private get body(): Buffer {
    return this.compressed ? inflateRawSync(this.bytes) : asBuffer(this.bytes);
  }
}
