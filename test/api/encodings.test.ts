import { gunzipSync } from "node:zlib";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { ProtobufEncoding } from "../../src/http/encodings/protobuf.ts";
import { wholeView } from "../../src/http/encodings/view.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { resourceOf } from "../../src/resources/registry/registry.ts";
import { ListMeta, PartialObjectMetadata } from "../../src/schema/object-meta.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { openEnvelope, sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { StatusType } from "../../src/schema/status-type.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ok } from "./support.ts";
import { TestServer, type Answer } from "../support/api.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const binary = "application/vnd.platform.protobuf";
const metadata = "as=PartialObjectMetadata;g=meta.platform.io;v=v1";
const metadataList = "as=PartialObjectMetadataList;g=meta.platform.io;v=v1";

const mapType = { apiVersion: "v1", kind: "ConfigMap" };
const map = (name: string, data: Record<string, string> = { a: "1" }) => ({ metadata: { name }, data });
const inBinary = (object: object) =>
  sealEnvelope(mapType, encodeMessage(ConfigMap.type, object as Record<string, unknown>));

const nameOf = (item: object) => (item as { metadata: { name: string } }).metadata.name;

/** What a binary answer says, by the type that its envelope names. */
function opened({ bytes }: Pick<Answer, "bytes">) {
  const { apiVersion, kind, message } = openEnvelope(bytes);
  return { apiVersion, kind, message };
}

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

/** The events of a binary watch so far. */
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

it("a frame of a binary watch tells a failure, and how far the watch has come", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  const encoding = new ProtobufEncoding(wholeView(resourceOf(ConfigMap, platform), context), binary);
  const status = { status: "Failure", message: "too old", reason: "Expired", code: 410 };
  const [failure] = framesOf(Buffer.from(encoding.error(status)));
  expect([failure!.type, failure!.kind]).toEqual(["ERROR", "Status"]);
  expect(decodeMessage(StatusType as never, failure!.message)).toMatchObject(status);
  const [bookmark] = framesOf(Buffer.from(encoding.bookmark("17")));
  expect([bookmark!.type, bookmark!.kind]).toEqual(["BOOKMARK", "ConfigMap"]);
  expect(decodeMessage(ConfigMap.type, bookmark!.message)).toMatchObject({
    metadata: { resourceVersion: "17" },
  });
});

interface Noted {
  readonly metadata: { readonly annotations?: object };
}
const annotationsOf = ({ metadata }: Noted) => metadata.annotations;

