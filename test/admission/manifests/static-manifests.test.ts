import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Release } from "../../../src/base/releases.ts";
import { ManualClock, ok, until } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { blockOf } from "../../support/pages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hook, patched, TestWebhook } from "../webhooks/support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const apiVersion = "admissionregistration.k8s.io/v1";
const temporary = temporaryFolder();
afterAll(() => temporary.remove());

const pluginKinds = {
  MutatingAdmissionWebhook: "WebhookAdmissionConfiguration",
  ValidatingAdmissionWebhook: "WebhookAdmissionConfiguration",
  MutatingAdmissionPolicy: "MutatingAdmissionPolicyConfiguration",
  ValidatingAdmissionPolicy: "ValidatingAdmissionPolicyConfiguration",
} as const;
type Plugin = keyof typeof pluginKinds;

const folder = path.join(temporary.path, "manifests");
beforeEach(() => void mkdirSync(folder));
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a manifest file; @returns its path. */
function write(name: string, ...objects: readonly object[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, objects.map((one) => JSON.stringify(one)).join("\n---\n"));
  return file;
}

interface Started {
  readonly release?: Release;
  readonly featureGates?: string;
  readonly staticManifestsDir?: string;
  readonly clock?: ManualClock;
  readonly log?: (message: string) => void;
}

async function start(plugin: Plugin, { staticManifestsDir = folder, log, ...options }: Started = {}) {
  const configuration = {
    kind: pluginKinds[plugin],
    apiVersion: "apiserver.config.k8s.io/v1",
    staticManifestsDir,
  };
  const file = path.join(temporary.path, "admission.yaml");
  const plugins = [{ name: plugin, configuration }];
  writeFileSync(
    file,
    JSON.stringify({ kind: "AdmissionConfiguration", apiVersion: configuration.apiVersion, plugins }),
  );
  const write = (fields: object, message = "") => log?.(`${JSON.stringify(fields)} ${message}`);
  return TestServer.start({
    release: "1.37",
    vocabulary: "kubernetes",
    admissionConfigurationFile: file,
    ...(log === undefined ? {} : { log: { info: write, warn: write, error: write } }),
    ...options,
  });
}

const policy = (expression: string, changes: object = {}, name = "p.static.k8s.io") => ({
  kind: "ValidatingAdmissionPolicy",
  apiVersion,
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [""], apiVersions: ["*"], operations: ["CREATE"], resources: ["configmaps"] },
      ],
    },
    validations: [{ expression }],
    ...changes,
  },
});
const binding = (changes: object = {}, name = "b.static.k8s.io") => ({
  kind: "ValidatingAdmissionPolicyBinding",
  apiVersion,
  metadata: { name },
  spec: { policyName: "p.static.k8s.io", validationActions: ["Deny"], ...changes },
});
const map = (name: string) => ({ metadata: { name } });

