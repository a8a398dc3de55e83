import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AuditedServer } from "../../audit/support.ts";
import { Configurations, hook, patched, TestWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
let audited: AuditedServer;
let webhook: TestWebhook;
let configurations: Configurations;
beforeAll(async () => {
  const policy = `rules:
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: Request
  resources: [{group: "", resources: [configmaps]}]`;
  [audited, webhook] = await Promise.all([AuditedServer.start(policy), TestWebhook.start()]);
  configurations = new Configurations(audited.api.admin);
});
afterAll(async () => {
  await audited.close();
  await webhook.close();
});
afterEach(async () => {
  await configurations.clear();
  webhook.reset();
  await audited.api.admin.ask("DELETE", MAPS);
});

const map = (name: string) => ({ metadata: { name }, data: { a: "1" } });
const named = (name: string, changes: object = {}) =>
  hook(webhook.client(`/${name}`), { name: `${name}.test.example.com`, ...changes });
const unreachable = (name: string, failurePolicy = "Ignore") =>
  hook({ url: "https://127.0.0.1:1/" }, { name: `${name}.test.example.com`, failurePolicy });

/** Returns the annotations of the audit event of a request, except those of authorization. */
async function annotationsOf(request: Promise<{ headers: Record<string, unknown> }>) {
  const { headers } = await request;
  const events = await audited.events(headers["audit-id"]);
  const all = (events.at(-1) as { annotations?: Record<string, string> } | undefined)?.annotations ?? {};
  return Object.fromEntries(Object.entries(all).filter(([key]) => !key.startsWith("authorization.")));
}

describe("audit annotations", () => {
  it("record the result, the round and the patch of each mutating webhook at level Request", async () => {
    const operation = { op: "add", path: "/data/b", value: "2" };
    webhook.answer = (_, path) => ({
      response: path === "/b" ? patched(operation) : { allowed: true, auditAnnotations: { seen: "yes" } },
    });
    await configurations.mutating("first", named("a", { reinvocationPolicy: "IfNeeded" }), named("b"));
    const found = await annotationsOf(audited.api.admin.post(MAPS, map("a")));
    const of = (webhook: string, mutated: boolean) =>
      JSON.stringify({ configuration: "first", webhook: `${webhook}.test.example.com`, mutated });
    expect(found).toEqual({
      "a.test.example.com/seen": "yes",
      "mutation.webhook.admission.platform.io/round_0_index_0": of("a", false),
      "mutation.webhook.admission.platform.io/round_0_index_1": of("b", true),
      "mutation.webhook.admission.platform.io/round_1_index_0": of("a", false),
      "patch.webhook.admission.platform.io/round_0_index_1": JSON.stringify({
        configuration: "first",
        webhook: "b.test.example.com",
        patch: [operation],
        patchType: "JSONPatch",
      }),
    });
  });

  it("omit patches at level Metadata", async () => {
    const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }];
    webhook.answer = () => ({ response: patched({ op: "add", path: "/type", value: "example.com/a" }) });
    await configurations.mutating("first", named("a", { rules }));
    const secret = { metadata: { name: "s" } };
    const found = await annotationsOf(audited.api.admin.post("/api/v1/namespaces/default/secrets", secret));
    expect(found).toEqual({
      "mutation.webhook.admission.platform.io/round_0_index_0": expect.stringContaining(`"mutated":true`),
    });
  });

  it("name failed webhooks whose failure policy is Ignore", async () => {
    await configurations.mutating("first", unreachable("a"));
    await configurations.validating("second", named("v"), unreachable("w"));
    expect(await annotationsOf(audited.api.admin.post(MAPS, map("a")))).toMatchObject({
      "failed-open.mutation.webhook.admission.platform.io/round_0_index_0": "a.test.example.com",
      "failed-open.validating.webhook.admission.platform.io/round_0_index_1": "w.test.example.com",
    });
  });

  it("from one webhook are limited to 100", async () => {
    const auditAnnotations = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`k${index}`, "v".repeat(100)]),
    );
    webhook.answer = () => ({ response: { allowed: true, auditAnnotations } });
    await configurations.validating("first", named("a"));
    expect(Object.keys(await annotationsOf(audited.api.admin.post(MAPS, map("a"))))).toHaveLength(100);
  });
});

describe("metrics", () => {
  const lines = async (name: string) => {
    const { text } = await audited.api.admin.get("/metrics");
    return text.split("\n").filter((line) => line.startsWith(name));
  };

  it("count calls, rejections and failures that the failure policy ignores", async () => {
    await configurations.mutating("first", named("counted"), unreachable("open"));
    webhook.answer = () => ({ response: { allowed: true } });
    await audited.api.admin.post(MAPS, map("a"));
    webhook.answer = () => ({ response: { allowed: false, status: { code: 403 } } });
    await audited.api.admin.post(MAPS, map("b"));
    await configurations.clear();
    await configurations.validating("second", unreachable("closed", "Fail"));
    await audited.api.admin.post(MAPS, map("b"));
    const requests = await lines("apiserver_admission_webhook_request_total");
    const counted = 'name="counted.test.example.com",operation="CREATE"';
    expect(requests).toContain(
      `apiserver_admission_webhook_request_total{code="200",${counted},rejected="false",type="admit"} 1`,
    );
    expect(requests).toContain(
      `apiserver_admission_webhook_request_total{code="403",${counted},rejected="true",type="admit"} 1`,
    );
    expect(await lines("apiserver_admission_webhook_rejection_count")).toEqual(
      expect.arrayContaining([
        `apiserver_admission_webhook_rejection_count{error_type="no_error",${counted},rejection_code="403",type="admit"} 1`,
        'apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="closed.test.example.com",' +
          'operation="CREATE",rejection_code="500",type="validating"} 1',
      ]),
    );
    expect(await lines("apiserver_admission_webhook_fail_open_count")).toContain(
      'apiserver_admission_webhook_fail_open_count{name="open.test.example.com",type="admit"} 1',
    );
    expect(await lines("apiserver_admission_webhook_admission_duration_seconds_count")).toContain(
      `apiserver_admission_webhook_admission_duration_seconds_count{${counted},rejected="false",type="admit"} 1`,
    );
  });
});
