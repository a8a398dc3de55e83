import { BinaryReader } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { ProtobufEncoding } from "../../src/http/encodings/protobuf.ts";
import { wholeView } from "../../src/http/encodings/view.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { resourceOf } from "../../src/resources/registry/registry.ts";
import { ListMeta } from "../../src/schema/object-meta.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { StatusType } from "../../src/schema/status-type.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { Answer } from "../support/api.ts";
import {
  configMaps,
  binary,
  mapType,
  map,
  inBinary,
  nameOf,
  opened,
  useConfigMap,
} from "./encodings-support.ts";

const { server } = useConfigMap();

/** The items and the metadata of a binary list. */
function openedList({ bytes }: Pick<Answer, "bytes">) {
  const { apiVersion, kind, message } = openEnvelope(bytes);
  const reader = new BinaryReader(message);
  const items: Record<string, unknown>[] = [];
  let meta: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) meta = decodeMessage(ListMeta as never, reader.bytes());
    else if (number === 2) items.push(decodeMessage(ConfigMap.type, reader.bytes()));
    else reader.skip(wireType, number);
  }
  return { apiVersion, kind, meta, items };
}

/** The events of a binary watch received so far. */
function framesOf(bytes: Buffer) {
  const frames: { type: string; kind: string; message: Uint8Array }[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const reader = new BinaryReader(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
    let type = "";
    let object: Uint8Array = new Uint8Array();
    while (reader.pos < reader.len) {
      const [number] = reader.tag();
      if (number === 1) type = reader.string();
      else {
        const raw = new BinaryReader(reader.bytes());
        raw.tag();
        object = raw.bytes();
      }
    }
    const { kind, message } = openEnvelope(object);
    frames.push({ type, kind, message });
  }
  return frames;
}

it("events of a binary watch encode a failure and a bookmark", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  const encoding = new ProtobufEncoding(wholeView(resourceOf(ConfigMap, platform), context), binary);
  const status = { status: "Failure", message: "too old", reason: "Expired", code: 410 };
  const [failure] = framesOf(Buffer.from(encoding.error(status)));
  expect([failure!.type, failure!.kind]).toEqual(["ERROR", "Status"]);
  expect(decodeMessage(StatusType as never, failure!.message)).toMatchObject(status);
  const [bookmark] = framesOf(Buffer.from(encoding.bookmark({ resourceVersion: "17" })));
  expect([bookmark!.type, bookmark!.kind]).toEqual(["BOOKMARK", "ConfigMap"]);
  expect(decodeMessage(ConfigMap.type, bookmark!.message)).toMatchObject({
    metadata: { resourceVersion: "17" },
  });
});

