// The JavaScript client library, unchanged, against a server of a kubeconfig. Exits with 1 if a check fails.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import {
  ApiextensionsV1Api,
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from "@kubernetes/client-node";

const namespace = "node-programs";
const group = "node.example.com";
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

async function eventually(what, holds) {
  const end = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within 20 seconds: ${what}`);
    await delay(20);
  }
}

async function refusedWith(status, request) {
  await assert.rejects(request, (error) => error instanceof ApiException && error.code === status);
}

async function typedClient() {
  const body = { metadata: { name: "typed", labels: { app: "typed" } }, data: { a: "1" } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  await refusedWith(409, core.createNamespacedConfigMap({ namespace, body }));
  await core.patchNamespacedConfigMap({ namespace, name: "typed", body: { data: { b: "2" } } }, merge);
  await refusedWith(409, core.replaceNamespacedConfigMap({ namespace, name: "typed", body: made }));
  const listed = await core.listNamespacedConfigMap({ namespace, labelSelector: "app=typed" });
  assert.deepEqual(
    listed.items.map(({ data }) => data),
    [{ a: "1", b: "2" }],
  );
  await core.deleteNamespacedConfigMap({ namespace, name: "typed" });
  await refusedWith(404, core.readNamespacedConfigMap({ namespace, name: "typed" }));
}

async function watch() {
  const seen = [];
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  let ended;
  const end = new Promise((resolve) => (ended = resolve));
  const controller = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: metadata.resourceVersion },
    (type, { metadata: { name } }) => seen.push(`${type} ${name}`),
    ended,
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "watched" } } });
  await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
  await eventually("two events", () => seen.length === 2);
  controller.abort();
  await end;
  assert.deepEqual(seen, ["ADDED watched", "DELETED watched"]);
}

async function informer() {
  const list = () => core.listNamespacedConfigMap({ namespace });
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "before" } } });
  const followed = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
  await followed.start();
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "after" } } });
  await eventually("both objects are cached", () =>
    ["before", "after"].every((name) => followed.get(name, namespace) !== undefined),
  );
  await core.deleteNamespacedConfigMap({ namespace, name: "after" });
  await eventually("the deletion arrives", () => followed.get("after", namespace) === undefined);
  await followed.stop();
}

async function apply() {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const applied = await objects.patch(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied", namespace }, data: { a: "1" } },
    undefined,
    undefined,
    "program",
    true,
    PatchStrategy.ServerSideApply,
  );
  assert.equal(applied.metadata.managedFields[0].operation, "Apply");
}

async function customObjects() {
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", _default: 3 } } } },
  };
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      metadata: { name: `bolts.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "bolts", kind: "Bolt" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  });
  const objects = config.makeApiClient(CustomObjectsApi);
  const place = { group, version: "v1", namespace, plural: "bolts" };
  await eventually("the kind is served", async () => {
    try {
      await objects.listNamespacedCustomObject(place);
      return true;
    } catch (error) {
      if (error instanceof ApiException && error.code === 404) return false;
      throw error;
    }
  });
  const body = { apiVersion: `${group}/v1`, kind: "Bolt", metadata: { name: "a" }, spec: {} };
  const made = await objects.createNamespacedCustomObject({ ...place, body });
  assert.deepEqual(made.spec, { size: 3 });
  await objects.deleteNamespacedCustomObject({ ...place, name: "a" });
}

await core.createNamespace({ body: { metadata: { name: namespace } } });
let failed = false;
for (const check of [typedClient, watch, informer, apply, customObjects]) {
  const startMs = performance.now();
  try {
    await check();
    console.log(`ok ${check.name} (${Math.round(performance.now() - startMs)} ms)`);
  } catch (error) {
    failed = true;
    console.log(`FAILED ${check.name}`);
    console.log(error);
  }
}
process.exit(failed ? 1 : 0);
