import {
  ApiException,
  ApiextensionsV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type Informer,
  type KubernetesObject,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { TestServer } from "../support/api.ts";

const place = { group: "shop.example.com", version: "v1", namespace: "default", plural: "gardens" };
const finalizer = "shop.example.com/clean-up";
const merged = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

interface Garden extends KubernetesObject {
  spec: { beds: number };
  status?: { planted: number; observedGeneration: number };
}

/** A level-triggered operator as commonly written with the library: an informer and one reconciler. Plants the beds of each garden. */
class Gardener {
  /** Planted beds by garden, outside the API. */
  readonly planted = new Map<string, number>();
  readonly errors: unknown[] = [];
  private readonly informer: Informer<Garden>;
  private work = Promise.resolve();

  constructor(
    config: KubeConfig,
    private readonly gardens: CustomObjectsApi,
  ) {
    const list = async () => (await gardens.listNamespacedCustomObject(place)) as { items: Garden[] };
    const { group, version, namespace, plural } = place;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
    this.informer = makeInformer<Garden>(config, path, list as never);
    for (const verb of ["add", "update"] as const) this.informer.on(verb, (one) => this.enqueue(one));
    this.informer.on("error", (error: Error) => {
      // The library reports its own stop as an error.
      if (error.name !== "AbortError") this.errors.push(error);
    });
  }

  start(): Promise<void> {
    return this.informer.start();
  }

  async stop(): Promise<void> {
    await this.informer.stop();
    await this.work;
  }

  private enqueue({ metadata }: Garden): void {
    this.work = this.work
      .then(() => this.reconcile(metadata!.name!))
      .catch((error: unknown) => void this.errors.push(error));
  }

  private async reconcile(name: string): Promise<void> {
    const garden = await this.read(name);
    if (garden === undefined) return;
    const { metadata, spec, status } = garden;
    const finalizers = metadata!.finalizers ?? [];
    if (metadata!.deletionTimestamp !== undefined) {
      this.planted.delete(name);
      const left = finalizers.filter((one) => one !== finalizer);
      if (left.length < finalizers.length) await this.change(name, { metadata: { finalizers: left } });
    } else if (!finalizers.includes(finalizer)) {
      await this.change(name, { metadata: { finalizers: [...finalizers, finalizer] } });
    } else if (status?.observedGeneration !== metadata!.generation) {
      this.planted.set(name, spec.beds);
      const body = { ...garden, status: { planted: spec.beds, observedGeneration: metadata!.generation } };
      await this.gardens.replaceNamespacedCustomObjectStatus({ ...place, name, body });
    }
  }

  private async read(name: string): Promise<Garden | undefined> {
    try {
      return (await this.gardens.getNamespacedCustomObject({ ...place, name })) as Garden;
    } catch (error) {
      if (error instanceof ApiException && error.code === 404) return undefined;
      throw error;
    }
  }

  private async change(name: string, body: object): Promise<void> {
    await this.gardens.patchNamespacedCustomObject({ ...place, name, body }, merged);
  }
}

// The library writes `_default` as `default`.
const integer = { type: "integer", minimum: 0 };
const definition = {
  metadata: { name: `${place.plural}.${place.group}` },
  spec: {
    group: place.group,
    scope: "Namespaced",
    names: { plural: place.plural, kind: "Garden" },
    versions: [
      {
        name: place.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { beds: { ...integer, _default: 1 } } },
              status: { type: "object", properties: { planted: integer, observedGeneration: integer } },
            },
          },
        },
      },
    ],
  },
};

/** An operator of a custom resource with the unchanged client library for Node. */
describe("an operator written with @kubernetes/client-node", () => {
  let server: TestServer;
  let config: KubeConfig;
  let gardens: CustomObjectsApi;
  let gardener: Gardener;

  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes" });
    config = new KubeConfig();
    config.loadFromString(server.server.kubeconfig());
    gardens = config.makeApiClient(CustomObjectsApi);
    await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
    await vi.waitFor(listed, { timeout: 5000 });
    gardener = new Gardener(config, gardens);
    await gardener.start();
  });
  afterAll(async () => {
    await gardener?.stop();
    await server?.close();
  });

  const listed = async () =>
    ((await gardens.listNamespacedCustomObject(place)) as { items: Garden[] }).items.map(
      ({ metadata }) => metadata!.name!,
    );
  const create = (name: string, spec: object) =>
    gardens.createNamespacedCustomObject({
      ...place,
      body: { apiVersion: `${place.group}/v1`, kind: "Garden", metadata: { name }, spec },
    });
  const read = async (name: string) =>
    (await gardens.getNamespacedCustomObject({ ...place, name })) as Garden;

  it("reconciles each new object once, and records it in the status", async () => {
    await Promise.all(["a", "b", "c"].map((name) => create(name, { beds: 3 })));
    await create("plain", {});
    await expect.poll(() => Object.fromEntries(gardener.planted)).toEqual({ a: 3, b: 3, c: 3, plain: 1 });
    for (const name of ["a", "b", "c"])
      await expect
        .poll(() => read(name))
        .toMatchObject({
          metadata: { generation: 1, finalizers: [finalizer] },
          status: { planted: 3, observedGeneration: 1 },
        });
  });

  it("reconciles a changed spec, and its status update doesn't change the generation", async () => {
    await gardens.patchNamespacedCustomObject({ ...place, name: "a", body: { spec: { beds: 7 } } }, merged);
    await expect
      .poll(() => read("a"))
      .toMatchObject({ metadata: { generation: 2 }, status: { planted: 7, observedGeneration: 2 } });
    expect(gardener.planted.get("a")).toBe(7);
  });

  it("cleans up before an object is deleted", async () => {
    const answer = (await gardens.deleteNamespacedCustomObject({ ...place, name: "b" })) as Garden;
    expect(answer.metadata?.deletionTimestamp).toBeDefined();
    await expect.poll(listed).toEqual(["a", "c", "plain"]);
    expect(gardener.planted.has("b")).toBe(false);
  });

  it("a new instance continues where the previous one stopped", async () => {
    await gardener.stop();
    await gardens.patchNamespacedCustomObject({ ...place, name: "c", body: { spec: { beds: 9 } } }, merged);
    await gardens.deleteNamespacedCustomObject({ ...place, name: "plain" });
    expect((await read("plain")).metadata?.deletionTimestamp).toBeDefined();
    const errors = gardener.errors;
    gardener = new Gardener(config, gardens);
    await gardener.start();
    await expect.poll(async () => (await read("c")).status?.planted).toBe(9);
    await expect.poll(listed).toEqual(["a", "c"]);
    expect([...errors, ...gardener.errors]).toEqual([]);
  });
});
