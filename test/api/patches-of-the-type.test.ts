import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const path = "/api/v1/namespaces/default/configmaps/one";

describe("a patch of kind and apiVersion", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await server.admin.post("/api/v1/namespaces/default/configmaps", {
      metadata: { name: "one" },
      data: { a: "1" },
    });
  });
  afterAll(() => server.close());

  it.each<["merge" | "json", unknown]>([
    ["merge", { kind: "Secret" }],
    ["merge", { apiVersion: "v2" }],
    ["json", [{ op: "replace", path: "/kind", value: "Secret" }]],
    ["json", [{ op: "add", path: "/apiVersion", value: "apps/v1" }]],
  ])("%s %j: is 422 when the result has another kind or version", async (kind, patch) => {
    const { status, body } = await server.admin.patch(path, patch, kind);
    expect([status, body.reason]).toEqual([422, "Invalid"]);
    expect(body.details).toMatchObject({ causes: [{ reason: "FieldValueInvalid", field: "patch" }] });
    expect((await server.admin.get(path)).body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1" });
  });

  it("is ignored in a strategic merge patch", async () => {
    const patch = { kind: "Secret", apiVersion: "v2", data: { b: "2" } };
    const { status, body } = await server.admin.patch(path, patch, "strategic");
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { a: "1", b: "2" } });
  });

  it("may set them to null", async () => {
    const { status } = await server.admin.patch(path, { kind: null, apiVersion: null, data: { c: "3" } });
    expect(status).toBe(200);
  });
});
