import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ownAddress } from "../../support/backends.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Configurations, hook, patched, TestWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const folder = temporaryFolder();
afterAll(() => folder.remove());
const map = (name: string) => ({ metadata: { name }, data: { a: "1" } });

describe("configuration of the webhook plugins", () => {
  let webhook: TestWebhook;
  beforeAll(async () => {
    webhook = await TestWebhook.start();
  });
  afterAll(() => webhook.close());

  function write(name: string, value: object): string {
    const file = path.join(folder.path, name);
    writeFileSync(file, JSON.stringify(value));
    return file;
  }
  const started = (kubeConfigFile: string, changes: object = {}) => {
    const apiVersion = "apiserver.config.platform.io/v1";
    const configuration = { kind: "WebhookAdmissionConfiguration", apiVersion, kubeConfigFile, ...changes };
    const plugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"].map((name) => ({
      name,
      configuration,
    }));
    const file = write("admission.yaml", { kind: "AdmissionConfiguration", apiVersion, plugins });
    return TestServer.start({ admissionConfigurationFile: file });
  };

  it("C-2.9-22 names a file with credentials that both webhook plugins send", async () => {
    const { host } = new URL(webhook.service.url);
    const users = [{ name: host, user: { token: "secret" } }];
    const server = await started(write("credentials.yaml", { kind: "Config", users }));
    const configurations = new Configurations(server.admin);
    await configurations.mutating("m", hook(webhook.client("/m")));
    await configurations.validating("v", hook(webhook.client("/v")));
    expect((await server.admin.post(MAPS, map("a"))).status).toBe(201);
    expect(webhook.calls.map(({ path, received }) => [path, received.headers.authorization])).toEqual([
      ["/m", "Bearer secret"],
      ["/v", "Bearer secret"],
    ]);
    await server.close();
  });

  it.each<[string, string, object, string]>([
    ["a relative path of the file", "credentials.yaml", {}, "must be an absolute path"],
    ["a missing file", "/nonexistent/file.yaml", {}, "kubeConfigFile /nonexistent/file.yaml"],
    ["another kind of configuration", "", { kind: "Webhooks" }, 'expected "WebhookAdmissionConfiguration"'],
  ])("the server does not start with %s", async (_, file, changes, why) => {
    await expect(started(file, changes)).rejects.toThrow(why);
  });
});

// Endpoints can't be loopback addresses, so this test needs the address of a network interface.
const address = ownAddress();
describe.skipIf(address === undefined)("webhook services", () => {
  it("C-2.9-06 a webhook service is called at its endpoints with its own server name", async () => {
    const webhook = await TestWebhook.start(["guard.guards.svc"], address);
    const server = await TestServer.start({ connections: { allowLoopback: true } });
    const configurations = new Configurations(server.admin);
    const caBundle = Buffer.from(webhook.service.ca).toString("base64");
    const client = { service: { namespace: "guards", name: "guard", path: "/check" }, caBundle };
    await configurations.validating("first", hook(client));
    const missing = await server.admin.post(MAPS, map("a"));
    expect([missing.status, missing.body.message]).toEqual([
      500,
      expect.stringContaining('services "guard" not found'),
    ]);
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "guards" } });
    const core = "/api/v1/namespaces/guards";
    const pod = await server.admin.post(`${core}/pods`, {
      metadata: { name: "guard-1" },
      spec: { containers: [{ name: "main", image: "none" }] },
    });
    const status = { ...pod.body.status, podIP: address, podIPs: [{ ip: address }] };
    await server.admin.put(`${core}/pods/guard-1/status`, { ...pod.body, status });
    await server.admin.post(`${core}/services`, {
      metadata: { name: "guard" },
      spec: { ports: [{ port: 443, targetPort: 8443 }] },
    });
    await server.admin.post(`${core}/endpoints`, {
      metadata: { name: "guard" },
      subsets: [
        {
          addresses: [{ ip: address, targetRef: { kind: "Pod", name: "guard-1", namespace: "guards" } }],
          ports: [{ port: Number(new URL(webhook.service.url).port) }],
        },
      ],
    });
    expect((await server.admin.post(MAPS, map("a"))).status).toBe(201);
    expect(webhook.paths).toEqual(["/check"]);
    await server.close();
    await webhook.close();
  });
});

describe("disabling webhooks and other setups", () => {
  let webhook: TestWebhook;
  beforeAll(async () => {
    webhook = await TestWebhook.start();
  });
  afterAll(() => webhook.close());
  afterEach(() => webhook.reset());

  it("C-4.13-13 a configuration kind can be disabled through runtime configuration together with its plugin", async () => {
    const kind = "admissionregistration.platform.io/v1/mutatingwebhookconfigurations";
    const server = await TestServer.start({
      disabledAdmissionPlugins: ["MutatingAdmissionWebhook"],
      runtimeConfig: `${kind}=false`,
    });
    const made = await server.admin.post(`/apis/${kind}`, { metadata: { name: "a" }, webhooks: [] });
    expect(made.status).toBe(404);
    const configurations = new Configurations(server.admin);
    webhook.answer = () => ({ response: { allowed: false } });
    await configurations.validating("v", hook(webhook.client()));
    expect((await server.admin.post(MAPS, map("a"))).status).toBe(400);
    await server.close();
  });

  it("a disabled plugin calls no webhook", async () => {
    const server = await TestServer.start({ disabledAdmissionPlugins: ["ValidatingAdmissionWebhook"] });
    await new Configurations(server.admin).validating("v", hook(webhook.client()));
    expect((await server.admin.post(MAPS, map("a"))).status).toBe(201);
    expect(webhook.calls).toEqual([]);
    await server.close();
  });

  it("webhooks are called when the server has no port", async () => {
    const server = await TestServer.start({ port: false });
    const { client } = server.server;
    webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value: "2" }) });
    await client.create({
      apiVersion: "admissionregistration.platform.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "m" },
      webhooks: [hook(webhook.client())],
    } as never);
    const made = await client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "default" },
      data: { a: "1" },
    });
    expect(made.data).toEqual({ a: "1", b: "2" });
    await server.server.close();
  });

  it("C-2.9-18 a configuration written on one server applies to the next request on another", async () => {
    const dir = path.join(folder.path, "shared");
    const [one, other] = [
      await TestServer.start({ storage: { engine: "embedded", dir } }),
      await TestServer.start({ storage: { engine: "embedded", dir } }),
    ];
    const configurations = new Configurations(one.admin);
    webhook.answer = () => ({ response: { allowed: false } });
    for (let turn = 0; turn < 5; turn++) {
      expect((await other.admin.post(MAPS, map(`before-${turn}`))).status).toBe(201);
      await configurations.validating("v", hook(webhook.client()));
      expect((await other.admin.post(MAPS, map(`after-${turn}`))).status).toBe(400);
      await configurations.clear();
    }
    await other.close();
    await one.close();
  });

  it("a server starts when an unreachable webhook matches all its initial writes", async () => {
    const dir = path.join(folder.path, "data");
    const first = await TestServer.start({ storage: { engine: "embedded", dir } });
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] }];
    await new Configurations(first.admin).validating("all", hook({ url: "https://127.0.0.1:1/" }, { rules }));
    await first.admin.delete("/apis/rbac.authorization.platform.io/v1/clusterroles/view");
    await first.close();
    const second = await TestServer.start({ storage: { engine: "embedded", dir } });
    expect((await second.admin.post(MAPS, map("a"))).status).toBe(500);
    await second.admin.delete(
      "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations/all",
    );
    expect((await second.admin.post(MAPS, map("a"))).status).toBe(201);
    await second.close();
  });
});
