import { afterAll, beforeAll, expect, test } from "vitest";
import { changeBy, maps, undo, withUndos } from "../api/undo-support.ts";
import { configMap } from "../api/support.ts";
import { AuditedServer } from "./support.ts";

let server: AuditedServer;
beforeAll(async () => {
  server = await AuditedServer.start(
    "rules: [{level: RequestResponse}]\nomitStages: [RequestReceived]",
    withUndos,
  );
});
afterAll(() => server.close());

test("the event of an undo has its objects, and no contents of them", async () => {
  const { admin } = server.api;
  await changeBy(admin, "POST", maps, configMap("audited", { a: "old secret" }));
  const change = await changeBy(admin, "PATCH", `${maps}/audited`, { data: { a: "new secret" } });
  const { status, headers } = await undo(admin, { change });
  expect(status).toBe(201);
  const [event] = await server.events(headers["audit-id"]);
  expect(event).toMatchObject({
    verb: "create",
    objectRef: { resource: "undos" },
    requestObject: { spec: { change } },
    annotations: { "history.platform.io/objects": "update ConfigMap default/audited" },
  });
  const text = JSON.stringify(event);
  expect(text).not.toContain("secret");
  expect(text).not.toContain("responseObject");
});
