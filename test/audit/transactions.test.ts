import { afterAll, beforeAll, expect, test } from "vitest";
import { map, transact, transactionsPath, withTransactions } from "../api/transactions-support.ts";
import { AuditedServer } from "./support.ts";

let server: AuditedServer;
beforeAll(async () => {
  server = await AuditedServer.start(
    "rules: [{level: RequestResponse}]\nomitStages: [RequestReceived]",
    withTransactions,
  );
});
afterAll(() => server.close());

test("the event of a transaction has its operations and their results, and no contents of objects", async () => {
  const { api } = server;
  const { status, headers, body } = await transact(api.admin, [
    { verb: "create", object: map("audited", { text: "very secret" }) },
    {
      verb: "patch",
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "default",
      name: "audited",
      patchType: "application/merge-patch+json",
      patch: { data: { more: "also secret" } },
    },
  ]);
  expect([status, body.status.results[1].object.data.more]).toEqual([201, "also secret"]);
  const [event] = await server.events(headers["audit-id"]);
  expect(event).toMatchObject({
    verb: "create",
    objectRef: { resource: "transactions" },
    requestObject: {
      spec: {
        operations: [
          { verb: "create", apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "audited" },
          { verb: "patch", kind: "ConfigMap", namespace: "default", name: "audited" },
        ],
      },
    },
    annotations: {
      "transactions.platform.io/operations":
        'create configmaps "audited" in namespace "default": 201; patch configmaps "audited" in namespace "default": 200',
    },
  });
  const text = JSON.stringify(event);
  expect(text).not.toContain("secret");
  expect(text).not.toContain("responseObject");
});

test("an audited transaction without a spec is invalid", async () => {
  const { status, body } = await server.api.admin.post(transactionsPath, {});
  expect([status, body.message]).toEqual([
    422,
    expect.stringContaining("at least one operation must be given"),
  ]);
});
