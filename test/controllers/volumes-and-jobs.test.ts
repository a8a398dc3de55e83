import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ManualClock, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

const core = "/api/v1/namespaces/default";
const claims = `${core}/persistentvolumeclaims`;
const volumes = "/api/v1/persistentvolumes";
const pods = `${core}/pods`;
const jobs = "/apis/batch/v1/namespaces/default/jobs";

describe("protection of claims and volumes", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const resources = { requests: { storage: "1Gi" } };
  const claim = (name: string, metadata: object = {}) =>
    ok(
      server.admin.post(claims, {
        metadata: { name, ...metadata },
        spec: { accessModes: ["ReadWriteOnce"], resources, storageClassName: "" },
      }),
    );
  const pod = (name: string, volume: object, nodeName = "n1") =>
    ok(
      server.admin.post(pods, {
        metadata: { name },
        spec: {
          ...(nodeName === "" ? {} : { nodeName }),
          containers: [{ name: "c", image: "i" }],
          volumes: [{ name: "data", ...volume }],
        },
      }),
    );
  const usesClaim = (claimName: string) => ({ persistentVolumeClaim: { claimName } });
  const isThere = async (path: string) => (await server.admin.get(path)).status === 200;
  const endPod = (name: string) => ok(server.admin.delete(`${pods}/${name}?gracePeriodSeconds=0`));
  /** Waits until the controller has seen what was written before: a claim that nobody uses goes. */
  const seenByController = async () => {
    await claim("probe");
    await server.admin.delete(`${claims}/probe`);
    await expect.poll(() => isThere(`${claims}/probe`)).toBe(false);
  };

  test("a deleted claim is removed when no pod uses it", async () => {
    await claim("unused");
    await ok(server.admin.delete(`${claims}/unused`));
    await expect.poll(() => isThere(`${claims}/unused`)).toBe(false);
  });

  test("a deleted claim is removed when the last scheduled pod that uses it is deleted", async () => {
    await claim("used");
    for (const name of ["one", "two"]) await pod(name, usesClaim("used"));
    await pod("waits", usesClaim("used"), "");
    await ok(server.admin.delete(`${claims}/used`));
    await endPod("one");
    await seenByController();
    expect((await server.admin.get(`${claims}/used`)).body.metadata.finalizers).toEqual([
      "platform.io/pvc-protection",
    ]);
    await endPod("two");
    await expect.poll(() => isThere(`${claims}/used`)).toBe(false);
    await endPod("waits");
  });

  test("the deleted claim of an ephemeral volume is removed when its pod has completed", async () => {
    const template = { spec: { accessModes: ["ReadWriteOnce"], resources, storageClassName: "" } };
    const made = await pod("owner", { ephemeral: { volumeClaimTemplate: template } });
    const { uid } = made.body.metadata;
    await claim("owner-data", { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "owner", uid }] });
    await ok(server.admin.delete(`${claims}/owner-data`));
    await seenByController();
    expect(await isThere(`${claims}/owner-data`)).toBe(true);
    const { body } = await server.admin.get(`${pods}/owner`);
    await ok(
      server.admin.put(`${pods}/owner/status`, { ...body, status: { ...body.status, phase: "Succeeded" } }),
    );
    await expect.poll(() => isThere(`${claims}/owner-data`)).toBe(false);
    await endPod("owner");
  });

  test("the controller adds the finalizer to a claim and a volume without it", async () => {
    const own = await TestServer.start({ disabledAdmissionPlugins: ["StorageObjectInUseProtection"] });
    try {
      const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
      await ok(own.admin.post(claims, { metadata: { name: "a" }, spec: { ...spec, resources } }));
      const hostPath = { path: "/a" };
      const capacity = { storage: "1Gi" };
      await ok(own.admin.post(volumes, { metadata: { name: "a" }, spec: { ...spec, capacity, hostPath } }));
      const finalizers = async (path: string) => (await own.admin.get(`${path}/a`)).body.metadata.finalizers;
      await expect.poll(() => finalizers(claims)).toEqual(["platform.io/pvc-protection"]);
      await expect.poll(() => finalizers(volumes)).toEqual(["platform.io/pv-protection"]);
    } finally {
      await own.close();
    }
  });

  test("a deleted volume is removed when it is not bound", async () => {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      capacity: { storage: "1Gi" },
      hostPath: { path: "/a" },
    };
    const at = `${volumes}/bound`;
    const { body } = await ok(server.admin.post(volumes, { metadata: { name: "bound" }, spec }));
    await ok(server.admin.put(`${at}/status`, { ...body, status: { phase: "Bound" } }));
    await ok(server.admin.post(volumes, { metadata: { name: "free" }, spec }));
    for (const name of ["bound", "free"]) await ok(server.admin.delete(`${volumes}/${name}`));
    await expect.poll(() => isThere(`${volumes}/free`)).toBe(false);
    const bound = (await server.admin.get(at)).body;
    expect(bound.metadata.finalizers).toEqual(["platform.io/pv-protection"]);
    await ok(server.admin.put(`${at}/status`, { ...bound, status: { phase: "Released" } }));
    await expect.poll(() => isThere(at)).toBe(false);
  });
});

describe("the time to live of finished jobs", () => {
  let clock: ManualClock;
  let server: TestServer;
  beforeEach(async () => {
    clock = new ManualClock();
    server = await TestServer.start({
      clock,
      enabledControllers: ["ttl-after-finished", "garbagecollector"],
    });
  });
  afterEach(() => server.close());

  async function finish(name: string, type: string, spec: object): Promise<void> {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const { body } = await ok(server.admin.post(jobs, { metadata: { name }, spec: { template, ...spec } }));
    if (type === "") return;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
    const conditions = [{ type, status: "True", lastProbeTime: time, lastTransitionTime: time }];
    const ended = type === "Complete" ? { completionTime: time } : {};
    const status = { conditions, startTime: time, ...ended };
    await ok(server.admin.put(`${jobs}/${name}/status`, { ...body, status }));
  }
  const names = async () =>
    (await server.admin.get(jobs)).body.items.map((one: { metadata: { name: string } }) => one.metadata.name);

  test("a completed or failed job is deleted after ttlSecondsAfterFinished; other jobs stay", async () => {
    await finish("complete", "Complete", { ttlSecondsAfterFinished: 100 });
    await finish("failed", "Failed", { ttlSecondsAfterFinished: 200 });
    await finish("now", "Complete", { ttlSecondsAfterFinished: 0 });
    await finish("runs", "", { ttlSecondsAfterFinished: 0 });
    await finish("stays", "Complete", {});
    await expect.poll(names).toEqual(["complete", "failed", "runs", "stays"]);
    await clock.advance(99_000 - 1000);
    expect(await names()).toContain("complete");
    await clock.advance(2000);
    await expect.poll(names).toEqual(["failed", "runs", "stays"]);
    await clock.advance(100_000);
    await expect.poll(names).toEqual(["runs", "stays"]);
    await ok(server.admin.patch(`${jobs}/stays`, { spec: { ttlSecondsAfterFinished: 10 } }));
    await expect.poll(names).toEqual(["runs"]);
  });
});
