import { asBuffer } from "../../resources/stored.ts";
import type { Resource } from "../../resources/registry.ts";
import { joinBodies } from "../../resources/joined-bodies.ts";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import { listKind, listMeta, type Encoding, type ListWriter } from "./encoding.ts";

/** The stored bytes as they are. */
export class JsonEncoding implements Encoding {
  readonly key = "json";
  readonly contentType = "application/json";
  readonly watchContentType = "application/json";
  constructor(private readonly resource: Resource) {}

  object(body: Uint8Array): Uint8Array {
    return body;
  }

  list(): ListWriter {
    return new JsonListWriter(this.resource);
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    const head = frameHeads.get(type) ?? frameHead(type);
    const frame = Buffer.allocUnsafe(head.length + body.length + 2);
    head.copy(frame, 0);
    frame.set(body, head.length);
    frame.write("}\n", head.length + body.length, "latin1");
    return frame;
  }

  plainFrame(type: string, object: object): Uint8Array {
    return Buffer.from(`${JSON.stringify({ type, object })}\n`);
  }
}

function frameHead(type: string): Buffer {
  return Buffer.from(`{"type":${JSON.stringify(type)},"object":`);
}

const frameHeads = new Map(["ADDED", "MODIFIED", "DELETED"].map((type) => [type, frameHead(type)]));

/** Items first, metadata behind them: whether more remains is known only at the end. */
class JsonListWriter implements ListWriter {
  private begun = false;
  constructor(private readonly resource: Resource) {}

  page({ entries, joined }: ListedPage): readonly Uint8Array[] {
    const bodies = joined ?? joinBodies(entries);
    // The comma before the first item of the list is not sent.
    return this.begun ? [bodies] : [this.head(), bodies.subarray(1)];
  }

  end(end: ListEnd): Uint8Array {
    return Buffer.concat([this.head(), Buffer.from(`],"metadata":${JSON.stringify(listMeta(end))}}\n`)]);
  }

  private head(): Buffer {
    if (this.begun) return nothing;
    this.begun = true;
    const { apiVersion } = this.resource;
    return Buffer.from(`{"kind":"${listKind(this.resource)}","apiVersion":"${apiVersion}","items":[`);
  }
}

const nothing = Buffer.alloc(0);

/** The same JSON with line breaks and two spaces a level (`pretty`). */
export function prettyJson(body: Uint8Array): Buffer {
  return Buffer.from(`${JSON.stringify(JSON.parse(asBuffer(body).toString("utf8")), null, 2)}\n`);
}
