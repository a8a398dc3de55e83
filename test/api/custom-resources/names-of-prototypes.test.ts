import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { definition, group, order, served, version } from "./support.ts";

const server = useServer({ enabledControllers: [] });

/** Names of members that every plain object inherits. */
const names = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];

describe.each(names)("a definition with the name %s", (name) => {
  const plural = `p${name.toLowerCase().replaceAll("_", "")}s`;
  const kind = `P${plural.slice(1, -1)}`;
  const item = {
    type: "object",
    required: [name],
    properties: JSON.parse(`{"${name}":{"type":"string"},"value":{"type":"string"}}`),
  };
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          text: { type: "string", format: name },
          list: {
            type: "array",
            "x-platform-list-type": "map",
            "x-platform-list-map-keys": [name],
            items: item,
          },
          replicas: JSON.parse(`{"type":"object","properties":{"${name}":{"type":"integer"}}}`),
        },
      },
      status: { type: "object", properties: { replicas: { type: "integer" } } },
    },
  };
  const scale = { specReplicasPath: `.spec.replicas.${name}`, statusReplicasPath: ".status.replicas" };
  let path: string;
  beforeAll(async () => {
    const versions = [version("v1", { schema: { openAPIV3Schema: schema }, subresources: { scale } })];
    path = await served(server.admin, definition({ versions }, plural, kind));
  });

  test("as a format accepts every string", async () => {
    const { status } = await server.admin.post(path, order("text", { text: "any" }, { kind }));
    expect(status).toBe(201);
  });

  test("as a list key identifies items, and items without it are rejected on apply", async () => {
    const apply = (items: string) =>
      server.admin.ask("PATCH", `${path}/list?fieldManager=m`, {
        contentType: "application/apply-patch+yaml",
        raw: `{"apiVersion":"${group}/v1","kind":"${kind}","metadata":{"name":"list"},"spec":{"list":[${items}]}}`,
      });
    const { status, body } = await apply(`{"${name}":"a","value":"1"},{"${name}":"b"}`);
    expect([status, body.spec?.list.length]).toEqual([201, 2]);
    const fields = JSON.stringify(body.metadata.managedFields[0].fieldsV1);
    expect(fields).toContain(String.raw`k:{\"${name}\":\"a\"}`);
    const without = await apply(`{"value":"1"}`);
    expect([without.status < 500, without.status >= 400]).toEqual([true, true]);
  });

  test("as a path of the scale is read and applied only there", async () => {
    await server.admin.post(path, order("scaled", {}, { kind }));
    // No count is set, nor taken from the prototype.
    expect((await server.admin.get(`${path}/scaled/scale`)).status).toBe(500);
    const body = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "scaled" },
      spec: { replicas: 2 },
    };
    const options = { contentType: "application/apply-patch+yaml", body };
    const { status } = await server.admin.ask("PATCH", `${path}/scaled/scale?fieldManager=m`, options);
    expect(status).toBe(200);
    expect((await server.admin.get(`${path}/scaled/scale`)).body.spec).toEqual({ replicas: 2 });
  });
});