describe("policies in files", () => {
  it("are enforced, and aren't in the API", async () => {
    write("a.yaml", policy("object.metadata.name != 'bad'"), binding());
    writeFileSync(path.join(folder, "ignored.txt"), "not a manifest");
    const server = await start("ValidatingAdmissionPolicy");
    const { status, body } = await server.admin.post(MAPS, map("bad"));
    expect([status, body.message]).toEqual([422, expect.stringContaining("p.static.k8s.io")]);
    await ok(server.admin.post(MAPS, map("good")));
    const list = await ok(server.admin.get(`${REGISTRATION}/validatingadmissionpolicies`));
    expect(list.body.items).toEqual([]);
    await server.close();
  });

  it("are configured as docs/webhooks.md says", async () => {
    write("a.yaml", policy("false"), binding());
    const page = blockOf("docs/webhooks.md", "yaml static-manifests");
    const file = path.join(temporary.path, "page.yaml");
    const text = page.replace("/etc/plinth/policies", folder).replaceAll("platform.io", "k8s.io");
    writeFileSync(file, text);
    const admissionConfigurationFile = file;
    const server = await TestServer.start({
      release: "1.37",
      vocabulary: "kubernetes",
      admissionConfigurationFile,
    });
    expect((await server.admin.post(MAPS, map("m"))).status).toBe(422);
    await server.close();
  });

  it("come in addition to those of the API, in lists and for configurations of admission too", async () => {
    const rules = [
      {
        apiGroups: ["admissionregistration.k8s.io"],
        apiVersions: ["*"],
        operations: ["*"],
        resources: ["*"],
      },
    ];
    const guard = policy("object.metadata.name != 'w'", { matchConstraints: { resourceRules: rules } });
    write("list.json", { kind: "List", apiVersion: "v1", items: [guard] });
    const { spec, metadata } = binding();
    const items = [{ metadata, spec }];
    write("typed.json", { kind: "ValidatingAdmissionPolicyBindingList", apiVersion, items });
    const server = await start("ValidatingAdmissionPolicy");
    const configurations = `${REGISTRATION}/validatingwebhookconfigurations`;
    expect((await server.admin.post(configurations, map("w"))).status).toBe(422);
    await ok(server.admin.post(configurations, map("other")));
    const { kind: _, ...stored } = policy("object.metadata.name != 'bad'", {}, "stored");
    await ok(server.admin.post(`${REGISTRATION}/validatingadmissionpolicies`, stored));
    await ok(
      server.admin.post(
        `${REGISTRATION}/validatingadmissionpolicybindings`,
        binding({ policyName: "stored" }, "stored"),
      ),
    );
    expect((await server.admin.post(MAPS, map("bad"))).status).toBe(422);
    await server.close();
  });

  it("change objects if they are mutating", async () => {
    const changed = policy("true");
    const mutation = {
      patchType: "JSONPatch",
      jsonPatch: { expression: `[JSONPatch{op: "add", path: "/data", value: {"by": "file"}}]` },
    };
    const { validations: _, ...spec } = changed.spec;
    const mutating = {
      ...changed,
      kind: "MutatingAdmissionPolicy",
      spec: { ...spec, mutations: [mutation], reinvocationPolicy: "Never" },
    };
    const bound = binding();
    write("a.yml", mutating, {
      ...bound,
      kind: "MutatingAdmissionPolicyBinding",
      spec: { policyName: "p.static.k8s.io" },
    });
    const server = await start("MutatingAdmissionPolicy");
    expect((await ok(server.admin.post(MAPS, map("m")))).body.data).toEqual({ by: "file" });
    await server.close();
  });

  it("are read again when the files change; invalid files leave the previous ones in use", async () => {
    write("a.yaml", policy("object.metadata.name != 'bad'"), binding());
    const clock = new ManualClock();
    const messages: string[] = [];
    const server = await start("ValidatingAdmissionPolicy", { clock, log: (text) => messages.push(text) });
    const dryRun = async (name: string) => (await server.admin.post(`${MAPS}?dryRun=All`, map(name))).status;
    const poll = async (text: string) => {
      await clock.advance(10_000);
      await until(
        () => messages.some((message) => message.includes(text)),
        (found) => found,
      );
      messages.length = 0;
    };
    expect([await dryRun("bad"), await dryRun("worse")]).toEqual([422, 201]);
    write("b.yaml", policy("object.metadata.name != 'worse'", {}, "q.static.k8s.io"));
    write("c.yaml", binding({ policyName: "q.static.k8s.io" }, "c.static.k8s.io"));
    await poll("the changed files are in use");
    expect([await dryRun("bad"), await dryRun("worse")]).toEqual([422, 422]);
    const file = write("b.yaml", policy("object.metadata.name != 'worse'", {}, "q"));
    await poll(`${file}: ValidatingAdmissionPolicy \\"q\\": metadata.name`);
    expect([await dryRun("bad"), await dryRun("worse")]).toEqual([422, 422]);
    for (const name of ["a.yaml", "b.yaml", "c.yaml"]) rmSync(path.join(folder, name));
    await poll("the changed files are in use");
    expect([await dryRun("bad"), await dryRun("worse")]).toEqual([201, 201]);
    const prefix = "apiserver_manifest_admission_config_controller";
    const { text } = await server.admin.get("/metrics");
    const counts = `${prefix}_automatic_reloads_total{status="`;
    const labels = `plugin="ValidatingAdmissionPolicy",apiserver_id_hash=""} `;
    expect(text).toContain(`${counts}success",${labels}3\n`);
    expect(text).toContain(`${counts}failure",${labels}1\n`);
    expect(text).not.toMatch(new RegExp(`^${prefix}_last_config_info\\{`, "m"));
    await server.close();
  });
});

