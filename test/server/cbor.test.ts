import { describe, expect, it } from "vitest";
import { decodeCbor } from "../../src/base/cbor/decode-cbor.ts";
import { encodeCbor } from "../../src/base/cbor/encode-cbor.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import type { Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { ok } from "../api/support.ts";

const cbor = "application/cbor";
const apply = "application/apply-patch+cbor";
const secrets = "/api/v1/namespaces/default/secrets";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Bytes are base64 in the value. */
const valueOf = ({ bytes }: Pick<Answer, "bytes">): JsonValue => {
  expect(bytes.subarray(0, 3).toString("hex")).toBe("d9d9f7");
  return decodeCbor(bytes);
};
const inCbor = (value: object) => ({ raw: encodeCbor(value as JsonValue), contentType: cbor, accept: cbor });

describe("a server with the gate CBORServingAndStorage", () => {
  const server = useServer({ release: "1.37", featureGates: "CBORServingAndStorage=true" });

  it("loads the encodings for media types in capitals", async () => {
    const answer = await ok(server.admin.get(secrets, { accept: "Application/CBOR" }));
    expect(valueOf(answer)).toMatchObject({ kind: "SecretList" });
    const inYaml = await ok(server.admin.get(secrets, { accept: "Application/YAML" }));
    expect(inYaml.headers["content-type"]).toBe("application/yaml");
  });

  it("creates, reads, updates and lists objects in CBOR, which are the same in JSON", async () => {
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "AQID" } };
    const created = await ok(server.admin.post(secrets, undefined, inCbor(object)));
    expect(created.headers["content-type"]).toBe(cbor);
    expect(created.bytes.includes(Buffer.from("4161d643010203", "hex"))).toBe(true);
    const updated = { ...(valueOf(created) as object), data: { a: "BAU=" } };
    await ok(server.admin.put(`${secrets}/s`, undefined, inCbor(updated)));
    const one = await ok(server.admin.get(`${secrets}/s`, { accept: cbor }));
    const inJson = await ok(server.admin.get(`${secrets}/s`));
    expect(valueOf(one)).toEqual(inJson.body);
    expect(inJson.body.data).toEqual({ a: "BAU=" });
    for (const query of ["", "?limit=1", "?labelSelector=none%3Dsuch"]) {
      const list = valueOf(await ok(server.admin.get(`${secrets}${query}`, { accept: cbor })));
      expect(list).toEqual((await server.admin.get(`${secrets}${query}`)).body);
    }
    const accept = `${cbor};as=PartialObjectMetadata;g=meta.platform.io;v=v1`;
    const partial = await ok(server.admin.get(`${secrets}/s`, { accept }));
    expect(valueOf(partial)).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "s" } });
  });

  it("applies configurations in CBOR and reads options of deletions", async () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data: { a: "1" } };
    const request = { ...inCbor(object), contentType: apply };
    const target = `${configMaps}/applied?fieldManager=m`;
    const created = await server.admin.ask("PATCH", target, request);
    expect(created.status).toBe(201);
    expect(valueOf(created)).toMatchObject({ data: { a: "1" } });
    expect((await server.admin.ask("PATCH", target, request)).status).toBe(200);
    const wrong = inCbor({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Nope" });
    expect((await server.admin.delete(`${configMaps}/applied`, wrong)).status).toBe(422);
    await ok(
      server.admin.delete(`${configMaps}/applied`, inCbor({ apiVersion: "v1", kind: "DeleteOptions" })),
    );
  });

  it("applies bytes by their media type if they are different objects in YAML and CBOR", async () => {
    const inYaml =
      ": 1\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: twofold}\ndata: {a: yaml}\n#".padEnd(0x7a);
    // A map in a tag; its first key has the YAML. The other members are a comment there.
    const bytes = Buffer.concat([
      Buffer.from("c9a5787a", "hex"),
      Buffer.from(`${inYaml}\x60japiVersionbv1dkindiConfigMap`, "latin1"),
      Buffer.from("hmetadata\xc9\xa1dnamegtwofoldddata\xc9\xa1aadcbor", "latin1"),
    ]);
    const applied = async (contentType: string) => {
      const target = `${configMaps}/twofold?fieldManager=m&fieldValidation=Ignore`;
      return (await ok(server.admin.ask("PATCH", target, { raw: bytes, contentType }))).body.data;
    };
    const yaml = "application/apply-patch+yaml";
    for (let count = 0; count < 3; count++) expect(await applied(yaml)).toEqual({ a: "yaml" });
    for (let count = 0; count < 3; count++) expect(await applied(apply)).toEqual({ a: "cbor" });
  });

  it("watches in a sequence of CBOR items, and ends with a Status in CBOR", async () => {
    const path = `${secrets}?watch=true&timeoutSeconds=1`;
    const watch = await server.admin.get(`${path}&fieldSelector=metadata.name%3Ds`, { accept: cbor });
    expect(watch.headers["content-type"]).toBe("application/cbor-seq");
    expect(valueOf(watch)).toMatchObject({
      type: "ADDED",
      object: { kind: "Secret", metadata: { name: "s" } },
    });
    const missing = await server.admin.get(`${secrets}/missing`, { accept: cbor });
    expect(valueOf(missing)).toMatchObject({ kind: "Status", reason: "NotFound", code: 404 });
  });

  it("serves discovery in CBOR; OpenAPI names the media types", async () => {
    for (const path of ["/api", "/apis", "/api/v1", "/apis/apps"]) {
      const document = valueOf(await ok(server.admin.get(path, { accept: cbor })));
      expect(document).toEqual((await server.admin.get(path)).body);
    }
    const { paths } = (await ok(server.admin.get("/openapi/v2"))).body;
    expect(paths["/api/v1/namespaces/{namespace}/secrets"].get.produces).toEqual(
      expect.arrayContaining([cbor, "application/cbor-seq"]),
    );
    expect(paths["/api/v1/namespaces/{namespace}/secrets/{name}"].patch.consumes).toContain(apply);
  });

  it("rejects tables, malformed bodies, duplicate keys, and unknown fields if strict", async () => {
    const table = `${cbor};as=Table;g=meta.platform.io;v=v1`;
    expect((await server.admin.get(secrets, { accept: table })).status).toBe(406);
    const post = (raw: Buffer, query = "") =>
      server.admin.post(`${secrets}${query}`, undefined, { raw, contentType: cbor });
    expect((await post(Buffer.from("a1", "hex"))).status).toBe(400);
    const twice = await post(Buffer.from("a24464617461a04464617461a0", "hex"), "?fieldValidation=Ignore");
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('"data" is duplicate')]);
    const unknown = encodeCbor({ metadata: { name: "u" }, nope: 1 });
    expect((await post(unknown, "?fieldValidation=Strict&dryRun=All")).status).toBe(400);
    expect((await post(unknown, "?fieldValidation=Warn&dryRun=All")).warnings).toEqual([
      expect.stringContaining("nope"),
    ]);
  });
});

describe.each(["1.26", "1.37"] as const)("a server of release %s without the gate", (release) => {
  const server = useServer({ release });

  it("refuses CBOR", async () => {
    expect((await server.admin.get(secrets, { accept: cbor })).status).toBe(406);
    const body = await server.admin.post(secrets, undefined, {
      ...inCbor({ metadata: { name: "s" } }),
      accept: "application/json",
    });
    expect(body.status).toBe(415);
    expect(body.text).not.toContain("protobuf, application/cbor");
    const applied = { raw: encodeCbor({}), contentType: apply };
    expect((await server.admin.ask("PATCH", `${configMaps}/a?fieldManager=m`, applied)).status).toBe(415);
  });
});
