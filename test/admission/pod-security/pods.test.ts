import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { AuditedServer, everythingAt } from "../../audit/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/process.ts";
import { restrictedSpec } from "./support.ts";

const label = (name: string, domain = "platform.io") => `pod-security.${domain}/${name}`;
const NAMESPACES = "/api/v1/namespaces";
const podsOf = (namespace: string) => `${NAMESPACES}/${namespace}/pods`;

const plain = { containers: [{ name: "c", image: "example.com/image:1" }] };
const onHost = { ...plain, hostPID: true };
const podNamed = (name: string, spec: object = plain, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec,
});

/** Makes a namespace with pod security labels, given without their prefix. */
async function namespaceWith(
  { admin }: Pick<TestServer, "admin">,
  name: string,
  labels: Record<string, string>,
  domain?: string,
): Promise<void> {
  const own = Object.entries(labels).map(([key, value]) => [label(key, domain), value]);
  await ok(admin.post(NAMESPACES, { metadata: { name, labels: Object.fromEntries(own) } }));
}

const unrestricted =
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';
const isOnHost = "host namespaces (hostPID=true)";

describe("pods", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ controllers: [] });
    await namespaceWith(server, "strict", { enforce: "restricted" });
    await namespaceWith(server, "baseline", { enforce: "baseline", warn: "restricted" });
    await namespaceWith(server, "warned", { warn: "baseline" });
  });
  afterAll(() => server.close());

  test("C-4.13-94 PodSecurity is on by default, and namespaces without labels allow everything", async () => {
    const refused = await server.admin.post(podsOf("strict"), podNamed("refused"));
    expect(refused.status).toBe(403);
    const allowed = await ok(server.admin.post(podsOf("default"), podNamed("allowed", onHost)));
    expect(allowed.warnings).toEqual([]);
  });

  test("C-4.13-95 a new pod that violates the standard of its namespace is rejected, with all violations", async () => {
    const { status, body, warnings } = await server.admin.post(podsOf("strict"), podNamed("refused"));
    expect(status).toBe(403);
    expect(body).toMatchObject({
      reason: "Forbidden",
      message: `pods "refused" is forbidden: violates PodSecurity "restricted:latest": ${unrestricted}`,
      details: { name: "refused", kind: "pods" },
    });
    // The error says it all: no warning beside it.
    expect(warnings).toEqual([]);
    expect((await server.admin.get(`${podsOf("strict")}/refused`)).status).toBe(404);
    const accepted = await ok(server.admin.post(podsOf("strict"), podNamed("accepted", restrictedSpec())));
    expect(accepted.warnings).toEqual([]);
  });

  test("a level that is warned of is not enforced", async () => {
    const warned = await ok(server.admin.post(podsOf("baseline"), podNamed("warned")));
    expect(warned.warnings).toEqual([`would violate PodSecurity "restricted:latest": ${unrestricted}`]);
    const refused = await server.admin.post(podsOf("baseline"), podNamed("refused", onHost));
    expect(refused.body.message).toContain(`violates PodSecurity "baseline:latest": ${isOnHost}`);
    const only = await ok(server.admin.post(podsOf("warned"), podNamed("only", onHost)));
    expect(only.warnings).toEqual([`would violate PodSecurity "baseline:latest": ${isOnHost}`]);
  });

  test("a label counts for the very next request", async () => {
    await namespaceWith(server, "changing", {});
    const create = (name: string) => server.admin.post(podsOf("changing"), podNamed(name, onHost));
    const set = (value: string | null) =>
      ok(
        server.admin.patch(`${NAMESPACES}/changing`, { metadata: { labels: { [label("enforce")]: value } } }),
      );
    for (let round = 0; round < 3; round++) {
      expect((await create(`free-${round}`)).status).toBe(201);
      await set("baseline");
      expect((await create(`refused-${round}`)).status).toBe(403);
      await set(null);
    }
  });

  test("a version keeps the rules of its release", async () => {
    await namespaceWith(server, "old", { enforce: "restricted", "enforce-version": "v1.7" });
    const { body } = await server.admin.post(podsOf("old"), podNamed("refused"));
    expect(body.message).toBe(
      'pods "refused" is forbidden: violates PodSecurity "restricted:v1.7": ' +
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    );
  });

  test("each mode has its own version", async () => {
    await namespaceWith(server, "two-versions", {
      enforce: "restricted",
      "enforce-version": "v1.0",
      warn: "restricted",
    });
    const spec = { ...plain, securityContext: { runAsNonRoot: true } };
    const { warnings } = await ok(server.admin.post(podsOf("two-versions"), podNamed("p", spec)));
    expect(warnings).toEqual([
      expect.stringMatching(/^would violate PodSecurity "restricted:latest": allowPriv/),
    ]);
  });

  test("updates are evaluated when they change an image, and not when they change labels or status", async () => {
    await namespaceWith(server, "updated", {});
    const at = `${podsOf("updated")}/p`;
    await ok(server.admin.post(podsOf("updated"), podNamed("p", onHost)));
    const labels = { [label("enforce")]: "baseline" };
    await ok(server.admin.patch(`${NAMESPACES}/updated`, { metadata: { labels } }));
    const labelled = await ok(server.admin.patch(at, { metadata: { labels: { a: "b" } } }));
    expect(labelled.warnings).toEqual([]);
    await ok(server.admin.patch(`${at}/status`, { status: { message: "m" } }));
    const image = [{ op: "replace", path: "/spec/containers/0/image", value: "example.com/image:2" }];
    const refused = await server.admin.patch(at, image, "json");
    expect([refused.status, refused.body.message]).toEqual([
      403,
      `pods "p" is forbidden: violates PodSecurity "baseline:latest": ${isOnHost}`,
    ]);
  });

  test("a container that is added to look into a pod is evaluated", async () => {
    await ok(server.admin.post(podsOf("strict"), podNamed("looked-into", restrictedSpec())));
    const at = `${podsOf("strict")}/looked-into/ephemeralcontainers`;
    const add = (ephemeralContainer: object) =>
      server.admin.patch(at, { spec: { ephemeralContainers: [ephemeralContainer] } }, "strategic");
    const refused = await add({ name: "e", image: "i" });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('container "e" must set securityContext.allowPrivilegeEscalation=false'),
    ]);
    await ok(add({ ...restrictedSpec().containers[0], name: "e" }));
  });

  test.each([
    ["Deployment", "/apis/apps/v1", "deployments", { template: {} }],
    ["ReplicaSet", "/apis/apps/v1", "replicasets", { template: {} }],
    ["StatefulSet", "/apis/apps/v1", "statefulsets", { template: {}, serviceName: "s" }],
    ["DaemonSet", "/apis/apps/v1", "daemonsets", { template: {} }],
    ["Job", "/apis/batch/v1", "jobs", { template: {} }],
    ["CronJob", "/apis/batch/v1", "cronjobs", { schedule: "* * * * *", jobTemplate: {} }],
    ["ReplicationController", "/api/v1", "replicationcontrollers", { template: {} }],
    ["PodTemplate", "/api/v1", "podtemplates", undefined],
  ])("%s: its template is warned of, and not rejected", async (kind, group, resource, spec) => {
    const ofBatch = group.includes("batch") ? { restartPolicy: "Never" } : {};
    const template = { metadata: { labels: { a: "b" } }, spec: { ...plain, ...ofBatch } };
    const at = `${group}/namespaces/strict/${resource}`;
    const selected =
      group === "/api/v1" ? { selector: { a: "b" } } : { selector: { matchLabels: { a: "b" } } };
    const object =
      spec === undefined
        ? { template }
        : "jobTemplate" in spec
          ? { spec: { ...spec, jobTemplate: { spec: { template } } } }
          : { spec: { ...spec, template, ...(kind === "Job" ? {} : selected) } };
    const created = await ok(server.admin.post(at, { metadata: { name: "made" }, ...object }));
    const warning = `would violate PodSecurity "restricted:latest": ${unrestricted}`;
    expect(created.warnings).toEqual([warning]);
    // Any update is warned of again; updates of the status are not.
    const changed = await ok(server.admin.patch(`${at}/made`, { metadata: { labels: { x: "y" } } }));
    expect(changed.warnings).toEqual([warning]);
    if (spec === undefined) return;
    const status = await ok(
      server.admin.patch(`${at}/made/status`, { metadata: { annotations: { x: "y" } } }),
    );
    expect(status.warnings).toEqual([]);
  });

  test("what is enforced only is not warned of in templates", async () => {
    await namespaceWith(server, "quiet", { enforce: "restricted", warn: "privileged" });
    const spec = {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: plain },
    };
    const path = "/apis/apps/v1/namespaces/quiet/deployments";
    expect((await ok(server.admin.post(path, { metadata: { name: "d" }, spec }))).warnings).toEqual([]);
  });
});

