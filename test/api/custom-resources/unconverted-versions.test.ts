import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, group, served } from "./support.ts";

const server = useServer();

const text = { type: "string" };
const schemaOf = (spec: object) => ({
  openAPIV3Schema: { type: "object", properties: { spec: { type: "object", ...spec } } },
});
const apply = (path: string, body: object) =>
  server.admin.ask("PATCH", `${path}?fieldManager=m`, { body, contentType: "application/apply-patch+yaml" });
let count = 0;

/** Serves a kind without conversion, whose versions v1 and v2 (stored) have different fields. */
async function notes(v1: object, v2: object, more: object = {}) {
  const plural = `note${++count}s`;
  const versions = [
    { name: "v1", served: true, storage: false, schema: schemaOf(v1), ...more },
    { name: "v2", served: true, storage: true, schema: schemaOf(v2) },
  ];
  const path = await served(server.admin, definition({ versions }, plural, `Note${count}`) as never);
  const note = (version: string, name: string, spec: object, metadata: object = {}) => ({
    apiVersion: `${group}/${version}`,
    kind: `Note${count}`,
    metadata: { name, ...metadata },
    spec,
  });
  return { v1: path, v2: path.replace("/v1/", "/v2/"), note };
}

describe("versions with different schemas and the strategy None", () => {
  const owner = { required: ["owner"], properties: { owner: text, same: text } };
  const owners = { properties: { owners: { ...text, default: "nobody" }, same: text } };

  test("an object is validated by the schema of its version before the stored version drops fields", async () => {
    const { v1, v2, note } = await notes(owner, owners);
    const made = await server.admin.post(v1, note("v1", "a", { owner: "o", same: "s" }));
    expect([made.status, made.body.apiVersion, made.body.spec]).toEqual([201, `${group}/v1`, { same: "s" }]);
    expect((await server.admin.get(`${v2}/a`)).body.spec).toEqual({ owners: "nobody", same: "s" });
    const applied = await apply(`${v1}/b`, note("v1", "b", { owner: "o" }));
    expect(applied.status).toBe(201);
    const refused = await server.admin.post(v1, note("v1", "c", { same: "s" }));
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, "spec.owner"]);
    const update = await server.admin.put(
      `${v1}/a`,
      note("v1", "a", { owner: "p", same: "t" }, made.body.metadata),
    );
    expect([update.status, update.body.spec]).toEqual([200, { same: "t" }]);
    const patch = await server.admin.patch(`${v1}/a`, { spec: { same: "u" } });
    expect([patch.status, patch.body.details.causes[0].field]).toEqual([422, "spec.owner"]);
  });

  test("rules and limits of one version don't apply to writes in another", async () => {
    const { v1, v2, note } = await notes(
      { properties: { same: { ...text, maxLength: 3 } } },
      { properties: { same: { ...text, maxLength: 5 } } },
    );
    expect((await server.admin.post(v1, note("v1", "a", { same: "1234" }))).status).toBe(422);
    await ok(server.admin.post(v2, note("v2", "a", { same: "1234" })));
    expect((await server.admin.post(v2, note("v2", "b", { same: "123456" }))).status).toBe(422);
    expect((await server.admin.get(`${v1}/a`)).body.spec).toEqual({ same: "1234" });
  });

  test("the subresource status is that of the version of the request", async () => {
    const state = { properties: { same: text } };
    const { v1, v2, note } = await notes(state, state, { subresources: { status: {} } });
    await ok(server.admin.post(v2, note("v2", "a", { same: "s" })));
    expect((await server.admin.get(`${v1}/a/status`)).status).toBe(200);
    expect((await server.admin.get(`${v2}/a/status`)).status).toBe(404);
  });

  test("lists by label, tables and watches show the objects in the version of the request", async () => {
    const { v1, v2, note } = await notes(owner, owners);
    const revision = (await server.admin.get(v1)).body.metadata.resourceVersion;
    await ok(server.admin.post(v2, note("v2", "a", { owners: "x", same: "s" }, { labels: { a: "1" } })));
    await ok(server.admin.post(v2, note("v2", "b", { same: "t" })));
    const list = await server.admin.get(`${v1}?labelSelector=a=1`);
    expect(
      list.body.items.map(({ apiVersion, spec }: { apiVersion: string; spec: object }) => [apiVersion, spec]),
    ).toEqual([[`${group}/v1`, { same: "s" }]]);
    const events = await server.admin.get(`${v1}?watch=true&timeoutSeconds=1&resourceVersion=${revision}`);
    const specs = events.text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { object: { spec: object } }).object.spec);
    expect(specs).toEqual([{ same: "s" }, { same: "t" }]);
  });
});