describe("encodings", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await server.admin.post(configMaps, map("one", { a: "1", b: "grüße" }));
  });
  afterAll(() => server.close());

  it("C-2.12-01 C-2.12-02 C-2.12-03 C-4.7-04 C-4.7-08 GET in binary", async () => {
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

  it("an object that is read in binary again and again is told as it is after each change, and in each version", async () => {
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

  it("C-4.7-05 a client that speaks only binary creates, replaces, lists, watches and deletes", async () => {
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

  it("C-9.1-08 a binary list has the items and the metadata of the JSON one", async () => {
    const json = (await server.admin.get(`${configMaps}?limit=1`)).body;
    const { meta, items, ...type } = openedList(
      await server.admin.get(`${configMaps}?limit=1`, { accept: binary }),
    );
    expect(type).toEqual({ apiVersion: "v1", kind: "ConfigMapList" });
    expect(meta).toMatchObject({ resourceVersion: json.metadata.resourceVersion });
    expect(meta["remainingItemCount"]).toBe(json.metadata.remainingItemCount);
    expect(items.map(nameOf)).toEqual([json.items[0].metadata.name]);
  });

  it("a binary list of any size is sent whole, without being held whole", async () => {
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

  it("a failure is told in binary to whoever asks for that, and in JSON to whoever can't be served", async () => {
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

  it.each([
    ["a better liked form", `application/json;q=0.5, ${binary}`, binary],
    ["equals in their order", `${binary}, application/json`, binary],
    ["a named form before a wildcard", `*/*, ${binary}`, binary],
    ["a form that isn't refused", `${binary};q=0, application/json`, "application/json"],
    ["what can be given", "application/vnd.other, application/yaml", "application/yaml"],
  ])("Accept takes %s", async (_what, accept, type) => {
    const answer = await server.admin.get(`${configMaps}/one`, { accept });
    expect(answer.headers["content-type"]).toBe(type);
  });

  it("YAML: an object, a list, an empty list; a watch is refused, or answered in what is asked for beside it", async () => {
    const accept = "application/yaml";
    const one = await server.admin.get(`${configMaps}/one`, { accept });
    expect(one.headers["content-type"]).toBe("application/yaml");
    expect(parseYaml(one.text)).toEqual((await server.admin.get(`${configMaps}/one`)).body);
    const list = await server.admin.get(configMaps, { accept });
    expect(parseYaml(list.text)).toEqual((await server.admin.get(configMaps)).body);
    const empty = await server.admin.get("/api/v1/namespaces/nowhere/configmaps", { accept });
    expect(parseYaml(empty.text)).toMatchObject({ kind: "ConfigMapList", items: [] });
    for (const form of [accept, `${accept};as=Table;g=meta.platform.io;v=v1`]) {
      const watch = await server.admin.get(`${configMaps}?watch=true&timeoutSeconds=1`, { accept: form });
      expect(watch.status).toBe(406);
    }
    const both = await server.admin.watch(`${configMaps}?watch=true`, {
      accept: `${accept}, application/json`,
    });
    expect(both.headers["content-type"]).toBe("application/json");
    expect(await both.next()).toMatchObject({ type: "ADDED", object: { kind: "ConfigMap" } });
    both.close();
  });

  it("an annotation that stands for a field is the whole object's, not its metadata's", async () => {
    const sets = "/apis/apps/v1/namespaces/default/daemonsets";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    for (const [name, annotations] of [
      ["plain", {}],
      ["noted", { own: "1" }],
    ] as const)
      await ok(server.admin.post(sets, { metadata: { name, annotations }, spec }));
    const annotation = "deprecated.daemonset.template.generation";
    expect((await server.admin.get(`${sets}/plain`)).body.metadata.annotations).toEqual({
      [annotation]: "1",
    });
    const of = (what: string) => `application/json;as=${what};g=meta.platform.io;v=v1`;
    const shown = async (place: string, accept: string) => (await server.admin.get(place, { accept })).body;
    const list = await shown(sets, of("PartialObjectMetadataList"));
    expect(list.items.map(annotationsOf)).toEqual([{ own: "1" }, undefined]);
    const { rows } = await shown(sets, of("Table"));
    expect(rows.map(({ object }: { object: Noted }) => annotationsOf(object))).toEqual([
      { own: "1" },
      undefined,
    ]);
    expect(annotationsOf(await shown(`${sets}/plain`, of("PartialObjectMetadata")))).toBeUndefined();
    const whole = await shown(`${sets}?includeObject=Object`, of("Table"));
    expect(annotationsOf(whole.rows[1].object)).toEqual({ [annotation]: "1" });
  });

  it("a table in YAML says what the one in JSON says", async () => {
    const as = "as=Table;g=meta.platform.io;v=v1";
    for (const place of [configMaps, `${configMaps}/one`, `${configMaps}?labelSelector=none=such`]) {
      const inYaml = await server.admin.get(place, { accept: `application/yaml;${as}` });
      const inJson = await server.admin.get(place, { accept: `application/json;${as}` });
      expect([inYaml.status, inYaml.headers["content-type"]]).toEqual([200, "application/yaml"]);
      expect(inJson.body.kind).toBe("Table");
      const ages = (text: string) => text.replaceAll(/"\d+s"/g, '"age"');
      expect(JSON.parse(ages(JSON.stringify(parseYaml(inYaml.text))))).toEqual(
        JSON.parse(ages(JSON.stringify(inJson.body))),
      );
    }
  });

  it("YAML keeps texts that older readers would take for something else", async () => {
    const data = { yes: "yes", number: "0123", time: "2001-01-01", empty: "", lines: "a\nb\n", tilde: "~" };
    await server.admin.post(configMaps, map("texts", data));
    const { text } = await server.admin.get(`${configMaps}/texts`, { accept: "application/yaml" });
    expect(parseYaml(text, { version: "1.1" }).data).toEqual(data);
    const again = await server.admin.ask("PUT", `${configMaps}/texts`, {
      raw: text,
      contentType: "application/yaml",
    });
    expect(again.body.data).toEqual(data);
  });

  it("YAML of a large object is JSON, which is YAML, alone and in a list", async () => {
    const place = "/api/v1/namespaces/plain/configmaps";
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "plain" } });
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, `value ${i}`]));
    await server.admin.post(place, map("big", data));
    await server.admin.post(place, map("small"));
    const accept = "application/yaml";
    expect(parseYaml((await server.admin.get(`${place}/big`, { accept })).text).data).toEqual(data);
    const list = parseYaml((await server.admin.get(place, { accept })).text);
    expect(list.items.map(nameOf)).toEqual(["big", "small"]);
    expect(list.items[0].data).toEqual(data);
  });

  it("only the metadata, of an object, a list and a watch", async () => {
    const accept = `application/json;${metadata}`;
    const { body } = await server.admin.get(`${configMaps}/one`, { accept });
    const whole = (await server.admin.get(`${configMaps}/one`)).body;
    const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.platform.io/v1" };
    expect(body).toEqual({ ...partial, metadata: whole.metadata });
    const list = (await server.admin.get(configMaps, { accept: `application/json;${metadataList}` })).body;
    expect(list).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.platform.io/v1" });
    expect(list.items.find((item: object) => nameOf(item) === "one")).toEqual(body);
    const watch = await server.admin.get(`${configMaps}?watch=true&timeoutSeconds=1`, { accept });
    const events = watch.text.trimEnd().split("\n");
    expect(
      events.map((line) => JSON.parse(line)).find(({ object }) => object.metadata.name === "one"),
    ).toEqual({
      type: "ADDED",
      object: body,
    });
  });

  it("only the metadata in binary", async () => {
    const answer = await server.admin.get(`${configMaps}/one`, { accept: `${binary};${metadata}` });
    const { message, ...type } = opened(answer);
    expect(type).toEqual({ kind: "PartialObjectMetadata", apiVersion: "meta.platform.io/v1" });
    expect(decodeMessage(PartialObjectMetadata as never, message)).toMatchObject({
      metadata: { name: "one" },
    });
  });

  it("pretty lays JSON out, and nothing else", async () => {
    const { text } = await server.admin.get(`${configMaps}/one?pretty=true`);
    expect(text.split("\n").length).toBeGreaterThan(5);
    const answer = await server.admin.get(`${configMaps}/one?pretty=true`, { accept: binary });
    expect(opened(answer).kind).toBe("ConfigMap");
  });

  describe("compression", () => {
    const large = "/api/v1/namespaces/packed/configmaps";
    const ask = (path: string, encoding: string, accept = "application/json") =>
      server.admin.get(path, { headers: { "accept-encoding": encoding }, accept });
    beforeAll(async () => {
      await server.admin.post("/api/v1/namespaces", { metadata: { name: "packed" } });
      for (let i = 0; i < 5; i++) {
        await server.admin.post(large, map(`m${i}`, { text: "word ".repeat(40_000) }));
      }
    });

    it.each([
      ["one object", `${large}/m1`, "application/json"],
      ["a list", large, "application/json"],
      ["a binary list", large, binary],
      ["a list in YAML", large, "application/yaml"],
    ])("%s of many bytes is compressed for a client that takes that", async (_what, path, accept) => {
      const packed = await ask(path, "deflate, gzip;q=0.8", accept);
      const plain = await ask(path, "identity", accept);
      expect(packed.headers["content-encoding"]).toBe("gzip");
      expect(packed.headers["vary"]).toBe("Accept-Encoding");
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 5);
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    });

    it("a small answer isn't compressed, nor one for a client that doesn't take that", async () => {
      expect((await ask(`${configMaps}/one`, "gzip")).headers["content-encoding"]).toBeUndefined();
      expect((await ask(large, "gzip;q=0")).headers["content-encoding"]).toBeUndefined();
      expect((await ask(large, "br")).headers["content-encoding"]).toBeUndefined();
    });
  });
});

describe("numbers that a double can't hold", () => {
  const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  const exact = '"n":9007199254740993';
  const raw = (name: string) => `{"metadata":{"name":"${name}"},"revision":1,"data":{${exact},"half":0.5}}`;
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    expect((await server.admin.ask("POST", revisions, { raw: raw("one") })).status).toBe(201);
  });
  afterAll(() => server.close());

  it("rows of a table carry the whole metadata, also of who owns what", async () => {
    const asTable = "application/json;as=Table;g=meta.platform.io;v=v1";
    const create = await server.admin.post(configMaps, map("owned-row"));
    expect(create.status).toBe(201);
    const list = (await server.admin.get(configMaps)).body as {
      items: { metadata: { managedFields?: object[] } }[];
    };
    const tables = await Promise.all(
      ["", "?includeObject=Object", "?limit=500"].map((query) =>
        server.admin.ask("GET", configMaps + query, { accept: asTable }),
      ),
    );
    for (const { body } of tables) {
      const { rows } = body as unknown as { rows: { object: { metadata: object } }[] };
      expect(rows.map(({ object }) => object.metadata)).toEqual(list.items.map(({ metadata: meta }) => meta));
    }
    expect(list.items.every(({ metadata: meta }) => meta.managedFields !== undefined)).toBe(true);
  });

  it("stay what they are in free-form fields, whatever is done to the object", async () => {
    const merge = "application/merge-patch+json";
    const place = `${revisions}/one`;
    const patched = await server.admin.ask("PATCH", place, {
      raw: '{"metadata":{"labels":{"a":"b"}}}',
      contentType: merge,
    });
    expect(patched.text).toContain(exact);
    expect((await server.admin.get(`${place}?pretty=true`)).text).toContain('"n": 9007199254740993');
    expect((await server.admin.get(place, { accept: "application/yaml" })).text).toContain(
      '"n": 9007199254740993',
    );
    const accept = "application/json;as=Table;g=meta.platform.io;v=v1";
    expect((await server.admin.get(`${place}?includeObject=Object`, { accept })).text).toContain(exact);
    expect((await server.admin.get(`${revisions}?includeObject=Object`, { accept })).text).toContain(exact);
    const inBinary = await server.admin.get(place, { accept: binary });
    const again = await server.admin.ask("PUT", place, { raw: inBinary.bytes, contentType: binary });
    expect([again.status, again.text.includes(exact)]).toEqual([200, true]);
  });

  it("stay exact in a declared field of 64 bits, and are refused when they have more", async () => {
    const create = (revision: string) =>
      server.admin.ask("POST", revisions, {
        raw: `{"metadata":{"name":"two"},"data":{},"revision":${revision}}`,
      });
    const over = await create("9223372036854775808");
    expect([over.status, over.body.message]).toEqual([
      400,
      expect.stringContaining("revision: expected a 64-bit integer, got 9223372036854775808"),
    ]);
    expect((await create("9007199254740993")).text).toContain('"revision":9007199254740993');
    const accept = "application/json;as=Table;g=meta.platform.io;v=v1";
    const { text } = await server.admin.get(`${revisions}/two`, { accept });
    expect(text).toContain('"cells":["two","<none>",9007199254740993,');
    const inBinary = await server.admin.get(`${revisions}/two`, { accept: binary });
    const put = await server.admin.ask("PUT", `${revisions}/two`, {
      raw: inBinary.bytes,
      contentType: binary,
    });
    expect([put.status, put.text.includes('"revision":9007199254740993')]).toEqual([200, true]);
  });
});
