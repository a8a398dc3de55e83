import {
  ApiException,
  AuthorizationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  VersionApi,
  Watch,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const patchType = (type: PatchStrategy) => setHeaderOptions("Content-Type", type);

/** The unchanged client library for Node works with this server. */
describe("@kubernetes/client-node in the kubernetes vocabulary", () => {
  let server: TestServer;
  let config: KubeConfig;
  let core: CoreV1Api;
  let rbac: RbacAuthorizationV1Api;

  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes" });
    config = new KubeConfig();
    config.loadFromString(server.server.kubeconfig());
    core = config.makeApiClient(CoreV1Api);
    rbac = config.makeApiClient(RbacAuthorizationV1Api);
  });
  afterAll(() => server?.close());

  async function namespace(name: string): Promise<string> {
    await core.createNamespace({ body: { metadata: { name } } });
    return name;
  }

  async function code(work: Promise<unknown>): Promise<number> {
    return work.then(
      () => 200,
      (error: unknown) => {
        if (error instanceof ApiException) return error.code;
        throw error;
      },
    );
  }

  it("creates, reads, lists, replaces and deletes objects", async () => {
    const ns = await namespace("life");
    const made = await core.createNamespacedConfigMap({
      namespace: ns,
      body: { metadata: { name: "one", labels: { tier: "front" } }, data: { a: "1" } },
    });
    expect(made.metadata).toMatchObject({
      name: "one",
      namespace: ns,
      creationTimestamp: expect.any(Date) as Date,
    });
    expect(await code(core.createNamespacedConfigMap({ namespace: ns, body: made }))).toBe(400);
    expect(
      await code(core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: "one" } } })),
    ).toBe(409);
    const generated = await core.createNamespacedSecret({
      namespace: ns,
      body: { metadata: { generateName: "token-" }, stringData: { t: "x" } },
    });
    expect(generated.metadata!.name).toMatch(/^token-[a-z0-9]{5}$/);
    expect(generated.data).toEqual({ t: Buffer.from("x").toString("base64") });
    const read = await core.readNamespacedConfigMap({ namespace: ns, name: "one" });
    expect(read).toEqual(made);
    const list = await core.listNamespacedConfigMap({ namespace: ns, labelSelector: "tier=front" });
    expect(list.items).toEqual([expect.objectContaining({ data: { a: "1" } })]);
    const replaced = await core.replaceNamespacedConfigMap({
      namespace: ns,
      name: "one",
      body: { ...read, data: { a: "2" } },
    });
    expect(replaced.data).toEqual({ a: "2" });
    expect(await code(core.replaceNamespacedConfigMap({ namespace: ns, name: "one", body: read }))).toBe(409);
    const gone = await core.deleteNamespacedConfigMap({ namespace: ns, name: "one" });
    expect(gone.status).toBe("Success");
    expect(await code(core.readNamespacedConfigMap({ namespace: ns, name: "one" }))).toBe(404);
    await core.deleteNamespace({ name: ns });
    await expect.poll(() => code(core.readNamespace({ name: ns })), { timeout: 10_000 }).toBe(404);
  });

  it("reads a list in pages", async () => {
    const ns = await namespace("paging");
    for (const name of ["a", "b", "c", "d", "e"])
      await core.createNamespacedServiceAccount({ namespace: ns, body: { metadata: { name } } });
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = await core.listNamespacedServiceAccount({
        namespace: ns,
        limit: 2,
        ...(token === undefined ? {} : { _continue: token }),
      });
      expect(page.items.length).toBeLessThanOrEqual(2);
      names.push(...page.items.map((one) => one.metadata!.name!));
      token = page.metadata?._continue;
    } while (token !== undefined && token !== "");
    // Every namespace has a default service account.
    expect(names.filter((name) => name !== "default")).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("supports every patch type", async () => {
    const ns = await namespace("patching");
    const at = { namespace: ns, name: "it" };
    await core.createNamespacedConfigMap({
      namespace: ns,
      body: { metadata: { name: "it", finalizers: ["example.com/a"] }, data: { a: "1" } },
    });
    const json = await core.patchNamespacedConfigMap(
      { ...at, body: [{ op: "add", path: "/data/b", value: "2" }] },
      patchType(PatchStrategy.JsonPatch),
    );
    expect(json.data).toEqual({ a: "1", b: "2" });
    const merge = await core.patchNamespacedConfigMap(
      { ...at, body: { data: { a: null } } },
      patchType(PatchStrategy.MergePatch),
    );
    expect(merge.data).toEqual({ b: "2" });
    const strategic = await core.patchNamespacedConfigMap(
      { ...at, body: { metadata: { finalizers: ["example.com/b"] } } },
      patchType(PatchStrategy.StrategicMergePatch),
    );
    expect(strategic.metadata!.finalizers!.toSorted()).toEqual(["example.com/a", "example.com/b"]);
    await core.patchNamespacedConfigMap(
      { ...at, body: { metadata: { finalizers: null } } },
      patchType(PatchStrategy.MergePatch),
    );
  });

  it("creates roles and bindings, and reviews access", async () => {
    const ns = await namespace("granting");
    const apiGroup = "rbac.authorization.k8s.io";
    await rbac.createNamespacedRole({
      namespace: ns,
      body: {
        metadata: { name: "reader" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
      },
    });
    await rbac.createNamespacedRoleBinding({
      namespace: ns,
      body: {
        metadata: { name: "reader" },
        roleRef: { apiGroup, kind: "Role", name: "reader" },
        subjects: [{ apiGroup, kind: "User", name: "ann" }],
      },
    });
    const access = config.makeApiClient(AuthorizationV1Api);
    const may = async (verb: string) => {
      const resourceAttributes = { namespace: ns, verb, resource: "configmaps" };
      return (await access.createSubjectAccessReview({ body: { spec: { user: "ann", resourceAttributes } } }))
        .status!.allowed;
    };
    expect([await may("get"), await may("delete")]).toEqual([true, false]);
    await rbac.deleteNamespacedRoleBinding({ namespace: ns, name: "reader" });
    expect(await may("get")).toBe(false);
    const rules = await access.createSelfSubjectRulesReview({ body: { spec: { namespace: ns } } });
    expect(rules.status!.resourceRules).toContainEqual(
      expect.objectContaining({ verbs: ["*"], resources: ["*"] }),
    );
    expect(
      (await rbac.listClusterRole({ labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" })).items
        .length,
    ).toBeGreaterThan(20);
  });

  it("watches, and resumes from the last resourceVersion", async () => {
    const ns = await namespace("watching");
    const seen: string[] = [];
    const { metadata } = await core.listNamespacedConfigMap({ namespace: ns });
    let last = metadata!.resourceVersion!;
    const watch = (resourceVersion: string) =>
      new Watch(config).watch(
        `/api/v1/namespaces/${ns}/configmaps`,
        { resourceVersion, allowWatchBookmarks: true },
        (type, object: V1ConfigMap) => {
          seen.push(`${type} ${object.metadata!.name}`);
          last = object.metadata!.resourceVersion!;
        },
        () => undefined,
      );
    const first = await watch(last);
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: "a" } } });
    await expect.poll(() => seen).toEqual(["ADDED a"]);
    first.abort();
    await core.deleteNamespacedConfigMap({ namespace: ns, name: "a" });
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: "b" } } });
    const second = await watch(last);
    await expect.poll(() => seen).toEqual(["ADDED a", "DELETED a", "ADDED b"]);
    second.abort();
  });

  it("keeps an informer up to date, also after a broken connection", async () => {
    const ns = await namespace("informing");
    const list = () => core.listNamespacedConfigMap({ namespace: ns });
    const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${ns}/configmaps`, list);
    const log: string[] = [];
    for (const verb of ["add", "update", "delete"] as const)
      informer.on(verb, (one) => log.push(`${verb} ${one.metadata!.name}`));
    // The library reports its own stop as an error.
    informer.on("error", (error: Error) => {
      if (error.name !== "AbortError") log.push(`error ${error.message}`);
    });
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: "a" } } });
    await informer.start();
    await expect.poll(() => log).toEqual(["add a"]);
    await core.patchNamespacedConfigMap(
      { namespace: ns, name: "a", body: { data: { x: "y" } } },
      patchType(PatchStrategy.MergePatch),
    );
    await expect.poll(() => log).toEqual(["add a", "update a"]);
    await informer.stop();
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: "b" } } });
    await core.deleteNamespacedConfigMap({ namespace: ns, name: "a" });
    await informer.start();
    await expect.poll(() => log.slice(2).toSorted()).toEqual(["add b", "delete a"]);
    expect(informer.list().map((one) => one.metadata!.name)).toEqual(["b"]);
    await informer.stop();
  });

  it("supports the generic object client through discovery", async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const spec = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "by-kind", namespace: "default" } };
    await objects.create({ ...spec, data: { a: "1" } } as V1ConfigMap);
    expect(await objects.read(spec)).toMatchObject({ data: { a: "1" } });
    const patched = await objects.patch(
      { ...spec, data: { b: "2" } } as V1ConfigMap,
      undefined,
      undefined,
      undefined,
      undefined,
      PatchStrategy.MergePatch,
    );
    expect(patched).toMatchObject({ data: { a: "1", b: "2" } });
    await objects.delete(spec);
    expect(await code(objects.read(spec))).toBe(404);
  });

  it("returns the server's version", async () => {
    expect(await config.makeApiClient(VersionApi).getCode()).toMatchObject({ major: "1", minor: "26" });
  });
});
