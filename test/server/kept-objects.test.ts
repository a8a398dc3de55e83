import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Release } from "../../src/base/releases.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Answer } from "../support/api.ts";

const services = "/api/v1/namespaces/default/services";
const service = (name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, labels: { app: "x" } },
  spec: { ports: [{ port: 80 }], trafficDistribution: "PreferClose" },
});
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const container = {
  name: "c",
  image: "i",
  lifecycle: { preStop: { sleep: { seconds: 3 } } },
  resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [container, { ...container, name: "e" }] },
    },
  },
};

let store: Store;
beforeEach(() => {
  store = createMemoryStore({ clock: systemClock });
});
afterEach(() => store.close());

/** Runs work with a server of a release over the store. */
async function under<R>(release: Release, work: (server: TestServer) => Promise<R>): Promise<R> {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", storage: store });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

function read(release: Release, path: string): Promise<Answer["body"]> {
  return under(release, async ({ admin }) => (await ok(admin.get(path))).body);
}

describe("a server of the reference release over a store of a later one", () => {
  it("hides later fields in lists, tables, binary answers and watches", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(services, service("s"))));
    await under("1.26", async ({ admin }) => {
      const list = await ok(admin.get(`${services}?labelSelector=app`));
      expect(list.body.items).toHaveLength(1);
      expect(JSON.stringify(list.body.items[0].spec)).not.toContain("trafficDistribution");
      const table = await ok(
        admin.get(`${services}?labelSelector=app&includeObject=Object`, {
          accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
        }),
      );
      expect(JSON.stringify(table.body.rows[0].object.spec)).not.toContain("trafficDistribution");
      const binary = await ok(admin.get(services, { accept: "application/vnd.kubernetes.protobuf" }));
      expect(binary.bytes.includes("PreferClose")).toBe(false);
      const watch = await admin.watch(`${services}?labelSelector=app&watch=true&resourceVersion=0`);
      expect(JSON.stringify((await watch.next())["object"].spec)).not.toContain("trafficDistribution");
      await ok(admin.patch(`${services}/s`, { metadata: { labels: { a: "b" } } }));
      const changed = await watch.next();
      expect(changed).toMatchObject({ type: "MODIFIED", object: { metadata: { labels: { a: "b" } } } });
      expect(JSON.stringify(changed["object"].spec)).not.toContain("trafficDistribution");
      await ok(admin.delete(`${services}/s`));
      const deleted = await watch.next();
      expect(deleted["type"]).toBe("DELETED");
      expect(JSON.stringify(deleted["object"].spec)).not.toContain("trafficDistribution");
      watch.close();
    });
  });

  it("refuses later fields in strict field validation", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(services, service("s"))));
    const answer = await under("1.26", ({ admin }) =>
      admin.patch(`${services}/s?fieldValidation=Strict`, { spec: { trafficDistribution: "PreferClose" } }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('unknown field "spec.trafficDistribution"');
  });

  it("removes later fields with the list item that has them", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(deployments, deployment)));
    await under("1.26", async ({ admin }) => {
      const { body } = await ok(admin.get(`${deployments}/d`));
      const [, second] = body.spec.template.spec.containers as { name: string }[];
      body.spec.template.spec.containers = [{ name: "n", image: "i" }, second];
      await ok(admin.put(`${deployments}/d`, body));
    });
    const { containers } = (await read("1.37", `${deployments}/d`)).spec.template.spec;
    expect(containers[0].resizePolicy).toBeUndefined();
    expect(containers[1]).toMatchObject({ name: "e", lifecycle: container.lifecycle });
  });

  it("replaces a later alternative by the one of an update", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(deployments, deployment)));
    const lifecycle = { preStop: { exec: { command: ["x"] } } };
    await under("1.26", ({ admin }) =>
      ok(
        admin.patch(
          `${deployments}/d`,
          { spec: { template: { spec: { containers: [{ name: "c", lifecycle }] } } } },
          "strategic",
        ),
      ),
    );
    const { containers } = (await read("1.37", `${deployments}/d`)).spec.template.spec;
    expect(containers[0].lifecycle).toEqual(lifecycle);
    expect(containers[0].resizePolicy).toEqual(container.resizePolicy);
    expect(containers[1].lifecycle).toEqual(container.lifecycle);
  });

  it("keeps nothing of a deleted object", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(services, service("s"))));
    await under("1.26", async ({ admin }) => {
      await ok(admin.delete(`${services}/s`));
      await ok(admin.post(services, service("s")));
    });
    expect((await read("1.37", `${services}/s`)).spec.trafficDistribution).toBeUndefined();
  });

  it("keeps the fields that an applier owns when it applies without them", async () => {
    const applied = { body: service("s"), contentType: "application/apply-patch+yaml" };
    const path = `${services}/s?fieldManager=m`;
    await under("1.37", ({ admin }) => ok(admin.ask("PATCH", path, applied)));
    const { trafficDistribution: _, ...spec } = service("s").spec;
    const without = { ...service("s"), metadata: { name: "s", labels: { a: "b" } }, spec };
    await under("1.26", ({ admin }) => ok(admin.ask("PATCH", path, { ...applied, body: without })));
    const { spec: after, metadata } = await read("1.37", `${services}/s`);
    expect(after.trafficDistribution).toBe("PreferClose");
    expect(metadata.managedFields[0].fieldsV1["f:spec"]).toHaveProperty("f:trafficDistribution");
    // Now that the release knows the field, an apply without it removes it.
    await under("1.37", ({ admin }) => ok(admin.ask("PATCH", path, { ...applied, body: without })));
    expect((await read("1.37", `${services}/s`)).spec.trafficDistribution).toBeUndefined();
  });

  it("changes neither generation nor content in an update without changes", async () => {
    await under("1.37", ({ admin }) => ok(admin.post(deployments, deployment)));
    const { metadata } = await read("1.37", `${deployments}/d`);
    await under("1.26", async ({ admin }) => {
      const { body } = await ok(admin.get(`${deployments}/d`));
      const answer = await ok(admin.put(`${deployments}/d`, body));
      expect(answer.body.metadata).toMatchObject({
        generation: 1,
        resourceVersion: metadata.resourceVersion,
      });
    });
  });
});

