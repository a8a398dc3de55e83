/**
 * The least that a write of an API is: it reads what stands, makes the object with its owner, time and version, writes its
 * JSON, stores it beside a log entry with what it superseded and a count, and answers with it. Nobody is asked who they are
 * and whether they may, nothing is checked, nobody watches.
 */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";
import { inBatches, openData, openEngine } from "./batches.ts";

export interface LeastPlan {
  readonly tls: Tls;
  readonly dir: string;
  /** An object of the product, which stands wherever nothing was written yet. */
  readonly sample: Buffer;
}

/** As much of a config map as is looked at. */
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
      const given = value as Item;
      if (request.method === "POST") {
        commit({ key: given.metadata.name, body: written(given, undefined), response });
        return;
      }
      const key = request.url!.slice(request.url!.lastIndexOf("/") + 1);
      const bytes = data.getBinary(key);
      const stands = bytes === undefined ? first : (JSON.parse(bytes.toString("utf8")) as Item);
      const wanted =
        request.method === "PUT" ? given : { ...stands, data: { ...stands.data, ...given.data } };
      commit({ key, body: written(wanted, stands), response });
    });
  });
}

/** The object as it is stored and answered. */
function written({ metadata, ...item }: Item, stands: Item | undefined): Buffer {
  const now = new Date().toISOString();
  const { data = {} } = item;
  const changed = Object.keys(data).some((name) => data[name] !== stands?.data?.[name]);
  const fields = Object.fromEntries(Object.keys(data).map((name) => [`f:${name}`, {}]));
  const owner = {
    manager: "client",
    operation: "Update",
    apiVersion: "v1",
    time: changed ? now : (stands?.metadata.managedFields?.[0]?.time ?? now),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": fields },
  };
  const made = {
    ...metadata,
    uid: stands?.metadata.uid ?? randomUUID(),
    creationTimestamp: stands?.metadata.creationTimestamp ?? now,
    resourceVersion: "1234567",
    managedFields: [owner],
  };
  return Buffer.from(JSON.stringify({ ...item, metadata: made }));
}
