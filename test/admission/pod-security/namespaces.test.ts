import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { podSecurity } from "../../../src/admission/plugins/pod-security/pod-security.ts";
import { readPodSecurity } from "../../../src/admission/plugins/pod-security/configuration.ts";
import { PodSecurityCounters } from "../../../src/admission/plugins/pod-security/counters.ts";
import { AdmissionFacts } from "../../../src/admission/followed-objects.ts";
import { Namespace } from "../../../src/kinds/core/namespace.ts";
import { Pod } from "../../../src/kinds/core/pod/pod.ts";
import { Registry } from "../../../src/resources/registry/registry.ts";
import { WriteEffects } from "../../../src/resources/writes/write.ts";
import { StoreUnavailableError, type Store } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { describeKubectl, Kubectl } from "../../support/kubectl.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { restrictedSpec } from "./support.ts";

const NAMESPACES = "/api/v1/namespaces";
const enforce = "pod-security.platform.io/enforce";
const version = "pod-security.platform.io/enforce-version";
const warn = "pod-security.platform.io/warn";

const plain = { containers: [{ name: "c", image: "i" }] };
const onHost = { ...plain, hostNetwork: true };

describe("PodSecurity labels of a namespace", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ controllers: [] });
    await ok(server.admin.post(NAMESPACES, { metadata: { name: "used" } }));
    const pods = { one: plain, two: onHost, three: onHost, four: restrictedSpec(), five: onHost };
    for (const [name, spec] of Object.entries(pods)) {
      await ok(server.admin.post(`${NAMESPACES}/used/pods`, { metadata: { name }, spec }));
    }
  });
  afterAll(() => server.close());

  const label = (labels: Record<string, string | null>, query = "") =>
    server.admin.patch(`${NAMESPACES}/used${query}`, { metadata: { labels } });
  const create = (labels: Record<string, string>) =>
    server.admin.post(`${NAMESPACES}?dryRun=All`, { metadata: { name: "new", labels } });

  test("invalid labels return 422 with all errors", async () => {
    const { status, body } = await create({ [enforce]: "strict", [version]: "1.20", [warn]: "Baseline" });
    const levels = "must be one of privileged, baseline, restricted";
    const wrong = {
      [enforce]: `Invalid value: "strict": ${levels}`,
      [version]: 'Invalid value: "1.20": must be "latest" or "v1.x"',
      [warn]: `Invalid value: "Baseline": ${levels}`,
    };
    const causes = Object.entries(wrong).map(([key, message]) => ({
      reason: "FieldValueInvalid",
      message,
      field: `metadata.labels[${key}]`,
    }));
    expect([status, body.reason, body.details]).toEqual([
      422,
      "Invalid",
      { name: "new", kind: "Namespace", causes },
    ]);
    expect(body.message).toMatch(/^Namespace "new" is invalid: \[metadata\.labels\[pod-security/);
    expect((await label({ [enforce]: "strict" })).status).toBe(422);
    await ok(create({ [enforce]: "restricted", [version]: "v1.26", [warn]: "privileged" }));
    // Labels of another domain are ignored.
    await ok(create({ "pod-security.kubernetes.io/enforce": "strict" }));
  });

  const restricted =
    "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile";
  const existing = (level: string) =>
    `existing pods in namespace "used" violate the new PodSecurity enforce level "${level}"`;

  test("a stricter enforce level returns warnings about violating Pods, and a looser one does not", async () => {
    expect((await ok(label({ [enforce]: "baseline" }, "?dryRun=All"))).warnings).toEqual([
      existing("baseline:latest"),
      "five (and 2 other pods): host namespaces",
    ]);
    expect((await ok(label({ [enforce]: "restricted" }))).warnings).toEqual([
      existing("restricted:latest"),
      `five (and 2 other pods): host namespaces, ${restricted}`,
      `one: ${restricted}`,
    ]);
    expect((await ok(label({ [enforce]: "baseline" }))).warnings).toEqual([]);
    expect((await ok(label({ other: "x" }))).warnings).toEqual([]);
    // Another version may have other rules, even at the same level.
    expect((await ok(label({ [version]: "v1.20" }))).warnings).toEqual([
      existing("baseline:v1.20"),
      "five (and 2 other pods): host namespaces",
    ]);
    expect((await ok(label({ [enforce]: "privileged" }))).warnings).toEqual([]);
    expect((await ok(label({ [enforce]: null, [version]: null }))).warnings).toEqual([]);
    // Only the enforce level is checked.
    expect((await ok(label({ [warn]: "restricted" }))).warnings).toEqual([]);
  });

  test("a write of its status or finalizers is not checked", async () => {
    const { body } = await ok(server.admin.get(`${NAMESPACES}/used`));
    body.metadata.labels = { ...body.metadata.labels, [enforce]: "strict" };
    expect((await server.admin.put(`${NAMESPACES}/used/status`, body)).status).toBe(200);
  });
});

