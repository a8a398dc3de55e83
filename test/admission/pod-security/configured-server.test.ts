import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { AuditedServer, everythingAt } from "../../audit/support.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
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

  test("defaults apply to namespaces without labels and are recorded", async () => {
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

  test("labels without effect on an exempt namespace return a warning", async () => {
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
