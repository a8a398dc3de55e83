import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import { ListMeta } from "../../schema/object-meta.ts";
import { encodeMessage } from "../../schema/protobuf/encode-message.ts";
import { envelopeAround, sealEnvelope } from "../../schema/protobuf/envelope.ts";
import { StatusType } from "../../schema/status-type.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
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

  object(body: Uint8Array): Uint8Array {
    return sealEnvelope(this.view, encodeMessage(this.view.type, this.view.show(body)));
  }

  list(): ListWriter {
    const { view } = this;
    return {
      page: ({ entries }: ListedPage) =>
        entries.map(({ body }) => {
          const message = encodeMessage(view.type, view.show(body));
          return new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(message).finish();
        }),
      end: (end: ListEnd) =>
        new BinaryWriter()
          .tag(1, WireType.LengthDelimited)
          .bytes(encodeMessage(ListMeta, listMeta(end)))
          .finish(),
      around: (length) => envelopeAround({ apiVersion: view.apiVersion, kind: view.listKind }, length),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return watchFrame(type, this.object(body));
  }

  bookmark(revision: string): Uint8Array {
    const message = encodeMessage(this.view.type, { metadata: { resourceVersion: revision } });
    return watchFrame("BOOKMARK", sealEnvelope(this.view, message));
  }

  error(status: object): Uint8Array {
    return watchFrame("ERROR", binaryStatus(status));
  }
}

/** A Status in binary. */
export function binaryStatus(status: object): Buffer {
  const message = encodeMessage(StatusType, status as Record<string, unknown>);
  return sealEnvelope({ apiVersion: "v1", kind: "Status" }, message);
}

/** A frame of a watch: four bytes of length, then the event with its type (1) and its object (2). */
function watchFrame(type: string, object: Uint8Array): Buffer {
  const event = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(type)
    .tag(2, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .bytes(object)
    .join()
    .finish();
  const frame = Buffer.allocUnsafe(event.length + 4);
  frame.writeUInt32BE(event.length, 0);
  frame.set(event, 4);
  return frame;
}