test("a label is accepted with a warning when the pods can't be read", async () => {
  const clock = new ManualClock();
  const registry = new Registry([Namespace, Pod], platform, () => true);
  const broken = new StoreUnavailableError("away");
  const store = { range: () => Promise.reject(broken) } as unknown as Store;
  const errors: unknown[] = [];
  const failed = (error: unknown) => void errors.push(error);
  const plugin = podSecurity({
    settings: (await readPodSecurity(undefined, platform)).value,
    facts: new AdmissionFacts({ store, clock, failed }, platform),
    counters: new PodSecurityCounters(),
    vocabulary: platform,
    pods: { store, registry, clock, failed },
  });
  let warnings: string[] = [];
  const namespace = (labels: Record<string, string>) => ({ metadata: { name: "used", labels } });
  const update = (labels: Record<string, string>) => ({
    operation: "UPDATE" as const,
    requestResource: registry.require(Namespace),
    options: {} as never,
    reinvocation: false,
    target: { resource: registry.require(Namespace), namespace: "", name: "used", subresource: "" },
    user: { name: "ana", uid: "", groups: [], extra: {} },
    dryRun: false,
    object: namespace(labels) as never,
    live: namespace({}) as never,
    effects: new WriteEffects({
      warn: (text: string) => void warnings.push(text),
      annotate: () => undefined,
    }),
  });
  await plugin.validate!(update({ [enforce]: "baseline" }));
  expect(warnings).toEqual(["failed to list pods while checking new PodSecurity enforce level"]);
  expect(errors).toEqual([broken]);
  // For the level privileged, Pods are not listed.
  warnings = [];
  await plugin.validate!(update({ [enforce]: "privileged", [version]: "v1.20" }));
  expect(warnings).toEqual([]);
});

describeKubectl("pod security", (program) => {
  let server: TestServer;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes", controllers: [] });
    kubectl = new Kubectl(program, server.server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  it("label prints the Pods that violate the new level, and run and create print the errors and warnings", async () => {
    await kubectl.ok(["create", "namespace", "team"]);
    await kubectl.ok(["-n", "team", "run", "web", "--image=example.com/web:1"]);
    const labelled = await kubectl.run([
      "label",
      "ns",
      "team",
      "pod-security.kubernetes.io/enforce=restricted",
    ]);
    expect(labelled.code).toBe(0);
    expect(labelled.stderr.trim().split("\n")).toEqual([
      'Warning: existing pods in namespace "team" violate the new PodSecurity enforce level "restricted:latest"',
      "Warning: web: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile",
    ]);
    expect(await kubectl.fails(["-n", "team", "run", "db", "--image=example.com/db:1"])).toContain(
      'Error from server (Forbidden): pods "db" is forbidden: violates PodSecurity "restricted:latest": ' +
        'allowPrivilegeEscalation != false (container "db" must set securityContext.allowPrivilegeEscalation=false)',
    );
    const deployed = await kubectl.run([
      "-n",
      "team",
      "create",
      "deployment",
      "d",
      "--image=example.com/d:1",
    ]);
    expect(deployed).toMatchObject({ code: 0, stdout: "deployment.apps/d created\n" });
    expect(deployed.stderr).toMatch(/^Warning: would violate PodSecurity "restricted:latest": /);
    const wrong = await kubectl.fails([
      "label",
      "ns",
      "team",
      "--overwrite",
      "pod-security.kubernetes.io/enforce=x",
    ]);
    expect(wrong).toContain("must be one of privileged, baseline, restricted");
  });
});
