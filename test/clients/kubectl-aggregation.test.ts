import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { until } from "../api/support.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** The command line client with a group that an extension server serves. */
describeKubectl("kubectl and the aggregation layer", (program) => {
  let server: Server;
  let extension: ExtensionServer;
  let kubectl: Kubectl;

  beforeAll(async () => {
    extension = await ExtensionServer.start();
    extension.answer = (request, response) => {
      const widget = (name: string) => ({
        apiVersion: `${extension.group}/v1`,
        kind: "Widget",
        metadata: { name, namespace: "default", creationTimestamp: "2024-01-01T00:00:00Z" },
      });
      const isOne = /widgets\/one/.test(request.url!);
      const list = { apiVersion: `${extension.group}/v1`, kind: "WidgetList", metadata: {} };
      extension.json(response, isOne ? widget("one") : { ...list, items: [widget("one"), widget("two")] });
    };
    server = await createServer({ vocabulary: "kubernetes", connections: { allowLoopback: true } });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
    await extension?.close();
  });

  const manifest = (group: string, spec: object) =>
    JSON.stringify({
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `v1.${group}` },
      spec: { group, version: "v1", groupPriorityMinimum: 2000, versionPriority: 10, ...spec },
    });

  it("an APIService is registered, becomes available, and its objects are read by their short name", async () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "extension" } };
    const spec = { type: "ExternalName", externalName: "localhost" };
    await kubectl.ok(["apply", "-f", "-"], { input: JSON.stringify({ ...service, spec }) });
    const caBundle = Buffer.from(extension.ca).toString("base64");
    const where = { service: { namespace: "default", name: "extension", port: extension.port }, caBundle };
    await kubectl.ok(["apply", "-f", "-"], { input: manifest(extension.group, where) });
    await kubectl.ok(["wait", "--for=condition=Available", `apiservice/${extension.name}`, "--timeout=20s"]);
    const lines = (await kubectl.ok(["get", "apiservices"])).split("\n");
    expect(lines.find((line) => line.startsWith(extension.name))).toMatch(/default\/extension\s+True/);
    expect(lines.find((line) => line.startsWith("v1.apps"))).toMatch(/Local\s+True/);
    const resources = await kubectl.ok(["api-resources", `--api-group=${extension.group}`]);
    expect(resources).toMatch(/^widgets\s+wd\s+.*true\s+Widget/m);
    expect(await kubectl.ok(["get", "wd", "-o", "name"])).toBe(
      `widget.${extension.group}/one\nwidget.${extension.group}/two\n`,
    );
    expect((await kubectl.json(["get", "widgets", "one"])).metadata.name).toBe("one");
    expect(extension.asked[0]!.headers["x-remote-user"]).toBe("system:kube-aggregator");
  });

  it("an unreachable group is reported, and everything else works", async () => {
    const where = { service: { namespace: "default", name: "nowhere" }, insecureSkipTLSVerify: true };
    await kubectl.ok(["apply", "-f", "-"], { input: manifest("away.example.com", where) });
    const reason = ["get", "apiservice/v1.away.example.com", "-o", "jsonpath={.status.conditions[0].reason}"];
    await until(
      () => kubectl.ok(reason),
      (found) => found === "ServiceNotFound",
    );
    const { stdout, stderr } = await kubectl.run(["api-resources"]);
    expect(stdout).toMatch(/^deployments\s/m);
    expect(stdout).toMatch(/^widgets\s/m);
    expect(stderr).toContain("away.example.com/v1");
    expect(await kubectl.ok(["get", "namespaces"])).toContain("default");
  });
});
