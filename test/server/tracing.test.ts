import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseTraceContext } from "../../src/base/tracing/trace-context.ts";
import { createServer } from "../../src/index.ts";
import { readTracingConfiguration } from "../../src/server/tracing/tracing.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { Configurations, hook, TestWebhook } from "../admission/webhooks/support.ts";
import { TestServer } from "../support/api.ts";
import { attributesOf, Collector, type ReceivedSpan } from "../support/collector.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const hiddenValue = "value-that-no-span-has";
const parentId = "b7ad6b7169203331";
const traceIds = {
  trusted: "11111111111111111111111111111111",
  untrusted: "22222222222222222222222222222222",
  unsampled: "33333333333333333333333333333333",
};
const parentOf = (traceId: string, flags = "01") => `00-${traceId}-${parentId}-${flags}`;
let collector: Collector;
let webhook: TestWebhook;
let shown = "";

const isFirst = ({ kind }: ReceivedSpan) => kind === 2;
const rootOf = (route: string) => collector.spans.find((span) => isFirst(span) && span.name === route)!;
const below = ({ traceId, spanId }: ReceivedSpan) =>
  collector.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
const named = (spans: readonly ReceivedSpan[], name: string) => spans.find((span) => span.name === name)!;

/** Writes a configuration and returns the path of its file. */
function configuration(fields: object, version = "v1"): string {
  const file = join(folder.path, "tracing.yaml");
  const header = { apiVersion: `apiserver.config.platform.io/${version}`, kind: "TracingConfiguration" };
  writeFileSync(file, JSON.stringify({ ...header, ...fields }));
  return file;
}

beforeAll(async () => {
  collector = await Collector.start();
  webhook = await TestWebhook.start();
  const file = configuration({ endpoint: collector.url, samplingRatePerMillion: 1_000_000 });
  const users = [{ name: "ana" }];
  const server = await TestServer.start({ release: "1.37", tracingConfigFile: file, users });
  const { admin } = server;
  await new Configurations(admin).validating("watching", hook(webhook.client("/check")));
  const secret = { metadata: { name: "one" }, stringData: { password: hiddenValue } };
  await admin.post("/api/v1/namespaces/default/secrets", secret, {
    headers: { "audit-id": "the-id", "user-agent": "test/1" },
  });
  await admin.post("/api/v1/namespaces/default/configmaps", { metadata: { name: "checked" } });
  await admin.get(`/api/v1/namespaces/default/secrets/one?pretty=${hiddenValue}`, {
    headers: { traceparent: parentOf(traceIds.trusted), tracestate: "vendor=1" },
  });
  await admin.get("/api/v1/nodes", { headers: { traceparent: parentOf(traceIds.unsampled, "00") } });
  await server.as("ana").get("/api/v1/pods", {
    headers: { traceparent: parentOf(traceIds.untrusted), authorization: "Bearer ana" },
  });
  await server.as(hiddenValue).get("/api/v1/services");
  await admin.get(`/not-served/${hiddenValue}`);
  shown = (await admin.get("/metrics")).text;
  // The last spans are sent on close.
  await server.close();
});
afterAll(async () => {
  await collector.close();
  await webhook.close();
  folder.remove();
});

test("with --tracing-config-file a request has a span, and spans of its stages below it", () => {
  const root = rootOf("POST /api/v1/namespaces/{:namespace}/secrets");
  expect(attributesOf(root)).toEqual({
    "http.request.method": "POST",
    "http.response.status_code": "201",
    "http.route": "/api/v1/namespaces/{:namespace}/secrets",
    "audit-id": "the-id",
    "user_agent.original": "test/1",
    "api.verb": "create",
    "api.version": "v1",
    "api.resource": "secrets",
    "api.namespace": "default",
  });
  expect(below(root).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["Authentication", "Authorization", "Verb"]),
  );
  const verb = below(named(below(root), "Verb"));
  expect(verb.map(({ name }) => name)).toEqual(expect.arrayContaining(["admission admit", "storage create"]));
  const commit = named(verb, "storage create");
  expect(attributesOf(commit)).toEqual({ "storage.prefix": expect.stringMatching(/secrets\/default\/$/) });
  const [start, end] = [BigInt(commit.startTimeUnixNano), BigInt(commit.endTimeUnixNano)];
  expect(start >= BigInt(root.startTimeUnixNano) && end <= BigInt(root.endTimeUnixNano)).toBe(true);
  expect(Math.abs(Number(start / 1_000_000n) - Date.now())).toBeLessThan(600_000);
});

test("a call of a webhook is a span below its plugin, and the webhook receives its context", () => {
  const root = rootOf("POST /api/v1/namespaces/{:namespace}/configmaps");
  const phase = named(below(named(below(root), "Verb")), "admission validate");
  const plugin = named(below(phase), "admission plugin ValidatingAdmissionWebhook");
  const call = named(below(plugin), "webhook call");
  expect(call.kind).toBe(3);
  expect(attributesOf(call)["url.full"]).toBe(`${webhook.service.url}/check`);
  const { headers } = webhook.calls[0]!.received;
  expect(headers["traceparent"]).toBe(`00-${root.traceId}-${call.spanId}-01`);
});

