import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { faultsIn, ok } from "./device-support.ts";

const core = "/api/v1/namespaces/default";
const resources = (cpu: string, memory: string, limit?: string) => ({
  requests: { cpu, memory },
  ...(limit !== undefined && { limits: { memory: limit } }),
});
const container = (name: string, more: object) => ({ name, image: "i", ...more });
let count = 0;
const pod = (spec: object) => ({ metadata: { name: `p${count++}` }, spec });
const plain = () => pod({ containers: [container("a", { resources: resources("100m", "64Mi", "128Mi") })] });
const resized = (more: object) => ({ spec: { containers: [{ name: "a", ...more }] } });

describe.each(["1.33", "1.37"] as const)("a resize in release %s", (release) => {
  const server = useServer({ release });
  const resize = (name: string, patch: object) =>
    server.admin.patch(`${core}/pods/${name}/resize`, patch, "strategic");
  const create = async (object: object) =>
    (await ok(server.admin.post(`${core}/pods`, object)))["metadata"].name as string;

  test("changes CPU and memory, and the generation", async () => {
    const name = await create(plain());
    const patch = resized({
      image: "other",
      resources: { requests: { cpu: "200m" }, limits: { memory: "256Mi" } },
    });
    const { metadata, spec } = await ok(resize(name, { ...patch, metadata: { labels: { a: "b" } } }));
    expect(spec.containers[0]).toMatchObject({
      image: "i",
      resources: { requests: { cpu: "200m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    });
    expect([metadata.generation, metadata.labels]).toEqual([2, undefined]);
    const direct = await server.admin.patch(
      `${core}/pods/${name}`,
      resized({ resources: { requests: { cpu: "300m" } } }),
      "strategic",
    );
    expect(direct.status).toBe(422);
  });

  test.each<[string, object, object, string]>([
    [
      "a removed limit",
      plain(),
      resized({ resources: { limits: { memory: null } } }),
      "spec.containers[0].resources.limits Forbidden",
    ],
    [
      "another resource",
      plain(),
      resized({ resources: { requests: { "ephemeral-storage": "1Gi" } } }),
      "spec Forbidden",
    ],
    [
      "another policy",
      plain(),
      resized({ resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }),
      "spec Forbidden",
    ],
    [
      "another container",
      plain(),
      { spec: { containers: [container("b", {})] } },
      "spec.containers Forbidden",
    ],
    [
      "another class of service",
      plain(),
      resized({ resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } } }),
      "spec Invalid",
    ],
    [
      "a pod for Windows",
      pod({ os: { name: "windows" }, containers: [container("a", {})] }),
      resized({ resources: { requests: { cpu: "200m" } } }),
      "undefined Forbidden",
    ],
  ])("rejects %s", async (_title, object, patch, expected) => {
    const name = await create({ ...object, metadata: { name: `p${count++}` } });
    const { status, body } = await resize(name, patch);
    expect(status, JSON.stringify(body)).toBe(422);
    expect(faultsIn(body)).toContain(expected);
  });

  test("lowers a limit of memory only with a restart in release 1.33", async () => {
    const patch = resized({ resources: { limits: { memory: "100Mi" } } });
    const { status } = await resize(await create(plain()), patch);
    expect(status).toBe(release === "1.33" ? 422 : 200);
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const restarted = pod({
      containers: [container("a", { resizePolicy, resources: resources("100m", "64Mi", "128Mi") })],
    });
    await ok(resize(await create(restarted), patch));
  });

  test("counts in quotas and limit ranges", async () => {
    const name = await create(plain());
    const limits = [{ type: "Container", max: { cpu: "3" } }];
    await ok(server.admin.post(`${core}/limitranges`, { metadata: { name: "l" }, spec: { limits } }));
    const cpu = (amount: string) =>
      resize(name, resized({ resources: { requests: { cpu: amount }, limits: { cpu: amount } } }));
    expect((await cpu("4")).status).toBe(403);
    await ok(server.admin.delete(`${core}/limitranges/l`));
    const hard = { "requests.cpu": "5" };
    await ok(server.admin.post(`${core}/resourcequotas`, { metadata: { name: "q" }, spec: { hard } }));
    const above = await cpu("6");
    expect([above.status, above.body["message"]]).toEqual([403, expect.stringContaining("exceeded quota")]);
    await ok(cpu("3"));
    await ok(server.admin.delete(`${core}/resourcequotas/q`));
  });
});

test("release 1.32 has no resize", async () => {
  const { TestServer } = await import("../support/api.ts");
  const server = await TestServer.start({ release: "1.32" });
  try {
    const { resources: served } = await ok(server.admin.get("/api/v1"));
    expect(served.map(({ name }: { name: string }) => name)).not.toContain("pods/resize");
  } finally {
    await server.close();
  }
});
