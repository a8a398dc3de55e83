import { WireType } from "@bufbuild/protobuf/wire";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import { ListMeta } from "../../schema/object-meta.ts";
import { bytesWritten, writeStruct } from "../../schema/protobuf/encode-message.ts";
import { encodeEnvelope, envelopeAround } from "../../schema/protobuf/envelope.ts";
import { StatusType } from "../../schema/status-type.ts";
import { portions } from "./chunks.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import { JsonEncoding } from "./json.ts";
import type { View } from "./view.ts";

/** The binary envelope (spec: conventions 2.12). */
export class ProtobufEncoding implements Encoding {
  readonly key: string;
  readonly watchContentType: string;
  constructor(
    private readonly view: View,
    readonly contentType: string,
  ) {
    this.key = `protobuf ${view.key}`;
    this.watchContentType = `${contentType};stream=watch`;
  }

  get inJson(): Encoding {
    return new JsonEncoding(this.view);
  }

  object(body: Uint8Array): Uint8Array {
    return encodeEnvelope(this.view, this.view.type, this.view.show(body));
  }

  list(): ListWriter {
    const { view } = this;
    return {
      page: (page: ListedPage) => this.items(page),
      end: (end: ListEnd) =>
        bytesWritten((out) => {
          writeStruct(out, ListMeta, listMeta(end));
          out.open(1, 0);
        }),
      around: (length) => envelopeAround({ apiVersion: view.apiVersion, kind: view.listKind }, length),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return watchFrame(type, this.object(body));
  }

  bookmark(revision: string): Uint8Array {
    const object = { metadata: { resourceVersion: revision } };
    return watchFrame("BOOKMARK", encodeEnvelope(this.view, this.view.type, object));
  }

  error(status: object): Uint8Array {
    return watchFrame("ERROR", binaryStatus(status));
  }

  /** The objects of a page, each as a field of the list. */
  private *items({ entries, joined }: ListedPage): Generator<Uint8Array> {
    const { key, view } = this;
    const kept = joined === undefined ? undefined : keptPages.get(joined);
    if (kept?.key === key) return yield kept.items;
    const parts: Uint8Array[] = [];
    for (const some of portions(entries)) {
      const objects = some.map(({ body }) => view.show(body));
      const part = bytesWritten((out) => {
        for (const object of objects.toReversed()) {
          const { length } = out;
          writeStruct(out, view.type, object);
          out.open(2, length);
        }
      });
      parts.push(part);
      yield part;
    }
    if (joined !== undefined) keptPages.set(joined, { key, items: Buffer.concat(parts) });
  }
}

/**
 * What was written of the pages that the page cache holds, by their bodies: a page that hasn't changed isn't written
 * again. At most one form of each is kept, so that it stays below what that cache may take, and goes with the page.
 */
const keptPages = new WeakMap<Buffer, { readonly key: string; readonly items: Uint8Array }>();

/** A Status in binary. */
export function binaryStatus(status: object): Buffer {
  const type = { apiVersion: "v1", kind: "Status" };
  return encodeEnvelope(type, StatusType, status as Record<string, unknown>);
}

/** A frame of a watch: four bytes of length, then the event with its type (1) and its object (2), which is raw (1). */
function watchFrame(type: string, object: Uint8Array): Buffer {
  return bytesWritten((out) => {
    out.raw(object);
    out.open(1, 0);
    out.open(2, 0);
    out.text(type);
    out.tag(1, WireType.LengthDelimited);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(out.length);
    out.raw(length);
  });
}
