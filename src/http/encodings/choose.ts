import { StatusError } from "../../base/status-error.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { negotiate, type Format, type Representation } from "../request/negotiation.ts";
import type { Encoding } from "./encoding.ts";
import { JsonEncoding } from "./json.ts";
import { ProtobufEncoding } from "./protobuf.ts";
import { TableEncoding, type IncludeObject } from "./table.ts";
import type { CborEncoding } from "./cbor.ts";
import type { YamlEncoding } from "./yaml.ts";
import type { YamlTableEncoding } from "./yaml-table.ts";
import { metadataView, wholeView, type View } from "./view.ts";

/** Dependencies of encodings. */
export interface EncodingContext {
  readonly kinds: KindContext;
  readonly clock: Clock;
}

/** Modules that are loaded at the first request for YAML. */
interface YamlEncodings {
  readonly whole: typeof YamlEncoding;
  readonly table: typeof YamlTableEncoding;
}

/** Maximum number of cached Accept headers; clients send few different ones. */
const maxAcceptHeaders = 256;

/** The encodings of a server's responses, with their caches. */
export class Encodings {
  private readonly byAcceptHeader = new Map<string, Representation>();
  private readonly wholeJson = new WeakMap<Resource, JsonEncoding>();
  private readonly wholeProtobuf = new WeakMap<Resource, ProtobufEncoding>();
  private readonly forms = new ObjectForms();
  private readonly wholeCbor = new WeakMap<Resource, CborEncoding>();
  private yaml: YamlEncodings | undefined;
  private cbor: typeof CborEncoding | undefined;

  constructor(private readonly vocabulary: Vocabulary) {}

  /**
   * Returns the representation for an Accept header; cached.
   *
   * @throws {StatusError} NotAcceptable
   */
  negotiate(accept: string | undefined): Representation {
    const key = accept ?? "";
    let representation = this.byAcceptHeader.get(key);
    if (representation === undefined) {
      representation = negotiate(accept, this.vocabulary);
      if (this.byAcceptHeader.size >= maxAcceptHeaders) this.byAcceptHeader.clear();
      this.byAcceptHeader.set(key, representation);
    }
    return representation;
  }

  /** Loads the modules for an Accept header, whose types may have capitals; must be awaited before {@link of}. */
  prepare(accept: string | undefined): MaybePromise<void> {
    const { cborMediaType } = this.vocabulary;
    if (
      this.cbor !== undefined ||
      cborMediaType === undefined ||
      accept === undefined ||
      !/cbor/i.test(accept)
    )
      return this.loadYaml(accept);
    return import("./cbor.ts").then(({ CborEncoding }) => {
      this.cbor = CborEncoding;
      return this.loadYaml(accept);
    });
  }

  private loadYaml(accept: string | undefined): MaybePromise<void> {
    if (this.yaml !== undefined || accept === undefined || !/yaml/i.test(accept)) return undefined;
    return Promise.all([import("./yaml.ts"), import("./yaml-table.ts")]).then(([whole, table]) => {
      this.yaml = { whole: whole.YamlEncoding, table: table.YamlTableEncoding };
    });
  }

  /** Returns the encoding of a representation for a resource type. */
  of(
    { format, as, version }: Representation,
    resource: Resource,
    { kinds, clock }: EncodingContext,
    includeObject: string | undefined,
  ): Encoding {
    if (as === "table") {
      const whole = wholeView(resource, kinds);
      const include = includeOf(includeObject);
      const table = new TableEncoding(resource.kind, whole, kinds.vocabulary, include, clock, version);
      return format === "yaml" ? new (this.inYaml().table)(table) : table;
    }
    if (as === "whole" && format === "json") return this.jsonOf(resource, kinds);
    if (as === "whole" && format === "protobuf") return this.protobufOf(resource, kinds);
    if (as === "whole" && format === "cbor") return this.cborOf(resource, kinds);
    const view = as === "whole" ? wholeView(resource, kinds) : metadataView(resource, kinds, version);
    return this.encodingOfView(format, view);
  }

