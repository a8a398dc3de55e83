import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { namespace, ok } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";

const server = useServer({ enabledControllers: [], disabledAdmissionPlugins: ["ServiceAccount"] });

const pod = (name: string, meta: object = {}) => ({
  metadata: { name, ...meta },
  spec: { nodeName: "n1", containers: [{ name: "main", image: "i" }] },
});

/** A pod on a node whose graceful deletion has begun. */
async function terminatingPod(name: string, meta: object = {}): Promise<string> {
  await ok(server.admin.post(pods, pod(name, meta)));
  await ok(server.admin.delete(`${pods}/${name}`));
  return `${pods}/${name}`;
}

describe("a pod during its grace period", () => {
  test("remains through every status write of its node, and is deleted by a DELETE that ends the grace period", async () => {
    const path = await terminatingPod("ends-well");
    for (const phase of ["Running", "Succeeded"]) {
      const { body } = await ok(
        server.admin.patch(`${path}/status`, { status: { phase, message: phase } }, "strategic"),
      );
      expect([body.status.phase, body.metadata.deletionGracePeriodSeconds]).toEqual([phase, 30]);
    }
    expect((await server.admin.get(path)).status).toBe(200);
    await ok(server.admin.delete(path, { body: { gracePeriodSeconds: 0 } }));
    expect((await server.admin.get(path)).status).toBe(404);
  });

  const writes: Record<string, (path: string) => Promise<{ status: number }>> = {
    "a replacement": async (path) => server.admin.put(path, (await server.admin.get(path)).body),
    "a changed replacement": async (path) => {
      const { body } = await server.admin.get(path);
      return server.admin.put(path, { ...body, metadata: { ...body.metadata, labels: { a: "b" } } });
    },
    "a merge patch": (path) => server.admin.patch(path, { metadata: { labels: { a: "b" } } }),
    "a JSON patch": (path) =>
      server.admin.patch(path, [{ op: "add", path: "/metadata/labels", value: { a: "b" } }], "json"),
    "a replaced status": async (path) => {
      const { body } = await server.admin.get(path);
      return server.admin.put(`${path}/status`, { ...body, status: { ...body.status, message: "m" } });
    },
    "an apply": (path) =>
      server.admin.ask("PATCH", `${path}?fieldManager=m`, {
        body: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: path.split("/").at(-1), labels: { a: "b" } },
        },
        contentType: "application/apply-patch+yaml",
      }),
    "its last finalizer's removal": (path) => server.admin.patch(path, { metadata: { finalizers: null } }),
  };
  test.each(Object.keys(writes))("remains after %s", async (what) => {
    const name = what.replaceAll(/[^a-z]/g, "");
    const path = await terminatingPod(name, { finalizers: ["example.com/a"] });
    await ok(server.admin.patch(path, { metadata: { finalizers: null } }));
    expect((await writes[what]!(path)).status).toBe(200);
    const { status, body } = await server.admin.get(path);
    expect([status, body.metadata.deletionGracePeriodSeconds]).toEqual([200, 30]);
  });

  test("is deleted with its last finalizer when the grace period has been ended", async () => {
    const path = await terminatingPod("held", { finalizers: ["example.com/a"] });
    await ok(server.admin.delete(path, { body: { gracePeriodSeconds: 0 } }));
    expect((await server.admin.get(path)).body.metadata.deletionGracePeriodSeconds).toBe(0);
    await ok(server.admin.patch(`${path}/status`, { metadata: { finalizers: null } }));
    expect((await server.admin.get(path)).status).toBe(404);
  });
});

test("a terminating namespace is deleted once both its lists of finalizers are empty", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("both")));
  const path = "/api/v1/namespaces/both";
  await ok(server.admin.patch(path, { metadata: { finalizers: ["example.com/a"] } }));
  await ok(server.admin.delete(path));
  const { body } = await ok(server.admin.patch(`${path}/status`, { metadata: { finalizers: null } }));
  expect(body.metadata).not.toHaveProperty("finalizers");
  expect((await server.admin.get(path)).body.status.phase).toBe("Terminating");
  await ok(server.admin.put(`${path}/finalize`, { ...body, spec: {} }));
  expect((await server.admin.get(path)).status).toBe(404);
});
