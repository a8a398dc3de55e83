/**
 * The minimum work of an API write: reads the stored object, builds the new one with field manager, time and version,
 * stores its JSON with a log entry (the previous value and a count), and responds with it. There is no
 * authentication, authorization, validation or watch.
 */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";
import { inBatches, openData, openEngine } from "./batches.ts";

export interface LeastPlan {
  readonly tls: Tls;
  readonly dir: string;
  /** An object of the product; the stored value until the first write. */
  readonly sample: Buffer;
}

/** The used members of a ConfigMap. */
interface Item {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly managedFields?: readonly { readonly time: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly key: string;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

const handlers = { open };
export type LeastApi = typeof handlers;
serveParent(handlers);

function open({ tls, dir, sample }: LeastPlan): Promise<number> {
  const root = openEngine(dir);
  const data = openData(root, "data");
  const counts = openData(root, "counts");
  const log = root.openDB<Buffer, number>({ name: "log", encoding: "binary", keyEncoding: "uint32" });
  const first = JSON.parse(sample.toString("utf8")) as Item;
  let revision = 0;

  const commit = inBatches<Waiting>(
    root,
    (batch) => {
      counts.getBinary("revision");
      for (const { key, body } of batch) {
        const superseded = data.getBinary(key);
        data.putSync(key, body);
        log.putSync(++revision, superseded ?? Buffer.from(key));
      }
      counts.putSync("collection", Buffer.alloc(8));
      counts.putSync("namespace", Buffer.alloc(8));
      counts.putSync("revision", Buffer.alloc(32));
    },
    (batch) => {
      for (const { response, body } of batch) {
        response.writeHead(200, headersFor(body));
        response.end(body);
      }
    },
  );

  return listen(tls, (request, response) => {
    readJson(request, (value) => {
      const input = value as Item;
      if (request.method === "POST") {
        commit({ key: input.metadata.name, body: written(input, undefined), response });
        return;
      }
      const key = request.url!.slice(request.url!.lastIndexOf("/") + 1);
      const bytes = data.getBinary(key);
      const live = bytes === undefined ? first : (JSON.parse(bytes.toString("utf8")) as Item);
      const desired = request.method === "PUT" ? input : { ...live, data: { ...live.data, ...input.data } };
      commit({ key, body: written(desired, live), response });
    });
  });
}

/** Returns the JSON of the object, for the store and the response. */
function written({ metadata, ...item }: Item, live: Item | undefined): Buffer {
  const now = new Date().toISOString();
  const { data = {} } = item;
  const changed = Object.keys(data).some((name) => data[name] !== live?.data?.[name]);
  const fields = Object.fromEntries(Object.keys(data).map((name) => [`f:${name}`, {}]));
  const owner = {
    manager: "client",
    operation: "Update",
    apiVersion: "v1",
    time: changed ? now : (live?.metadata.managedFields?.[0]?.time ?? now),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": fields },
  };
  const result = {
    ...metadata,
    uid: live?.metadata.uid ?? randomUUID(),
    creationTimestamp: live?.metadata.creationTimestamp ?? now,
    resourceVersion: "1234567",
    managedFields: [owner],
  };
  return Buffer.from(JSON.stringify({ ...item, metadata: result }));
}
