import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";
import { definition, definitions, version } from "./custom-resources/support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const scalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const partial = "application/json;as=PartialObjectMetadataList;g=meta.platform.io;v=v1";

const server = useServer();
beforeAll(async () => {
  for (const name of ["a", "b", "c"])
    await ok(server.admin.post(path, configMap(name, { own: name }, { labels: { of: "items" } })));
  await ok(
    server.admin.post(scalers, {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "scaler", labels: { of: "items" } },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" } },
    }),
  );
});

/** The list items with the label of this file. */
async function itemsOf(
  at: string,
  query = "",
  accept = "application/json",
): Promise<Record<string, unknown>[]> {
  const { body, text } = await ok(
    server.admin.ask("GET", `${at}?labelSelector=of%3Ditems${query}`, { accept }),
  );
  return ((accept === "application/yaml" ? parse(text) : body) as { items: Record<string, unknown>[] }).items;
}

describe("items of a list of a built-in kind carry no kind and apiVersion", () => {
  test.each([
    ["selected by label", path, "&x=", "application/json"],
    ["cut by a limit", path, "&limit=2", "application/json"],
    ["selected by name", path, "&fieldSelector=metadata.name%3Db", "application/json"],
    ["in YAML", path, "", "application/yaml"],
    ["in one version of a kind", scalers, "", "application/json"],
    ["in another version of it", scalers.replace("v1", "v2"), "", "application/json"],
  ])("%s", async (_how, at, query, accept) => {
    const items = await itemsOf(at, query, accept);
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      expect(Object.keys(item)[0]).toBe("metadata");
      expect(item).not.toHaveProperty("kind");
      expect(item).not.toHaveProperty("apiVersion");
    }
  });

  test("lists that are whole, repeated, printed as a table or filtered again", async () => {
    const first = await ok(server.admin.get(path));
    expect(first.body.items.map(Object.keys)).toEqual([
      ["metadata", "data"],
      ["metadata", "data"],
      ["metadata", "data"],
    ]);
    expect((await server.admin.get(path)).text).toBe(first.text);
    const table = "application/json;as=Table;g=meta.platform.io;v=v1";
    const { body } = await ok(server.admin.ask("GET", `${path}?includeObject=Object`, { accept: table }));
    const row = body.rows.find(
      ({ object }: { object: { metadata: { name: string } } }) => object.metadata.name === "b",
    );
    expect(row.object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { own: "b" } });
    expect(await itemsOf(path, "&fieldSelector=metadata.name%3Db")).toEqual([
      first.body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === "b"),
    ]);
  });

  test("an object that is read, created or watched carries both", async () => {
    const { body } = await ok(server.admin.get(`${path}/a`));
    expect([body.kind, body.apiVersion]).toEqual(["ConfigMap", "v1"]);
    const { text } = await ok(
      server.admin.get(`${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da`),
    );
    expect(JSON.parse(text.split("\n")[0]!).object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1" });
  });
});

test("items of a list of a custom kind, and of metadata alone, carry their kind and apiVersion", async () => {
  await ok(server.admin.post(definitions, definition([version("v1")])));
  const orders = "/apis/shop.example.com/v1/namespaces/default/orders";
  const order = {
    apiVersion: "shop.example.com/v1",
    kind: "Order",
    metadata: { name: "a" },
    spec: { size: 1 },
  };
  await ok(server.admin.post(orders, order));
  for (const query of ["", "?labelSelector=none%21%3Dx", "?limit=1"]) {
    const { body } = await ok(server.admin.get(orders + query));
    expect(body.items).toEqual([
      expect.objectContaining({ kind: "Order", apiVersion: "shop.example.com/v1" }),
    ]);
  }
  const [item] = await itemsOf(path, "", partial);
  expect(item).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.platform.io/v1" });
});
