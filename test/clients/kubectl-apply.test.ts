import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** Server-side apply on the command line. */
describeKubectl("kubectl apply --server-side", (program) => {
  let server: Server;
  let kubectl: Kubectl;

  beforeAll(async () => {
    server = await createServer({ vocabulary: "kubernetes" });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  const manifest = (replicas: number | undefined, image: string): string =>
    JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default" },
      spec: {
        ...(replicas === undefined ? {} : { replicas }),
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "web", image, ports: [{ containerPort: 80 }] }] },
        },
      },
    });
  const apply = (input: string, ...flags: string[]) =>
    kubectl.run(["apply", "--server-side", ...flags, "-f", "-"], { input });

  it("creates, changes, does a dry run, conflicts, and takes over with --force-conflicts", async () => {
    expect(await apply(manifest(2, "web:1"), "--dry-run=server")).toMatchObject({ code: 0 });
    await kubectl.fails(["get", "deployment", "web"]);
    expect(await apply(manifest(2, "web:1"))).toMatchObject({ code: 0 });
    expect(await apply(manifest(2, "web:2"))).toMatchObject({ code: 0 });

    // The manager that scales owns replicas from then on.
    await kubectl.ok(["patch", "deployment", "web", "--type=merge", "-p", '{"spec":{"replicas":5}}']);
    const refused = await apply(manifest(2, "web:2"));
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("conflict with");
    expect(refused.stderr).toContain(".spec.replicas");
    const another = await apply(manifest(undefined, "web:3"), "--field-manager=robot");
    expect(another.stderr).toContain('conflict with "kubectl"');

    expect(await apply(manifest(3, "web:3"), "--force-conflicts")).toMatchObject({ code: 0 });
    const shown = program.minor < 21 ? [] : ["--show-managed-fields"];
    const { spec, metadata } = await kubectl.json(["get", "deployment", "web", ...shown]);
    expect(spec).toMatchObject({ replicas: 3, template: { spec: { containers: [{ image: "web:3" }] } } });
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: "kubectl", operation: "Apply", apiVersion: "apps/v1" }),
    );
    const unchanged = metadata.resourceVersion;
    expect(await apply(manifest(3, "web:3"))).toMatchObject({ code: 0 });
    const again = await kubectl.json(["get", "deployment", "web"]);
    expect(again.metadata.resourceVersion).toBe(unchanged);
  });

  it("with diff shows what an apply would change", async () => {
    await apply(manifest(3, "web:3"), "--force-conflicts");
    const same = await kubectl.run(["diff", "--server-side", "-f", "-"], { input: manifest(3, "web:3") });
    expect(same).toMatchObject({ code: 0 });
    const other = await kubectl.run(["diff", "--server-side", "-f", "-"], { input: manifest(3, "web:4") });
    expect(other.code).toBe(1);
    expect(other.stdout).toContain("web:4");
  });

  const settings = (data: Record<string, string>): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "default" },
      data,
    });
  const owned = ["get", "configmap", "settings", ...(program.minor < 21 ? [] : ["--show-managed-fields"])];

  it("takes over its client-side fields, and removes those no longer applied", async () => {
    await kubectl.ok(["apply", "-f", "-"], { input: settings({ a: "1", b: "1", c: "1" }) });
    await kubectl.ok(["patch", "configmap", "settings", "--type=merge", "-p", '{"data":{"c":"9"}}']);
    const refused = await apply(settings({ a: "2", b: "1", c: "1" }));
    expect(refused.stderr).toContain(".data.c");
    expect(refused.stderr).not.toContain(".data.a");

    expect(await apply(settings({ a: "2", b: "1" }))).toMatchObject({ code: 0, stderr: "" });
    expect((await kubectl.json(owned)).data).toEqual({ a: "2", b: "1", c: "9" });
    // kubectl 1.26 and later migrate their old managedFields entry; older versions leave it unchanged.
    expect(await apply(settings({ a: "2" }))).toMatchObject({ code: 0, stderr: "" });
    const { data, metadata } = await kubectl.json(owned);
    const entries = metadata.managedFields as { manager: string; operation: string }[];
    const names = entries.map(({ manager, operation }) => `${manager} ${operation}`);
    expect(names).toContain("kubectl Apply");
    if (program.minor >= 26) {
      expect(data).toEqual({ a: "2", c: "9" });
      expect(names).not.toContain("kubectl-client-side-apply Update");
      const text = metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] as string;
      expect(JSON.parse(text)).toMatchObject({ data: { a: "2" } });
    } else {
      expect(data).toEqual({ a: "2", b: "1", c: "9" });
    }
    // Client-side apply still works afterwards.
    await kubectl.ok(["apply", "-f", "-"], { input: settings({ a: "3" }) });
    expect((await kubectl.json(owned)).data).toMatchObject({ a: "3", c: "9" });
  });
});