describe("webhooks in files", () => {
  let webhook: TestWebhook;
  beforeAll(async () => {
    webhook = await TestWebhook.start();
  });
  beforeEach(() => webhook.reset());
  afterAll(() => webhook.close());
  const configuration = (kind: string, client: object, name = "w.static.k8s.io") => ({
    kind,
    apiVersion,
    metadata: { name },
    webhooks: [hook(client)],
  });

  it("are called before those of the API", async () => {
    write("w.yaml", configuration("MutatingWebhookConfiguration", webhook.client("/file")));
    webhook.answer = (_, at) => ({
      response:
        at === "/file" ? patched({ op: "add", path: "/data", value: { by: "file" } }) : { allowed: true },
    });
    const server = await start("MutatingAdmissionWebhook");
    const stored = { metadata: { name: "a" }, webhooks: [hook(webhook.client("/api"))] };
    await ok(server.admin.post(`${REGISTRATION}/mutatingwebhookconfigurations`, stored));
    expect((await ok(server.admin.post(MAPS, map("m")))).body.data).toEqual({ by: "file" });
    expect(webhook.paths).toEqual(["/file", "/api"]);
    const { text } = await server.admin.get("/metrics");
    expect(text).toMatch(
      /^apiserver_manifest_admission_config_controller_last_config_info\{plugin="MutatingAdmissionWebhook",apiserver_id_hash="",hash="sha256:[0-9a-f]{64}"\} 1$/m,
    );
    await server.close();
  });

  it("refuse requests if they are validating", async () => {
    write("w.yaml", configuration("ValidatingWebhookConfiguration", webhook.client("/v")));
    webhook.answer = () => ({ response: { allowed: false } });
    const server = await start("ValidatingAdmissionWebhook");
    const { status, body } = await server.admin.post(MAPS, map("m"));
    expect([status, body.message]).toEqual([400, expect.stringContaining("one.test.example.com")]);
    await server.close();
  });

  const refused = (object: object, message: RegExp) => [object, message] as const;
  const kind = "ValidatingWebhookConfiguration";
  const url = { url: "https://127.0.0.1:1/" };
  it.each([
    refused(configuration("MutatingWebhookConfiguration", url), /kind and apiVersion: found "Mutating/),
    refused(configuration(kind, url, "w"), /"w": metadata\.name: .*must end with \.static\.k8s\.io/),
    refused(configuration(kind, url, ""), /metadata\.name: /),
    refused(
      configuration(kind, { service: { name: "s", namespace: "default" } }),
      /webhooks\[0\]\.clientConfig\.service: Forbidden/,
    ),
    refused({ ...configuration(kind, url), webhooks: [{ ...hook(url), sideEffects: "X" }] }, /sideEffects: /),
    refused({ ...configuration(kind, url), webhookz: [] }, /unknown field "webhookz"/),
    refused(
      {
        ...configuration(kind, url),
        webhooks: [hook(url, { matchConditions: [{ name: "a", expression: "1 +" }] })],
      },
      /webhooks\[0\]\.matchConditions\[0\]\.expression: /,
    ),
  ])("%j is refused at the start, with file and field", async (object, message) => {
    const file = write("w.json", object);
    const failure = await start("ValidatingAdmissionWebhook").then(
      (server) => server.close().then(() => new Error("the server has started")),
      (error: unknown) => error as Error,
    );
    expect(failure.message).toMatch(message);
    expect(failure.message).toContain(
      `admissionConfigurationFile: admission plugin ValidatingAdmissionWebhook: ${file}: `,
    );
  });
});

describe("manifests that can't be used", () => {
  const messageOf = async (options: Started = {}) =>
    start("ValidatingAdmissionPolicy", options).then(
      (server) => server.close().then(() => "the server has started"),
      (error: unknown) => (error as Error).message,
    );

  it.each([
    [
      [binding()],
      /b\.static\.k8s\.io": spec\.policyName: there is no policy "p\.static\.k8s\.io" in the files/,
    ],
    [[binding({ policyName: "p" })], /spec\.policyName: .*end with \.static\.k8s\.io/],
    [[binding({ paramRef: { name: "x", parameterNotFoundAction: "Deny" } })], /spec\.paramRef: Forbidden/],
    [[policy("true", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } })], /spec\.paramKind: Forbidden/],
    [[policy("true"), policy("false")], /"p\.static\.k8s\.io" is also in /],
    [[policy("objec.x")], /spec\.validations\[0\]\.expression: /],
    [[{ kind: "List", apiVersion: "v1", items: { a: binding() } }], /a\.yaml: items: must be a list/],
    [
      [{ kind: "List", apiVersion, items: [] }],
      /found "List" of "admissionregistration\.k8s\.io\/v1", allowed/,
    ],
    [
      [{ kind: "ValidatingAdmissionPolicyList", apiVersion: "v1", items: [] }],
      /found "ValidatingAdmissionPolicyList" of "v1", allowed/,
    ],
    [
      [{ kind: "ConfigMap", apiVersion: "v1" }],
      /found "ConfigMap" of "v1", allowed are ValidatingAdmissionPolicy of/,
    ],
  ])("%j", async (objects, message) => {
    write("a.yaml", ...objects);
    expect(await messageOf()).toMatch(message);
  });

  it("are a file that isn't YAML, and a folder that is relative, absent or a file", async () => {
    const file = path.join(folder, "a.yaml");
    writeFileSync(file, "a: [");
    expect(await messageOf()).toContain(`${file}: can't be parsed: `);
    const of = async (staticManifestsDir: string) => messageOf({ staticManifestsDir });
    expect(await of("manifests")).toContain(`staticManifestsDir: "manifests": must be an absolute path`);
    expect(await of(file)).toContain("must be a folder");
    expect(await of(path.join(folder, "absent"))).toContain("doesn't exist");
  });

  it("are those of a server without the gate", async () => {
    const gate = "needs the feature gate ManifestBasedAdmissionControlConfig";
    expect(await messageOf({ featureGates: "ManifestBasedAdmissionControlConfig=false" })).toContain(gate);
    expect(await messageOf({ release: "1.36" })).toContain(gate);
    expect(await messageOf({ release: "1.30" })).toContain(gate);
  });
});
