import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Event } from "./support.ts";

let folder: ReturnType<typeof temporaryFolder>;
let service: HttpsService;
let reply: () => Reply;
beforeEach(async () => {
  folder = temporaryFolder();
  reply = () => ({ body: "" });
  service = await HttpsService.start(() => reply());
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

type Webhook = NonNullable<NonNullable<Parameters<typeof TestServer.start>[0]>["audit"]>["webhook"];

function start(webhook: Partial<Webhook> = {}): Promise<TestServer> {
  const policyFile = path.join(folder.path, "policy.yaml");
  const rules = "rules: [{level: Metadata, nonResourceURLs: [/version]}]";
  writeFileSync(policyFile, `apiVersion: audit.platform.io/v1\nkind: Policy\n${rules}\n`);
  const configFile = clientConfiguration(folder.path, service);
  return TestServer.start({ audit: { policyFile, webhook: { configFile, backoffMs: 1, ...webhook } } });
}

const lists = () => service.received.map(({ text }) => JSON.parse(text) as Event);
const batch = { bufferEvents: 10, batchEvents: 2, maxWaitMs: 60_000, throttle: undefined };

test("events are collected and sent as a list to the configured service", async () => {
  const server = await start({ batch });
  try {
    const answer = await server.admin.get("/version");
    const [list] = await until(lists, (found) => found.length === 1);
    expect(service.received[0]).toMatchObject({ method: "POST", path: "/asked?x=1", client: "plinth" });
    expect(list).toMatchObject({ kind: "EventList", apiVersion: "audit.platform.io/v1", metadata: {} });
    expect(list.items.map(({ stage, auditID }: Event) => [stage, auditID])).toEqual([
      ["RequestReceived", answer.headers["audit-id"]],
      ["ResponseComplete", answer.headers["audit-id"]],
    ]);
    expect(list.items[0].kind).toBeUndefined();
  } finally {
    await server.close();
  }
});

test("a rejected list is sent again, whatever the status; a stopping server sends the rest", async () => {
  let refusals = 3;
  reply = () => ({ status: refusals-- > 0 ? 400 : 200, body: "" });
  const server = await start({ batch: { ...batch, batchEvents: 10 } });
  await server.admin.get("/version");
  expect(service.received).toEqual([]);
  await server.close();
  expect(service.received).toHaveLength(4);
  expect(lists().at(-1).items).toHaveLength(2);
});

test.each([
  ["blocking", 200],
  ["blocking-strict", 500],
] as const)(
  "in mode %s a request waits for the service; when the service rejects the event, the response is %i",
  async (mode, status) => {
    const server = await start({ mode });
    try {
      expect((await server.admin.get("/version")).status).toBe(200);
      expect(lists()[0].items).toMatchObject([{ stage: "RequestReceived" }]);
      reply = () => ({ status: 500, body: "" });
      expect((await server.admin.get("/version")).status).toBe(status);
      const { text } = await server.admin.get("/metrics");
      expect(text).toMatch(/apiserver_audit_error_total\{plugin="webhook"\} [1-9]/);
    } finally {
      await server.close();
    }
  },
);

test("the server doesn't start with an unusable webhook configuration", async () => {
  await expect(start({ configFile: path.join(folder.path, "absent") })).rejects.toThrow(
    "audit.webhook.configFile",
  );
});