describe("a server of a later release over a store of the reference release", () => {
  it("shows the form of its release, and counts no generation for it", async () => {
    const { lifecycle: _, ...plain } = container;
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [plain] } };
    const spec = { ...deployment.spec, template };
    await under("1.26", ({ admin }) => ok(admin.post(deployments, { ...deployment, spec })));
    await under("1.37", async ({ admin }) => {
      const { body } = await ok(admin.get(`${deployments}/d`));
      expect(body.spec.template.metadata).toEqual({ labels: { a: "b" } });
      const answer = await ok(admin.patch(`${deployments}/d`, { metadata: { labels: { c: "d" } } }));
      expect(answer.body.metadata.generation).toBe(1);
    });
  });
});

describe("the record of releases", () => {
  const record = async () => {
    const { entries } = await store.range({ prefix: "/core/releases/" });
    return entries.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as object);
  };

  it("is absent while only the reference release writes", async () => {
    await under("1.26", () => Promise.resolve());
    expect(await record()).toEqual([]);
  });

  it("has the oldest and the newest release that wrote", async () => {
    await under("1.35", () => Promise.resolve());
    expect(await record()).toMatchObject([{ oldest: "1.35", newest: "1.35" }]);
    await under("1.37", () => Promise.resolve());
    expect(await record()).toMatchObject([{ oldest: "1.35", newest: "1.37" }]);
    await under("1.26", () => Promise.resolve());
    expect(await record()).toMatchObject([{ oldest: "1.26", newest: "1.37" }]);
  });

  it("has the reference release if a store without a record has objects", async () => {
    await under("1.26", () => Promise.resolve());
    await under("1.30", () => Promise.resolve());
    expect(await record()).toMatchObject([{ oldest: "1.26", newest: "1.30" }]);
  });
});