  /** Encodes a stored object. */
  stored(encoding: Encoding, entry: Entry): Uint8Array {
    return this.forms.of(encoding, entry);
  }

  private encodingOfView(format: Format, view: View): Encoding {
    switch (format) {
      case "json":
        return new JsonEncoding(view);
      case "protobuf":
        return new ProtobufEncoding(view, this.vocabulary.protobufMediaType);
      case "cbor":
        return new (this.inCbor())(view);
      case "yaml":
        return new (this.inYaml().whole)(view);
    }
  }

  private inYaml(): YamlEncodings {
    if (this.yaml === undefined) throw new Error("call Encodings.prepare before Encodings.of");
    return this.yaml;
  }

  private inCbor(): typeof CborEncoding {
    if (this.cbor === undefined) throw new Error("call Encodings.prepare before Encodings.of");
    return this.cbor;
  }

  private cborOf(resource: Resource, kinds: KindContext): CborEncoding {
    let encoding = this.wholeCbor.get(resource);
    if (encoding === undefined) {
      encoding = new (this.inCbor())(wholeView(resource, kinds));
      this.wholeCbor.set(resource, encoding);
    }
    return encoding;
  }

  private protobufOf(resource: Resource, kinds: KindContext): ProtobufEncoding {
    let encoding = this.wholeProtobuf.get(resource);
    if (encoding === undefined) {
      encoding = new ProtobufEncoding(wholeView(resource, kinds), this.vocabulary.protobufMediaType);
      this.wholeProtobuf.set(resource, encoding);
    }
    return encoding;
  }

  private jsonOf(resource: Resource, kinds: KindContext): JsonEncoding {
    let encoding = this.wholeJson.get(resource);
    if (encoding === undefined)
      this.wholeJson.set(resource, (encoding = new JsonEncoding(wholeView(resource, kinds))));
    return encoding;
  }
}

function includeOf(text: string | undefined): IncludeObject {
  if (text === undefined || text === "" || text === "Metadata") return "Metadata";
  if (text === "None" || text === "Object") return text;
  throw new StatusError(
    "BadRequest",
    `parameter includeObject: ${JSON.stringify(text)} is not None, Metadata or Object`,
  );
}

/** Maximum total size of the cache, in bytes. */
const maxBytes = 4 * 1024 * 1024;
/** Larger objects aren't cached: they would displace many others. */
const maxObjectBytes = 64 * 1024;
/** Approximate memory of an object besides its bytes. */
const overheadBytes = 200;

interface Form {
  readonly encoding: string;
  readonly revision: Revision;
  readonly bytes: Uint8Array;
}

/**
 * Caches encoded objects, for encodings that take longer than sending. Each object is encoded once per revision,
 * regardless of the number of readers. The oldest entries are evicted.
 */
export class ObjectForms {
  private readonly forms = new Map<string, Form>();
  private bytes = 0;

  /** @param limit maximum size in bytes. */
  constructor(private readonly limit: number = maxBytes) {}

  /** Returns a stored object in an encoding. */
  of(encoding: Encoding, entry: Entry): Uint8Array {
    if (encoding.isCacheable !== true) return encoding.object(entry.body);
    const { key, revision } = entry;
    const cached = this.forms.get(key);
    if (cached !== undefined && cached.revision === revision && cached.encoding === encoding.key) {
      return cached.bytes;
    }
    const bytes = encoding.object(entry.body);
    if (cached !== undefined) this.forget(key, cached);
    if (bytes.length <= maxObjectBytes) this.keep(key, { encoding: encoding.key, revision, bytes });
    return bytes;
  }

  private keep(key: string, form: Form): void {
    this.forms.set(key, form);
    this.bytes += takenBy(form);
    for (const [oldest, old] of this.forms) {
      if (this.bytes <= this.limit) return;
      this.forget(oldest, old);
    }
  }

  private forget(key: string, form: Form): void {
    this.forms.delete(key);
    this.bytes -= takenBy(form);
  }
}

function takenBy({ bytes }: Form): number {
  return bytes.length + overheadBytes;
}