test("with the vocabulary kubernetes, labels and annotations are those of kubernetes.io", async () => {
  const server = await TestServer.start({ vocabulary: "kubernetes", controllers: [] });
  try {
    await namespaceWith(server, "strict", { enforce: "baseline" }, "kubernetes.io");
    await namespaceWith(server, "other", { enforce: "baseline" });
    const key = "container.apparmor.security.beta.kubernetes.io/c";
    const pod = podNamed("p", plain, { annotations: { [key]: "unconfined" } });
    const { status, body } = await server.admin.post(podsOf("strict"), pod);
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining(`"baseline:latest": forbidden AppArmor profile (${key}="unconfined")`),
    ]);
    await ok(server.admin.post(podsOf("other"), pod));
  } finally {
    await server.close();
  }
});

test("turned off, it rejects neither pods nor labels", async () => {
  const server = await TestServer.start({ controllers: [], disabledAdmissionPlugins: ["PodSecurity"] });
  try {
    await namespaceWith(server, "strict", { enforce: "restricted", warn: "sometimes" });
    await ok(server.admin.post(podsOf("strict"), podNamed("p", onHost)));
  } finally {
    await server.close();
  }
});

test("without a namespace there is no policy: a pod is refused", async () => {
  const disabledAdmissionPlugins = ["NamespaceLifecycle", "ServiceAccount"];
  const server = await TestServer.start({ controllers: [], disabledAdmissionPlugins });
  try {
    const { status, body } = await server.admin.post(podsOf("missing"), podNamed("p"));
    expect([status, body.message]).toEqual([
      500,
      'Internal error occurred: failed to lookup namespace "missing"',
    ]);
  } finally {
    await server.close();
  }
});

