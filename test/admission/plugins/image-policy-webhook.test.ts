import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestServer } from "../../support/api.ts";
import { clientConfiguration } from "../../support/client-configuration.ts";
import { HttpsService, type Reply } from "../../support/https-service.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { pluginTable } from "../../../src/server/admission/plugin-table.ts";
import { pod, PODS, rejected } from "./support.ts";

const folder = temporaryFolder();
let backend: HttpsService;
let reply: (text: string) => Reply;
let server: TestServer | undefined;
beforeAll(async () => {
  backend = await HttpsService.start(({ text }) => reply(text));
});
afterAll(async () => {
  await backend.close();
  folder.remove();
});
beforeEach(() => {
  backend.received.length = 0;
  reply = (text) => decided(text, { allowed: true });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const decided = (text: string, status: object): Reply => ({
  body: { ...(JSON.parse(text) as object), status },
});
const reviews = () => backend.received.map(({ text }) => JSON.parse(text) as { spec: object });

function write(name: string, value: object): string {
  const file = path.join(folder.path, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}

/** Starts a server with the plugin. */
async function start(imagePolicy: object = {}, changes: object = {}): Promise<TestServer> {
  const kubeConfigFile = clientConfiguration(folder.path, backend);
  const configuration = { imagePolicy: { kubeConfigFile, ...imagePolicy } };
  const file = write("admission.yaml", {
    kind: "AdmissionConfiguration",
    apiVersion: "apiserver.config.platform.io/v1",
    plugins: [{ name: "ImagePolicyWebhook", configuration }],
  });
  server = await TestServer.start({
    enabledAdmissionPlugins: ["ImagePolicyWebhook"],
    runtimeConfig: "imagepolicy.platform.io/v1alpha1=true",
    admissionConfigurationFile: file,
    ...changes,
  });
  return server;
}

describe("ImagePolicyWebhook", () => {
  it("C-4.13-48 is off by default", async () => {
    const plugin = pluginTable.find(({ name }) => name === "ImagePolicyWebhook");
    expect(plugin).toMatchObject({ byDefault: false });
    const plain = await TestServer.start();
    expect((await plain.admin.post(PODS, pod("p"))).status).toBe(201);
    expect(backend.received).toEqual([]);
    await plain.close();
  });

  it("C-4.13-49 C-4.13-55 calls the backend of the embedded configuration and applies its decision", async () => {
    const { admin } = await start();
    expect((await admin.post(PODS, pod("allowed"))).status).toBe(201);
    reply = (text) => decided(text, { allowed: false });
    await rejected(
      admin.post(PODS, pod("denied", { initContainers: [{ name: "i", image: "other" }] })),
      "one or more images rejected by webhook backend",
    );
    expect((await admin.get(`${PODS}/denied`)).status).toBe(404);
    // The server authenticates to the backend with its client certificate.
    expect(backend.received[0]).toMatchObject({ method: "POST", client: "plinth" });
  });

  it("C-4.13-55 reads its configuration from a separate file", async () => {
    const kubeConfigFile = clientConfiguration(folder.path, backend);
    write("image-policy.yaml", { imagePolicy: { kubeConfigFile } });
    const plugins = [{ name: "ImagePolicyWebhook", path: "image-policy.yaml" }];
    const apiVersion = "apiserver.config.platform.io/v1";
    const file = write("pointing.yaml", { kind: "AdmissionConfiguration", apiVersion, plugins });
    const { admin } = await start({}, { admissionConfigurationFile: file });
    expect((await admin.post(PODS, pod("p"))).status).toBe(201);
    expect(backend.received).toHaveLength(1);
  });

  it("C-2.10-01 C-2.10-02 C-2.10-03 sends the images, the image-policy annotations and the namespace", async () => {
    const { admin } = await start();
    const annotations = {
      "mine.image-policy.platform.io/ticket": "break-glass",
      "example.com/ticket": "no",
      "image-policy.platform.io/ticket": "no",
    };
    const spec = { initContainers: [{ name: "i", image: "init:1" }] };
    await admin.post(PODS, pod("p", spec, { annotations }));
    expect(reviews()).toEqual([
      {
        apiVersion: "imagepolicy.platform.io/v1alpha1",
        kind: "ImageReview",
        spec: {
          containers: [{ image: "example.com/image:1" }, { image: "init:1" }],
          annotations: { "mine.image-policy.platform.io/ticket": "break-glass" },
          namespace: "default",
        },
      },
    ]);
  });

  it("calls the backend for ephemeral containers and for no other subresource", async () => {
    const { admin } = await start();
    await admin.post(PODS, pod("p"));
    await admin.patch(`${PODS}/p/status`, { status: { message: "x" } });
    expect(backend.received).toHaveLength(1);
    const ephemeralContainers = [{ name: "look", image: "debug:1" }];
    const added = await admin.patch(
      `${PODS}/p/ephemeralcontainers`,
      { spec: { ephemeralContainers } },
      "strategic",
    );
    expect(added.status).toBe(200);
    expect(reviews()[1]!.spec).toEqual({ containers: [{ image: "debug:1" }], namespace: "default" });
  });

  it("C-2.10-04 C-2.10-05 returns 403 with the reason of a denial, and ignores the spec of the response", async () => {
    const { admin } = await start();
    const status = { allowed: false, reason: "image is unsigned" };
    reply = () => ({ body: { spec: { containers: "nonsense" }, status } });
    await rejected(
      admin.post(PODS, pod("p")),
      "image policy webhook backend denied one or more images: image is unsigned",
    );
  });

  it("C-4.9-06 calls the backend in a dry run too and applies its decision", async () => {
    const { admin } = await start();
    const dry = (name: string, image: string) =>
      admin.post(`${PODS}?dryRun=All`, pod(name, { containers: [{ name: "c", image }] }));
    expect((await dry("p", "good")).status).toBe(201);
    expect(reviews()).toHaveLength(1);
    reply = (text) => decided(text, { allowed: false, reason: "image is unsigned" });
    await rejected(dry("p", "bad"), "image is unsigned");
    expect(reviews()).toHaveLength(2);
    expect((await admin.get(`${PODS}/p`)).status).toBe(404);
  });

  it("C-4.13-51 C-4.13-52 keeps approvals for allowTTL and denials for denyTTL seconds", async () => {
    const clock = new ManualClock(Date.now());
    const { admin } = await start({ allowTTL: 100, denyTTL: 20 }, { clock });
    const write = (image: string, name: string) =>
      admin.post(PODS, pod(name, { containers: [{ name: "c", image }] }));
    reply = (text) => decided(text, { allowed: !text.includes("bad") });
    const count = async (image: string, name: string) => {
      backend.received.length = 0;
      const { status } = await write(image, name);
      return [status, backend.received.length];
    };
    expect(await count("good", "a")).toEqual([201, 1]);
    expect(await count("bad", "x")).toEqual([403, 1]);
    expect([await count("good", "b"), await count("bad", "x")]).toEqual([
      [201, 0],
      [403, 0],
    ]);
    await clock.advance(21_000);
    expect([await count("good", "c"), await count("bad", "x")]).toEqual([
      [201, 0],
      [403, 1],
    ]);
    await clock.advance(80_000);
    expect(await count("good", "d")).toEqual([201, 1]);
  });

  it("C-4.13-54 defaultAllow decides when the backend fails, and an allowed Pod gets the annotation failed-open", async () => {
    reply = () => ({ status: 400, body: {} });
    const { admin } = await start({ defaultAllow: false });
    await rejected(admin.post(PODS, pod("p")), "answers with status 400");
    await server!.close();
    const open = await start({ defaultAllow: true });
    const made = await open.admin.post(PODS, pod("p"));
    const failedOpen = { "alpha.image-policy.platform.io/failed-open": "true" };
    expect([made.status, made.body.metadata.annotations]).toMatchObject([201, failedOpen]);
    reply = () => ({ body: { status: { allowed: "yes" } } });
    const odd = await open.admin.post(PODS, pod("q"));
    expect(odd.body.metadata.annotations).toMatchObject(failedOpen);
  });

  it("C-4.13-53 retryBackoff is the time before the next attempt in milliseconds, and -1 disables retries", async () => {
    let failures = 1;
    reply = (text) => (failures-- > 0 ? { status: 503, body: {} } : decided(text, { allowed: true }));
    const { admin } = await start({ retryBackoff: 300 });
    const start1 = performance.now();
    expect((await admin.post(PODS, pod("p"))).status).toBe(201);
    expect(performance.now() - start1).toBeGreaterThanOrEqual(295);
    expect(backend.received).toHaveLength(2);
    await server!.close();
    failures = 1;
    backend.received.length = 0;
    const never = await start({ retryBackoff: -1 });
    await rejected(never.admin.post(PODS, pod("p")), "answers with status 503");
    expect(backend.received).toHaveLength(1);
  });

  it("C-2.10-06 the server starts only when imagepolicy.platform.io/v1alpha1 is enabled", async () => {
    await expect(start({}, { runtimeConfig: "" })).rejects.toThrow(
      "imagepolicy.platform.io/v1alpha1=true: the version of its reviews is off",
    );
    await start({}, { runtimeConfig: "api/alpha=true" });
  });

  it("C-4.13-50 the server does not start when kubeConfigFile is missing, unreadable or without TLS", async () => {
    await expect(start({ kubeConfigFile: "/nonexistent.yaml" })).rejects.toThrow("/nonexistent.yaml");
    await expect(start({ kubeConfigFile: undefined })).rejects.toThrow("kubeConfigFile");
    const server = backend.url.replace("https:", "http:");
    const kubeConfigFile = clientConfiguration(folder.path, backend, { cluster: { server } });
    const configuration = { imagePolicy: { kubeConfigFile } };
    const plugins = [{ name: "ImagePolicyWebhook", configuration }];
    const apiVersion = "apiserver.config.platform.io/v1";
    const file = write("plain.yaml", { kind: "AdmissionConfiguration", apiVersion, plugins });
    const starting = TestServer.start({
      enabledAdmissionPlugins: ["ImagePolicyWebhook"],
      runtimeConfig: "imagepolicy.platform.io/v1alpha1",
      admissionConfigurationFile: file,
    });
    await expect(starting).rejects.toThrow("must use TLS");
  });

  it.each([
    ["allowTTL", 1801, "between 1 and 1800"],
    ["denyTTL", -2, "between 1 and 1800"],
    ["retryBackoff", 300_001, "between 1 and 300000"],
    ["allowTTL", "5m", "must be an integer"],
    ["defaultAllow", "yes", "must be true or false"],
  ])("the server does not start with %s: %s", async (name, value, why) => {
    await expect(start({ [name]: value })).rejects.toThrow(why);
  });
});
