import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { slowRequestLog } from "../../src/http/metrics/slow-requests.ts";
import { newRequest, type RequestContext } from "../../src/http/request/context.ts";
import { readFacts } from "../../src/http/request/facts.ts";
import type { HttpExchange } from "../../src/http/transport/http-exchange.ts";
import { Configurations, hook, TestWebhook } from "../admission/webhooks/support.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

type Entry = Record<string, unknown> & { readonly message: string };
const entries: Entry[] = [];
const add = (facts: object, message: string) => void entries.push({ ...facts, message });
const log = { info: add, warn: add, error: add };
const slow = () => entries.filter(({ message }) => message === "slow request");

let webhook: TestWebhook;
let server: TestServer;
beforeAll(async () => {
  webhook = await TestWebhook.start();
  server = await TestServer.start({ log });
});
afterAll(async () => {
  await server.close();
  await webhook.close();
});

test("a request that waits for a webhook is logged with the steps in which the time went", async () => {
  await new Configurations(server.admin).validating("slow", hook(webhook.client()));
  webhook.answer = async () => {
    await delay(600);
    return { response: { allowed: true } };
  };
  const headers = { "audit-id": "the-slow-one" };
  const body = { metadata: { name: "one" } };
  const answer = await server.admin.post("/api/v1/namespaces/default/configmaps?timeout=20s", body, {
    headers,
  });
  expect(answer.status).toBe(201);
  const [entry, ...others] = slow();
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    status: 201,
    auditId: "the-slow-one",
  });
  const { durationMs, verbMs, admissionMs, webhooksMs } = entry as unknown as Record<string, number> & {
    webhooksMs: Record<string, number>;
  };
  const webhookMs = webhooksMs["one.test.example.com"]!;
  expect(webhookMs).toBeGreaterThanOrEqual(590);
  expect(admissionMs).toBeGreaterThanOrEqual(webhookMs);
  expect(verbMs).toBeGreaterThanOrEqual(admissionMs!);
  expect(durationMs).toBeGreaterThanOrEqual(verbMs!);
});

/** A completed request that began at 0. */
function requestFor(url: string, auditId = "a"): RequestContext {
  const exchange = { method: "GET", url, status: 200, auditId } as HttpExchange;
  return { ...newRequest(exchange, 0), facts: readFacts("GET", url) };
}

test("requests below the threshold, watches and connections aren't logged, and the rate is bounded", async () => {
  entries.length = 0;
  const clock = new ManualClock();
  let nowMs = 499;
  const observe = slowRequestLog(log, clock, () => nowMs);
  observe(requestFor("/api/v1/pods"));
  nowMs = 501;
  observe(requestFor("/api/v1/pods?watch=true"));
  observe(requestFor("/api/v1/namespaces/a/pods/b/exec?command=secret"));
  expect(slow()).toEqual([]);
  for (let count = 0; count < 30; count++) observe(requestFor("/api/v1/pods?labelSelector=secret"));
  expect(slow()).toHaveLength(20);
  expect(slow()[0]).toMatchObject({ path: "/api/v1/pods", durationMs: 501 });
  await clock.advance(1000);
  observe(requestFor("/api/v1/pods"));
  expect(slow().at(-1)).toMatchObject({ omitted: 10 });
});

test("long paths and audit IDs are cut off", () => {
  entries.length = 0;
  const observe = slowRequestLog(log, new ManualClock(), () => 501);
  observe(requestFor(`/api/v1/${"x".repeat(10_000)}`, "i".repeat(10_000)));
  const { path, auditId } = slow()[0] as unknown as { path: string; auditId: string };
  expect([path.length, auditId]).toEqual([2001, `${"i".repeat(256)}…`]);
});
