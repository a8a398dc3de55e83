import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** Quotas and PodSecurity levels on the command line. */
describeKubectl("kubectl and quotas", (program) => {
  let server: Server;
  let kubectl: Kubectl;

  beforeAll(async () => {
    server = await createServer({ vocabulary: "kubernetes" });
    kubectl = new Kubectl(program, server.kubeconfig());
    await kubectl.ok(["create", "namespace", "team"]);
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  /** The lines of a text, each split into words. */
  const words = (text: string) => text.split("\n").map((line) => line.trim().split(/\s+/));
  const apply = (object: object) => kubectl.run(["apply", "-f", "-"], { input: JSON.stringify(object) });
  const pod = (name: string, resources?: object, more?: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "team" },
    spec: { ...more, containers: [{ name: "app", image: "example.com/app:1", resources }] },
  });
  const requests = { requests: { cpu: "500m" } };

  it("create quota: a pod above the quota is rejected, and describe quota shows the usage", async () => {
    await kubectl.ok(["-n", "team", "create", "quota", "small", "--hard=cpu=1,pods=2,count/configmaps=10"]);
    await expect.poll(() => apply(pod("first", requests))).toMatchObject({ code: 0 });
    const large = await apply(pod("large", { requests: { cpu: "600m" } }));
    expect(large.code).not.toBe(0);
    expect(large.stderr).toContain(
      'pods "large" is forbidden: exceeded quota: small, requested: cpu=600m, used: cpu=500m, limited: cpu=1',
    );
    const without = await apply(pod("without"));
    expect(without.stderr).toContain("failed quota: small: must specify cpu for: app");
    await expect
      .poll(async () => words(await kubectl.ok(["-n", "team", "describe", "quota", "small"])))
      .toEqual(
        expect.arrayContaining([
          ["Resource", "Used", "Hard"],
          ["cpu", "500m", "1"],
          ["pods", "1", "2"],
          ["count/configmaps", "1", "10"],
        ]),
      );
    const listed = await kubectl.ok(["-n", "team", "get", "quota", "small", "--no-headers"]);
    expect(listed).toContain("count/configmaps: 1/10, cpu: 500m/1, pods: 1/2");
    await kubectl.ok(["-n", "team", "delete", "pod", "first", "--now"]);
    expect((await apply(pod("large", { requests: { cpu: "600m" } }))).code).toBe(0);
    await kubectl.ok(["-n", "team", "delete", "quota", "small"]);
  });

  it("a scoped quota counts only objects in its scopes", async () => {
    await kubectl.ok(["-n", "team", "create", "quota", "careless", "--hard=pods=0", "--scopes=BestEffort"]);
    expect((await apply(pod("careless"))).stderr).toContain("exceeded quota: careless");
    expect((await apply(pod("careful", requests))).code).toBe(0);
    expect(await kubectl.ok(["-n", "team", "describe", "quota", "careless"])).toMatch(/Scopes:\s+BestEffort/);
    await kubectl.ok(["-n", "team", "delete", "quota", "careless"]);
  });

  it("label namespace pod-security: warns about existing pods, and new ones are rejected", async () => {
    const onHost = { hostNetwork: true };
    expect((await apply(pod("root", undefined, onHost))).code).toBe(0);
    const level = "pod-security.kubernetes.io/enforce=baseline";
    const labelled = await kubectl.run(["label", "namespace", "team", level]);
    expect(labelled.code).toBe(0);
    expect(labelled.stderr).toMatch(
      /Warning: .*existing pods in namespace "team" violate .*"baseline:latest"/,
    );
    expect(labelled.stderr).toMatch(/Warning: root: host namespaces/);
    const second = await apply(pod("second", undefined, onHost));
    expect(second.stderr).toContain(
      'pods "second" is forbidden: violates PodSecurity "baseline:latest": host namespaces',
    );
  });
});
