import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { PartialObjectMetadata } from "../../src/schema/object-meta.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { ok } from "./support.ts";
import { useServer } from "../support/use-server.ts";
import { configMaps, binary, metadata, map, nameOf, opened, useConfigMap } from "./encodings-support.ts";

const { server } = useConfigMap();

const metadataList = "as=PartialObjectMetadataList;g=meta.platform.io;v=v1";

interface Noted {
  readonly metadata: { readonly annotations?: object };
}

const annotationsOf = ({ metadata }: Noted) => metadata.annotations;

describe("YAML", () => {
  it("YAML: an object, a list and an empty list; a watch is refused, or answered in another accepted type", async () => {
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

  it("a table in YAML equals the table in JSON", async () => {
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

  it("YAML quotes strings that a YAML 1.1 parser would read as another type", async () => {
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

  it("a large object in YAML is written as JSON, alone and in a list", async () => {
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
});

describe("metadata only", () => {
  it("annotations generated from fields appear in the object's metadata only when the whole object is read", async () => {
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

  it("an object, a list and a watch return only metadata", async () => {
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

  it("a PartialObjectMetadata is returned in binary", async () => {
    const answer = await server.admin.get(`${configMaps}/one`, { accept: `${binary};${metadata}` });
    const { message, ...type } = opened(answer);
    expect(type).toEqual({ kind: "PartialObjectMetadata", apiVersion: "meta.platform.io/v1" });
    expect(decodeMessage(PartialObjectMetadata as never, message)).toMatchObject({
      metadata: { name: "one" },
    });
  });
});

describe("encodings", () => {
  it.each([
    ["a better liked form", `application/json;q=0.5, ${binary}`, binary],
    ["equals in their order", `${binary}, application/json`, binary],
    ["a named form before a wildcard", `*/*, ${binary}`, binary],
    ["a form that isn't refused", `${binary};q=0, application/json`, "application/json"],
    ["what can be given", "application/vnd.other, application/yaml", "application/yaml"],
  ])("Accept selects %s", async (_what, accept, type) => {
    const answer = await server.admin.get(`${configMaps}/one`, { accept });
    expect(answer.headers["content-type"]).toBe(type);
  });

  it("pretty=true indents JSON and changes no other encoding", async () => {
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
    ])("%s that is large is compressed when the client accepts gzip", async (_what, path, accept) => {
      const packed = await ask(path, "deflate, gzip;q=0.8", accept);
      const plain = await ask(path, "identity", accept);
      expect(packed.headers["content-encoding"]).toBe("gzip");
      expect(packed.headers["vary"]).toBe("Accept-Encoding");
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 5);
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    });

    it("a small response is not compressed, nor one for a client that doesn't accept gzip", async () => {
      expect((await ask(`${configMaps}/one`, "gzip")).headers["content-encoding"]).toBeUndefined();
      expect((await ask(large, "gzip;q=0")).headers["content-encoding"]).toBeUndefined();
      expect((await ask(large, "br")).headers["content-encoding"]).toBeUndefined();
    });
  });
});

describe("integers beyond the precision of a double", () => {
  const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  const exact = '"n":9007199254740993';
  const raw = (name: string) => `{"metadata":{"name":"${name}"},"revision":1,"data":{${exact},"half":0.5}}`;
  const server = useServer();
  beforeAll(async () => {
    expect((await server.admin.ask("POST", revisions, { raw: raw("one") })).status).toBe(201);
  });

  it("table rows have the whole metadata, including managedFields", async () => {
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

  it("stay exact in free-form fields after every operation", async () => {
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

  it("stay exact in a declared 64-bit field, and are refused beyond 64 bits", async () => {
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
