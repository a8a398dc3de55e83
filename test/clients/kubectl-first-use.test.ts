import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer, manualClock } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

const hint =
  "Warning: this server has the platform vocabulary, and kubectl needs names of the kubernetes vocabulary: " +
  "start it with --vocabulary=kubernetes\n";

describeKubectl("kubectl with a server of the platform vocabulary", (program) => {
  let server: Server;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await createServer({ vocabulary: "platform" });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  // The second time kubectl has discovery in its cache.
  it.each(["first", "second"])("get deploy -A shows the flag beside an empty list, the %s time", async () => {
    expect(await kubectl.run(["get", "deploy", "-A"])).toEqual({
      code: 0,
      stdout: "",
      stderr: `${hint}No resources found\n`,
    });
  });

  it.each([[["get", "clusterroles"]], [["auth", "can-i", "get", "pods"]]])(
    "%j shows the flag",
    async (args) => {
      expect((await kubectl.run(args)).stderr).toContain("--vocabulary=kubernetes");
    },
  );

  // Older versions send JSON, which the server accepts.
  it.each([[["create", "deployment", "web", "--image=nginx"]], [["create", "namespace", "team"]]])(
    "%j succeeds or shows the flag",
    async (args) => {
      const { code, stderr } = await kubectl.run(args);
      expect([code, stderr]).toEqual(
        program.minor <= 20 ? [0, ""] : [1, expect.stringContaining("--vocabulary=kubernetes")],
      );
    },
  );
});

describeKubectl("kubectl with a server that has no controllers and nodes", (program) => {
  const clock = manualClock(Date.parse("2026-11-01T12:00:00Z"));
  let server: Server;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await createServer({ vocabulary: "kubernetes", clock, workloadHints: true });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  const events = async () => {
    const lines = await kubectl.ok([
      "get",
      "events",
      "--no-headers",
      "-o=custom-columns=REASON:.reason,OBJECT:.involvedObject.name",
    ]);
    return lines.split("\n").filter((line) => line !== "");
  };

  it("get deploy -A has no warning", async () => {
    expect(await kubectl.run(["get", "deploy", "-A"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "No resources found\n",
    });
  });

  it("create deployment leads to one event, which describe shows", async () => {
    await kubectl.ok(["create", "deployment", "web", "--image=nginx"]);
    await clock.advance(10_000);
    await expect.poll(events).toEqual([expect.stringMatching(/^NoController +web$/)]);
    await clock.advance(60_000);
    expect(await events()).toHaveLength(1);
    expect(await kubectl.ok(["describe", "deployment", "web"])).toMatch(
      /Warning +NoController .*no pods will be created; see docs\/pods\.md/,
    );
  });

  it("create deployment and run lead to none where a controller manager and a node renew their leases", async () => {
    const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const lease = (namespace: string, name: string) =>
      JSON.stringify({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { namespace, name },
        spec: { holderIdentity: "a", leaseDurationSeconds: 60, renewTime },
      });
    const input = [lease("kube-system", "kube-controller-manager"), lease("kube-node-lease", "node-1")].join(
      "\n",
    );
    await kubectl.ok(["apply", "-f", "-"], { input });
    const before = await events();
    await kubectl.ok(["create", "deployment", "quiet", "--image=nginx"]);
    await kubectl.ok(["run", "quiet", "--image=nginx"]);
    await clock.advance(10_000);
    // The hint about a later workload comes after those about earlier ones.
    await kubectl.ok(["delete", "lease", "-n=kube-system", "kube-controller-manager"]);
    await clock.advance(10_000);
    await kubectl.ok(["create", "deployment", "later", "--image=nginx"]);
    await clock.advance(10_000);
    await expect.poll(events).toHaveLength(before.length + 1);
    expect((await events()).join("\n")).not.toContain("quiet");
  });
});
