import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { loadManifests } from "../../src/server/library/load.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

let server: Server;
const folder = useTemporaryFolders();
beforeAll(async () => {
  server = await createServer({ port: false });
});
afterAll(() => server.close());

const definition = (plural: string, kind: string) => ({
  apiVersion: "apiextensions.platform.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.shop.example.com` },
  spec: {
    group: "shop.example.com",
    scope: "Namespaced",
    names: { plural, kind, singular: kind.toLowerCase() },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});
const order = {
  apiVersion: "shop.example.com/v1",
  kind: "Order",
  metadata: { name: "first", namespace: "web" },
};
const web = { apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } };

describe("load", () => {
  test("applies definitions, then namespaces, then the other objects, from files and folders", async () => {
    const root = folder();
    mkdirSync(path.join(root, "manifests"));
    const documents = [order, web].map((one) => JSON.stringify(one)).join("\n---\n");
    writeFileSync(path.join(root, "manifests/a.yaml"), documents);
    writeFileSync(path.join(root, "orders.json"), JSON.stringify(definition("orders", "Order")));
    const loaded = await server.load(path.join(root, "manifests"), path.join(root, "orders.json"));
    expect(loaded.map(({ kind }) => kind)).toEqual(["CustomResourceDefinition", "Namespace", "Order"]);
    const reference = { apiVersion: "shop.example.com/v1", kind: "Order", name: "first", namespace: "web" };
    expect((await server.client.get(reference)).metadata.name).toBe("first");
    // A second load keeps the objects.
    const again = await server.load(path.join(root, "manifests"));
    expect(again.map(({ metadata }) => metadata.uid)).toEqual(
      loaded.slice(1).map(({ metadata }) => metadata.uid),
    );
  });

  test("names the file and document of an error", async () => {
    const file = path.join(folder(), "bad.yaml");
    writeFileSync(file, `${JSON.stringify(web)}\n---\n${JSON.stringify({ ...web, spec: 1 })}`);
    await expect(server.load(file)).rejects.toThrow(`${file}, document 2: `);
    await expect(server.load(`${file}.missing`)).rejects.toThrow("there is no such file or folder");
  });

  test("names the file of a definition that doesn't become established", async () => {
    const root = folder();
    writeFileSync(path.join(root, "a.json"), JSON.stringify(definition("parcels", "Parcel")));
    const second = path.join(root, "b.json");
    writeFileSync(second, JSON.stringify(definition("packages", "Parcel")));
    const { client } = server as unknown as { client: Parameters<typeof loadManifests>[0] };
    const load = loadManifests(client, [root], 200);
    await expect(load).rejects.toMatchObject({
      reason: "Timeout",
      message: expect.stringContaining(
        `${second}: CustomResourceDefinition packages.shop.example.com did not meet the condition`,
      ),
    });
    await expect(loadManifests(client, [root], 200)).rejects.toThrow("NamesAccepted");
  });
});
