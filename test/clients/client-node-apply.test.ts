import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1ManagedFieldsEntry,
  type V1Status,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const applied = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

/** Server-side apply from the client library for Node, which works with this server unchanged. */
describe("apply by @kubernetes/client-node in the kubernetes vocabulary", () => {
  let server: TestServer;
  let config: KubeConfig;
  let core: CoreV1Api;

  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes" });
    config = new KubeConfig();
    config.loadFromString(server.server.kubeconfig());
    core = config.makeApiClient(CoreV1Api);
  });
  afterAll(() => server?.close());

  const namespace = "default";
  const configMap = (name: string, data: Record<string, string>): V1ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data,
  });
  const apply = (body: V1ConfigMap, fieldManager: string, more: { force?: boolean; dryRun?: string } = {}) =>
    core.patchNamespacedConfigMap(
      { namespace, name: body.metadata!.name!, body, fieldManager, ...more },
      applied,
    );
  const read = (name: string) => core.readNamespacedConfigMap({ namespace, name });
  const ownersOf = ({ metadata }: V1ConfigMap): Record<string, unknown> =>
    Object.fromEntries(metadata!.managedFields!.map(({ manager, fieldsV1 }) => [manager, fieldsV1]));

  /** The Status of a rejected call. */
  async function refusal(call: Promise<unknown>): Promise<V1Status> {
    try {
      await call;
    } catch (error) {
      if (error instanceof ApiException) return JSON.parse(error.body as string) as V1Status;
      throw error;
    }
    throw new Error("it wasn't refused");
  }

  it("creates an object, and managedFields has its manager and time", async () => {
    const made = await apply(configMap("made", { a: "1" }), "me");
    const [entry] = made.metadata!.managedFields as [V1ManagedFieldsEntry];
    expect(made.data).toEqual({ a: "1" });
    expect(entry).toMatchObject({
      manager: "me",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:a": {} } },
    });
    expect(entry.time).toBeInstanceOf(Date);
    expect(await read("made")).toEqual(made);
  });

  it("changes fields, and removes those no longer applied", async () => {
    await apply(configMap("changed", { a: "1", b: "1" }), "me");
    const changed = await apply(configMap("changed", { a: "2" }), "me");
    expect([changed.data, ownersOf(changed)]).toEqual([{ a: "2" }, { me: { "f:data": { "f:a": {} } } }]);
  });

  it("conflicts with another manager's value, and takes the field over with force", async () => {
    await apply(configMap("torn", { a: "1", b: "1" }), "first");
    const { code, reason, details } = await refusal(apply(configMap("torn", { a: "2" }), "second"));
    expect([code, reason]).toEqual([409, "Conflict"]);
    expect(details!.causes).toEqual([
      { reason: "FieldManagerConflict", message: 'conflict with "first"', field: ".data.a" },
    ]);
    const forced = await apply(configMap("torn", { a: "2" }), "second", { force: true });
    expect(forced.data).toEqual({ a: "2", b: "1" });
    expect(ownersOf(forced)).toEqual({
      first: { "f:data": { "f:b": {} } },
      second: { "f:data": { "f:a": {} } },
    });
  });

  it("changes nothing with dryRun", async () => {
    expect(await apply(configMap("tried", { a: "1" }), "me", { dryRun: "All" })).toMatchObject({
      data: { a: "1" },
    });
    expect(await refusal(read("tried"))).toMatchObject({ code: 404 });
    await apply(configMap("tried", { a: "1" }), "me");
    await apply(configMap("tried", { a: "2" }), "other", { dryRun: "All", force: true });
    expect((await read("tried")).data).toEqual({ a: "1" });
  });

  it("requires a field manager, and rejects managedFields in the body", async () => {
    const body = configMap("bad", { a: "1" });
    expect(await refusal(apply(body, ""))).toMatchObject({ code: 422, reason: "Invalid" });
    const recorded = { ...body, metadata: { name: "bad", managedFields: [{ manager: "me" }] } };
    expect(await refusal(apply(recorded, "me"))).toMatchObject({ code: 400 });
  });

  it("of the scale subresource takes the ownership of replicas", async () => {
    const apps = config.makeApiClient(AppsV1Api);
    const labels = { app: "web" };
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    };
    const at = { namespace, name: "web" };
    await apps.patchNamespacedDeployment({ ...at, body, fieldManager: "me" }, applied);
    const scale = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "web" },
      spec: { replicas: 4 },
    };
    const scaling = { ...at, body: scale, fieldManager: "scaler" };
    expect(await refusal(apps.patchNamespacedDeploymentScale(scaling, applied))).toMatchObject({ code: 409 });
    const scaled = await apps.patchNamespacedDeploymentScale({ ...scaling, force: true }, applied);
    expect(scaled.spec).toEqual({ replicas: 4 });
    const { message } = await refusal(
      apps.patchNamespacedDeployment({ ...at, body, fieldManager: "me" }, applied),
    );
    expect(message).toContain('conflict with "scaler" with subresource "scale": .spec.replicas');
  });

  it("works with the generic object client", async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const spec = { ...configMap("by-kind", { a: "1" }), metadata: { name: "by-kind", namespace } };
    const made = await objects.patch(spec, undefined, undefined, "me", true, PatchStrategy.ServerSideApply);
    expect(made).toMatchObject({ data: { a: "1" } });
    expect(ownersOf(made as V1ConfigMap)).toEqual({ me: { "f:data": { "f:a": {} } } });
  });
});