describe("the configuration, what is recorded, and what is counted", () => {
  const folder = temporaryFolder();
  let server: AuditedServer;
  const api = () => server.api.admin;

  beforeAll(async () => {
    const file = path.join(folder.path, "admission.yaml");
    const configuration = {
      apiVersion: "pod-security.admission.config.platform.io/v1",
      kind: "PodSecurityConfiguration",
      defaults: { enforce: "baseline", audit: "restricted", "audit-version": "v1.7" },
      exemptions: { usernames: ["ana"], namespaces: ["free", "freed"], runtimeClasses: ["sandbox"] },
    };
    const plugins = [{ name: "PodSecurity", configuration }];
    const kind = "AdmissionConfiguration";
    writeFileSync(file, JSON.stringify({ apiVersion: "apiserver.config.platform.io/v1", kind, plugins }));
    server = await AuditedServer.start(everythingAt("Metadata"), {
      controllers: [],
      admissionConfigurationFile: file,
    });
    const runtimeClass = { metadata: { name: "sandbox" }, handler: "sandbox" };
    await ok(api().post("/apis/node.platform.io/v1/runtimeclasses", runtimeClass));
    await namespaceWith(server.api, "free", {});
    await namespaceWith(server.api, "open", {
      enforce: "privileged",
      audit: "privileged",
      warn: "privileged",
    });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  /** What the audit recorded of pod security about a request, without the prefix. */
  async function recorded(answer: Promise<{ headers: Record<string, unknown> }>) {
    const id = (await answer).headers["audit-id"];
    const events = (await server.events(id)).filter(({ stage }) => stage === "ResponseComplete");
    expect(events).toHaveLength(1);
    const annotations = Object.entries(events[0].annotations as Record<string, string>);
    return Object.fromEntries(
      annotations
        .filter(([key]) => key.startsWith(label("")))
        .map(([key, value]) => [key.slice(label("").length), value]),
    );
  }

  test("defaults hold for namespaces without labels, and are recorded", async () => {
    const older = 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)';
    const violation = (what: string) => `would violate PodSecurity "restricted:v1.7": ${what}`;
    expect(await recorded(api().post(podsOf("default"), podNamed("allowed")))).toEqual({
      "enforce-policy": "baseline:latest",
      "audit-violations": violation(older),
    });
    const refused = api().post(podsOf("default"), podNamed("refused", onHost));
    expect(await recorded(refused)).toEqual({
      "enforce-policy": "baseline:latest",
      "audit-violations": violation(`${isOnHost}, ${older}`),
    });
    expect((await refused).status).toBe(403);
    expect(await recorded(api().post(podsOf("open"), podNamed("open", onHost)))).toEqual({
      "enforce-policy": "privileged:latest",
    });
  });

  test("templates are recorded without the policy that is enforced for pods", async () => {
    const template = { metadata: { labels: { a: "b" } }, spec: plain };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    const created = api().post("/apis/apps/v1/namespaces/default/deployments", {
      metadata: { name: "d" },
      spec,
    });
    expect(Object.keys(await recorded(created))).toEqual(["audit-violations"]);
    expect((await created).warnings).toEqual([]);
  });

  test("exemptions by namespace, user and runtime class are recorded", async () => {
    const inFree = api().post(podsOf("free"), podNamed("p", onHost));
    expect(await recorded(inFree)).toEqual({ exempt: "namespace" });
    expect((await inFree).status).toBe(201);
    const sandboxed = { ...onHost, runtimeClassName: "sandbox" };
    const inSandbox = api().post(podsOf("default"), podNamed("sandboxed", sandboxed));
    expect(await recorded(inSandbox)).toEqual({ exempt: "runtimeClass" });
    expect((await inSandbox).status).toBe(201);
    const headers = { "impersonate-user": "ana", "impersonate-group": "system:masters" };
    const byAna = api().post(podsOf("default"), podNamed("anas", onHost), { headers });
    expect(await recorded(byAna)).toEqual({ exempt: "user" });
    expect((await byAna).status).toBe(201);
  });

  test("labels of an exempt namespace that have no effect are warned of", async () => {
    const labels = {
      [label("enforce")]: "restricted",
      [label("audit-version")]: "v1.3",
      [label("warn")]: "privileged",
    };
    const created = await ok(api().post(NAMESPACES, { metadata: { name: "freed", labels } }));
    const ignored = (policy: string) =>
      `namespace "freed" is exempt from Pod Security, and the policy (${policy}) will be ignored`;
    // The level of audit is the configured one.
    expect(created.warnings).toEqual([ignored("enforce=restricted:latest, audit=restricted:v1.3")]);
    const version = { metadata: { labels: { [label("enforce-version")]: "v1.9" } } };
    const changed = await ok(api().patch(`${NAMESPACES}/freed`, version));
    expect(changed.warnings).toEqual([ignored("enforce=restricted:v1.9, audit=restricted:v1.3")]);
  });

  test("metrics count evaluations, exemptions and errors", async () => {
    const counts = async () => {
      const { text } = await api().get("/metrics");
      const lines = text.split("\n").filter((line) => line.startsWith("pod_security_"));
      return new Map(
        lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
      );
    };
    const before = await counts();
    await namespaceWith(server.api, "counted", {
      enforce: "baseline",
      "enforce-version": "v1.20",
      audit: "restricted",
      "audit-version": "v1.99",
      warn: "privileged",
    });
    await api().post(podsOf("counted"), podNamed("p", onHost));
    await api().post(podsOf("counted"), podNamed("q"));
    await api().post(podsOf("open"), podNamed("counted"));
    await api().post(podsOf("free"), podNamed("counted"));
    const after = await counts();
    const grown = [...after].flatMap(([name, value]) => {
      const by = value - (before.get(name) ?? 0);
      return by === 0 ? [] : [`${name} ${by}`];
    });
    const evaluated = (decision: string, level: string, version: string, mode: string) =>
      `pod_security_evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",` +
      `mode="${mode}",request_operation="create",resource="pod",subresource=""}`;
    expect(grown.toSorted()).toEqual(
      [
        `${evaluated("deny", "baseline", "v1.20", "enforce")} 1`,
        `${evaluated("allow", "baseline", "v1.20", "enforce")} 1`,
        `${evaluated("deny", "restricted", "future", "audit")} 2`,
        `${evaluated("allow", "privileged", "latest", "enforce")} 1`,
        'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 1',
      ].toSorted(),
    );
  });
});

test("labels that were stored while the plugin was off count as the strictest, and are recorded", async () => {
  const folder = temporaryFolder();
  const storage = { engine: "embedded", dir: path.join(folder.path, "data") } as const;
  const off = await TestServer.start({ storage, controllers: [], disabledAdmissionPlugins: ["PodSecurity"] });
  await namespaceWith(off, "unclear", { enforce: "sometimes" });
  await off.close();
  const server = await AuditedServer.start(everythingAt("Metadata"), { storage, controllers: [] });
  try {
    const { admin } = server.api;
    const refused = await admin.post(podsOf("unclear"), podNamed("refused"));
    expect(refused.body.message).toContain('violates PodSecurity "restricted:latest"');
    const [event] = (await server.events(refused.headers["audit-id"])).slice(-1);
    expect(event.annotations[label("error")]).toBe(
      `Failed to parse policy: metadata.labels[${label("enforce")}]: Invalid value: "sometimes": ` +
        "must be one of privileged, baseline, restricted",
    );
    const { text } = await admin.get("/metrics");
    expect(text).toContain(
      'pod_security_errors_total{fatal="false",request_operation="create",resource="pod",subresource=""} 1',
    );
    // Other changes of such a namespace are possible; other wrong values are not.
    const patch = (labels: object) => admin.patch(`${NAMESPACES}/unclear`, { metadata: { labels } });
    expect((await patch({ a: "b" })).status).toBe(200);
    expect((await patch({ [label("enforce")]: "often" })).status).toBe(422);
    expect((await patch({ [label("enforce")]: "baseline" })).status).toBe(200);
  } finally {
    await server.close();
    folder.remove();
  }
});