test("from 1.33 on the trace of an administrator is continued, with its decision about sampling", () => {
  const root = rootOf("GET /api/v1/namespaces/{:namespace}/secrets/{:name}");
  expect(root).toMatchObject({
    traceId: traceIds.trusted,
    parentSpanId: parentId,
    traceState: "vendor=1",
  });
  expect(root.links).toBeUndefined();
  expect(rootOf("GET /api/v1/nodes")).toBeUndefined();
});

test("the trace of another user is not continued: its new trace has a link", () => {
  const root = rootOf("GET /api/v1/pods");
  expect(root.traceId).not.toBe(traceIds.untrusted);
  expect(root.parentSpanId).toBeUndefined();
  expect(root.links).toEqual([{ traceId: traceIds.untrusted, spanId: parentId }]);
  expect(attributesOf(root)["http.response.status_code"]).toBe("403");
});

test("spans of a rejected token show the failure, and no span has secret values or unserved paths", () => {
  const root = rootOf("GET /api/v1/services");
  expect(attributesOf(root)["http.response.status_code"]).toBe("401");
  expect(named(below(root), "Authentication").status).toEqual({ code: 2, message: "failed" });
  expect(collector.texts.length).toBeGreaterThan(0);
  expect(collector.texts.join("")).not.toContain(hiddenValue);
});

test("each span has a parent in its trace, and the collector receives the server's name", () => {
  const ids = new Set([parentId, ...collector.spans.map(({ spanId }) => spanId)]);
  expect(
    collector.spans.filter(({ parentSpanId }) => parentSpanId !== undefined && !ids.has(parentSpanId)),
  ).toEqual([]);
  expect(collector.paths[0]).toBe("POST /v1/traces");
  expect(attributesOf({ attributes: collector.resource })["service.name"]).toBe("apiserver");
  expect(shown).toContain('platform_trace_spans_dropped_total{reason="queue_full"} 0');
});

describe("a configuration", () => {
  const read = (fields: object, release: "1.26" | "1.37" = "1.37", version = "v1alpha1") => {
    const header = { apiVersion: `apiserver.config.platform.io/${version}`, kind: "TracingConfiguration" };
    return readTracingConfiguration(Buffer.from(JSON.stringify({ ...header, ...fields })), platform, release);
  };

  test.each([
    [undefined, "http://localhost:4318/v1/traces"],
    ["https://traces.example.com", "https://traces.example.com/v1/traces"],
    ["http://10.0.0.1:4318/other/path", "http://10.0.0.1:4318/other/path"],
  ])("the endpoint %s is %s", async (endpoint, url) => {
    const { url: result, ratio } = await read({ endpoint, samplingRatePerMillion: 500 });
    expect([result.href, ratio]).toEqual([url, 0.0005]);
  });

  test.each([
    [
      { endpoint: "collector:4317" },
      'endpoint: Invalid value: "collector:4317": is an address for OTLP over gRPC; this server sends spans by OTLP over HTTP: write http://collector:4318',
    ],
    [{ endpoint: "dns://collector:4317" }, "must be an http:// or https:// URL"],
    [{ endpoint: "http://user:word@collector" }, "without user, password and fragment"],
    [
      { samplingRatePerMillion: 1_000_001 },
      "samplingRatePerMillion: Invalid value: 1000001: must be from 0 to 1000000",
    ],
    [{ samplingRatePerMillion: -1 }, "must be from 0 to 1000000"],
  ])("%j is refused", async (fields, message) => {
    await expect(read(fields)).rejects.toThrow(message);
  });

  test("versions that a release doesn't have are refused", async () => {
    await expect(read({}, "1.26", "v1beta1")).rejects.toThrow('expected "TracingConfiguration" of');
    await expect(read({}, "1.37", "v1")).resolves.toBeDefined();
  });

  test("in 1.26 the file needs the feature gate", async () => {
    const tracingConfigFile = configuration({}, "v1alpha1");
    await expect(createServer({ tracingConfigFile })).rejects.toThrow(
      "tracingConfigFile needs the feature gate APIServerTracing, which is off in release 1.26",
    );
    const server = await createServer({ tracingConfigFile, featureGates: "APIServerTracing=true" });
    await server.close();
  });
});

test.each([
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", false],
  ["cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", true],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", undefined],
  ["ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined],
  ["00-00000000000000000000000000000000-b7ad6b7169203331-01", undefined],
  ["00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", undefined],
  ["00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", undefined],
  [`cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-${"x".repeat(300)}`, undefined],
])("the traceparent %s is sampled: %s", (header, sampled) => {
  expect(parseTraceContext(header, undefined)?.sampled).toBe(sampled);
});

test("a tracestate that is too long or not printable is dropped", () => {
  const state = (text: string) => parseTraceContext(parentOf(traceIds.trusted), text)?.state;
  expect([state("a=1"), state("a".repeat(513)), state("a=\n")]).toEqual(["a=1", "", ""]);
});
