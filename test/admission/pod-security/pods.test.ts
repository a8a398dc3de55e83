import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { AuditedServer, everythingAt } from "../../audit/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { restrictedSpec } from "./support.ts";
import {
  label,
  NAMESPACES,
  podsOf,
  plain,
  onHost,
  podNamed,
  namespaceWith,
  isOnHost,
} from "./pods-support.ts";

const unrestricted =
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';

describe("PodSecurity for Pods", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ controllers: [] });
    await namespaceWith(server, "strict", { enforce: "restricted" });
    await namespaceWith(server, "baseline", { enforce: "baseline", warn: "restricted" });
    await namespaceWith(server, "warned", { warn: "baseline" });
  });
  afterAll(() => server.close());

  test("C-4.13-94 PodSecurity is on by default, and namespaces without labels allow a Pod with hostNetwork", async () => {
    const refused = await server.admin.post(podsOf("strict"), podNamed("refused"));
    expect(refused.status).toBe(403);
    const allowed = await ok(server.admin.post(podsOf("default"), podNamed("allowed", onHost)));
    expect(allowed.warnings).toEqual([]);
  });

  test("C-4.13-95 a new Pod that violates the level of its namespace returns 403 with all violations", async () => {
    const { status, body, warnings } = await server.admin.post(podsOf("strict"), podNamed("refused"));
    expect(status).toBe(403);
    expect(body).toMatchObject({
      reason: "Forbidden",
      message: `pods "refused" is forbidden: violates PodSecurity "restricted:latest": ${unrestricted}`,
      details: { name: "refused", kind: "pods" },
    });
    // The warn level equals the enforce level and adds no warning to the error.
    expect(warnings).toEqual([]);
    expect((await server.admin.get(`${podsOf("strict")}/refused`)).status).toBe(404);
    const accepted = await ok(server.admin.post(podsOf("strict"), podNamed("accepted", restrictedSpec())));
    expect(accepted.warnings).toEqual([]);
  });

  test("the warn level returns a warning and is not enforced", async () => {
    const warned = await ok(server.admin.post(podsOf("baseline"), podNamed("warned")));
    expect(warned.warnings).toEqual([`would violate PodSecurity "restricted:latest": ${unrestricted}`]);
    const refused = await server.admin.post(podsOf("baseline"), podNamed("refused", onHost));
    expect(refused.body.message).toContain(`violates PodSecurity "baseline:latest": ${isOnHost}`);
    const only = await ok(server.admin.post(podsOf("warned"), podNamed("only", onHost)));
    expect(only.warnings).toEqual([`would violate PodSecurity "baseline:latest": ${isOnHost}`]);
  });

  test("a changed label applies to the next request", async () => {
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

  test("enforce-version v1.7 applies the rules of that release", async () => {
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

  test("an ephemeral container is evaluated", async () => {
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
  ])(
    "%s: a Pod template that violates the enforce level returns a warning and is not rejected",
    async (kind, group, resource, spec) => {
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
      // Every update returns the warning again, except updates of the status.
      const changed = await ok(server.admin.patch(`${at}/made`, { metadata: { labels: { x: "y" } } }));
      expect(changed.warnings).toEqual([warning]);
      if (spec === undefined) return;
      const status = await ok(
        server.admin.patch(`${at}/made/status`, { metadata: { annotations: { x: "y" } } }),
      );
      expect(status.warnings).toEqual([]);
    },
  );

  test("the enforce level returns no warning for pod templates", async () => {
    await namespaceWith(server, "quiet", { enforce: "restricted", warn: "privileged" });
    // The level is in force: it rejects pods, and only the other one would return warnings.
    expect((await server.admin.post(podsOf("quiet"), podNamed("p"))).status).toBe(403);
    const spec = {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: plain },
    };
    const path = "/apis/apps/v1/namespaces/quiet/deployments";
    expect((await ok(server.admin.post(path, { metadata: { name: "d" }, spec }))).warnings).toEqual([]);
    const warn = { metadata: { labels: { [label("warn")]: "restricted" } } };
    await ok(server.admin.patch("/api/v1/namespaces/quiet", warn));
    const changed = await ok(server.admin.patch(`${path}/d`, { metadata: { labels: { x: "y" } } }));
    expect(changed.warnings).toHaveLength(1);
  });
});

test("with the vocabulary kubernetes, labels and annotations have the domain kubernetes.io", async () => {
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

test("the disabled plugin rejects neither pods nor labels", async () => {
  const server = await TestServer.start({ controllers: [], disabledAdmissionPlugins: ["PodSecurity"] });
  try {
    await namespaceWith(server, "strict", { enforce: "restricted", warn: "sometimes" });
    await ok(server.admin.post(podsOf("strict"), podNamed("p", onHost)));
  } finally {
    await server.close();
  }
});

test("a pod in a missing namespace returns 500 when NamespaceLifecycle is disabled", async () => {
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

test("invalid labels stored while the plugin was disabled are enforced as restricted and recorded in the audit log", async () => {
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
    // The namespace can be changed otherwise, but another invalid value returns 422.
    const patch = (labels: object) => admin.patch(`${NAMESPACES}/unclear`, { metadata: { labels } });
    expect((await patch({ a: "b" })).status).toBe(200);
    expect((await patch({ [label("enforce")]: "often" })).status).toBe(422);
    expect((await patch({ [label("enforce")]: "baseline" })).status).toBe(200);
  } finally {
    await server.close();
    folder.remove();
  }
});
