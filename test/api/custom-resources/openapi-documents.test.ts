import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ok } from "../support.ts";
import { temporaryFolder } from "../../storage/support.ts";
import { engineOf, TestServer, type Answer } from "../../support/api.ts";
import { definition, definitions, group, served, version } from "./support.ts";

const binary = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const folder = temporaryFolder();
const storage = { engine: "embedded", dir: path.join(folder.path, "data") } as const;
const start = (): Promise<TestServer> => TestServer.start({ storage, enabledControllers: [] });

let server: TestServer;
beforeAll(async () => {
  server = await start();
  for (const name of ["other", "good"]) {
    const kind = name[0]!.toUpperCase() + name.slice(1);
    await served(server.admin, definition({}, `${name}s`, kind));
  }
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const nameOf = (kind: string): string => `com.example.shop.v1.${kind}`;
const document = (accept = "application/json", tag = ""): Promise<Answer> =>
  server.admin.get("/openapi/v2", { accept, headers: tag === "" ? {} : { "if-none-match": tag } });
const tagOf = ({ headers }: Answer): string => headers.etag!;

test("a request with the current ETag gets 304 when nothing changed, also from another server with the same data", async () => {
  for (const accept of ["application/json", binary]) {
    const first = await document(accept);
    expect((await document(accept, tagOf(first))).status).toBe(304);
    await server.close();
    server = await start();
    expect((await document(accept, tagOf(first))).status).toBe(304);
    const again = await document(accept);
    expect(again.bytes.equals(first.bytes)).toBe(true);
  }
});

test("the document changes when a definition is changed, created or deleted", async () => {
  const before = await document();
  const schema = { openAPIV3Schema: { type: "object", properties: { fresh: { type: "string" } } } };
  const versions = [version("v1", { schema })];
  await ok(server.admin.patch(`${definitions}/others.${group}`, { spec: { versions } }));
  const changed = await document("application/json", tagOf(before));
  expect([changed.status, Object.keys(changed.body.definitions[nameOf("Other")].properties)]).toEqual([
    200,
    ["apiVersion", "fresh", "kind", "metadata"],
  ]);
  await served(server.admin, definition({}, "lates", "Late"));
  const more = await document("application/json", tagOf(changed));
  expect([more.status, Object.hasOwn(more.body.definitions, nameOf("Late"))]).toEqual([200, true]);
  await ok(server.admin.delete(`${definitions}/lates.${group}`));
  await expect
    .poll(async () => Object.hasOwn((await document()).body.definitions, nameOf("Late")))
    .toBe(false);
});

test("a definition that can't be described is left out of every document, and no other is", async () => {
  await served(server.admin, definition({}, "faultys", "Faulty"));
  const resource = engineOf(server).registry.find(group, "v1", "faultys")!;
  Object.assign(resource.kind.custom!, {
    schema: () => {
      throw new Error("this schema can't be read");
    },
  });
  const v2 = await document();
  const v3 = await server.admin.get(`/openapi/v3/apis/${group}/v1`);
  expect([v2.status, v3.status]).toEqual([200, 200]);
  for (const named of [v2.body.definitions, v3.body.components.schemas]) {
    expect(
      [nameOf("Faulty"), nameOf("FaultyList"), nameOf("Good"), nameOf("Other")].map((one) =>
        Object.hasOwn(named, one),
      ),
    ).toEqual([false, false, true, true]);
  }
  for (const { body } of [v2, v3]) {
    const paths = Object.keys(body.paths);
    expect(paths.some((one) => one.includes("faultys"))).toBe(false);
    expect(paths.some((one) => one.includes("goods"))).toBe(true);
    const references = [
      ...JSON.stringify(body).matchAll(/"\$ref":"#\/(?:definitions|components\/schemas)\/([^"]+)"/g),
    ];
    const known = body.definitions ?? body.components.schemas;
    expect(references.filter(([, name]) => !Object.hasOwn(known, name!))).toEqual([]);
  }
  const inBinary = await document(binary);
  expect([
    inBinary.status,
    inBinary.bytes.includes(nameOf("Good")),
    inBinary.bytes.includes(nameOf("Faulty")),
  ]).toEqual([200, true, false]);
});