describe("protobuf", () => {
  it("C-2.12-01 C-2.12-02 C-2.12-03 C-4.7-04 C-4.7-08 GET returns the binary envelope and content type", async () => {
    const answer = await server.admin.get(`${configMaps}/one`, { accept: binary });
    expect(answer.headers["content-type"]).toBe(binary);
    expect([...answer.bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0x00]);
    const { message, ...type } = opened(answer);
    expect(type).toEqual(mapType);
    expect(decodeMessage(ConfigMap.type, message)).toMatchObject({
      metadata: { name: "one", namespace: "default" },
      data: { a: "1", b: "grüße" },
    });
  });

  it("a repeated binary read returns the current object after each change and in each version", async () => {
    const told = async (path: string): Promise<{ apiVersion: string; message: Uint8Array }> =>
      opened(await server.admin.get(path, { accept: binary }));
    await server.admin.post(configMaps, map("often", { a: "1" }));
    for (const a of ["1", "2", "3"]) {
      if (a !== "1") await server.admin.put(`${configMaps}/often`, map("often", { a }));
      for (const _ of [1, 2]) {
        const { message } = await told(`${configMaps}/often`);
        expect(decodeMessage(ConfigMap.type, message)).toMatchObject({ data: { a } });
      }
    }
    const scalers = "namespaces/default/horizontalpodautoscalers";
    const spec = {
      maxReplicas: 3,
      scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" },
    };
    const metadata = { name: "web" };
    const object = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata, spec };
    await server.admin.post(`/apis/autoscaling/v2/${scalers}`, object);
    for (const _ of [1, 2]) {
      for (const version of ["v1", "v2"]) {
        const { apiVersion } = await told(`/apis/autoscaling/${version}/${scalers}/web`);
        expect(apiVersion).toBe(`autoscaling/${version}`);
      }
    }
  });

  it("C-4.7-05 a client that uses only the binary encoding can create, replace, list, watch and delete", async () => {
    const options = { accept: binary, contentType: binary };
    const made = await server.admin.ask("POST", configMaps, { ...options, raw: inBinary(map("bin")) });
    expect(made.status).toBe(201);
    const object = decodeMessage(ConfigMap.type, opened(made).message) as {
      metadata: { resourceVersion: string; uid: string };
    };
    const watch = await server.admin.open(
      "GET",
      `${configMaps}?watch=true&timeoutSeconds=1&resourceVersion=${object.metadata.resourceVersion}`,
      { accept: `${binary};stream=watch` },
    );
    expect(watch.headers["content-type"]).toBe(`${binary};stream=watch`);
    const changed = { ...object, data: { a: "2" } };
    const put = await server.admin.ask("PUT", `${configMaps}/bin`, { ...options, raw: inBinary(changed) });
    expect(put.status).toBe(200);
    const gone = await server.admin.delete(`${configMaps}/bin`, { accept: binary });
    expect(opened(gone).kind).toBe("Status");
    expect(decodeMessage(StatusType as never, opened(gone).message)).toMatchObject({
      status: "Success",
      details: { name: "bin", kind: "configmaps", uid: object.metadata.uid },
    });
    const chunks: Buffer[] = [];
    for await (const chunk of watch) chunks.push(chunk as Buffer);
    const frames = framesOf(Buffer.concat(chunks));
    expect(frames.map(({ type, kind }) => [type, kind])).toEqual([
      ["MODIFIED", "ConfigMap"],
      ["DELETED", "ConfigMap"],
    ]);
    expect(decodeMessage(ConfigMap.type, frames[0]!.message)).toMatchObject({ data: { a: "2" } });
  });

  it("C-9.1-08 a binary list has the items and metadata of the JSON list", async () => {
    const json = (await server.admin.get(`${configMaps}?limit=1`)).body;
    const { meta, items, ...type } = openedList(
      await server.admin.get(`${configMaps}?limit=1`, { accept: binary }),
    );
    expect(type).toEqual({ apiVersion: "v1", kind: "ConfigMapList" });
    expect(meta).toMatchObject({ resourceVersion: json.metadata.resourceVersion });
    expect(meta["remainingItemCount"]).toBe(json.metadata.remainingItemCount);
    expect(items.map(nameOf)).toEqual([json.items[0].metadata.name]);
  });

  it("a large binary list is streamed completely, without being buffered", async () => {
    const text = "x".repeat(100_000);
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "large" } });
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        server.admin.post("/api/v1/namespaces/large/configmaps", map(`m${i}`, { text: text + i })),
      ),
    );
    const { items } = openedList(
      await server.admin.get("/api/v1/namespaces/large/configmaps", { accept: binary }),
    );
    expect(items.map((item) => (item["data"] as { text: string }).text).toSorted()).toEqual(
      Array.from({ length: 60 }, (_, i) => text + i).toSorted(),
    );
  });

  it("an error is binary when the client accepts it, and JSON when no accepted type is supported", async () => {
    const answer = await server.admin.get(`${configMaps}/none`, { accept: binary });
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, binary]);
    expect(decodeMessage(StatusType as never, opened(answer).message)).toMatchObject({
      status: "Failure",
      reason: "NotFound",
      code: 404,
    });
    const refused = await server.admin.get(configMaps, { accept: "text/html" });
    expect([refused.status, refused.body.reason]).toEqual([406, "NotAcceptable"]);
    const table = await server.admin.get(configMaps, {
      accept: `${binary};as=Table;g=meta.platform.io;v=v1`,
    });
    expect(table.status).toBe(406);
  });
});
