import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const space = "/api/v1/namespaces/default";

describe("a request for a subresource has the name of its object", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await server.admin.post(`${space}/serviceaccounts`, { metadata: { name: "robot" } });
    const containers = [{ name: "c", image: "i" }];
    await server.admin.post(`${space}/pods`, {
      metadata: { name: "web" },
      spec: { serviceAccountName: "robot", containers },
    });
  });
  afterAll(() => server.close());

  it.each([
    ["binding", {}],
    ["binding", { target: { kind: "Node", name: "n" } }],
    ["binding", { metadata: { name: "other" }, target: { kind: "Node", name: "n" } }],
    ["eviction", {}],
    ["eviction", { metadata: { name: "other" } }],
  ])("a %s of %j is 400", async (subresource, body) => {
    const answer = await server.admin.post(`${space}/pods/web/${subresource}?dryRun=All`, body);
    expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
    expect(answer.body.message).toContain("name in URL does not match name in");
  });

  it("a token request may omit the name, and is 422 with another one", async () => {
    const path = `${space}/serviceaccounts/robot/token`;
    expect((await server.admin.post(path, {})).status).toBe(201);
    const { status, body } = await server.admin.post(path, { metadata: { name: "other" } });
    expect([status, body.reason]).toEqual([422, "Invalid"]);
    expect(body.details).toMatchObject({
      kind: "TokenRequest",
      name: "robot",
      causes: [{ reason: "FieldValueInvalid", field: "metadata.name" }],
    });
  });
});
