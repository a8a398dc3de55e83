// Tests of an operator with Vitest: one server for the file, reset after each test.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createServer } from "plinth";
import { SiteOperator } from "../operator.mjs";

const server = await createServer({ vocabulary: "kubernetes", port: false, recordRequests: true });
const { client } = server;

const manifests = new URL("../manifests", import.meta.url).pathname;
let initial: ReturnType<typeof server.snapshot>;
beforeAll(async () => {
  await server.load(manifests);
  initial = server.snapshot();
});
afterAll(() => server.close());

let operator: SiteOperator;
beforeEach(async () => {
  // The operator has only the rights of its role.
  operator = new SiteOperator(server.as("site-operator"));
  await operator.start();
});
afterEach(async () => {
  operator.stop();
  await server.restore(initial);
  server.requests.clear();
});

// The kind has no static types here; `plinth types` writes them, and kinds declared in TypeScript have them.
const kind = { apiVersion: "example.com/v1" as string, kind: "Site" as string };
const site = { ...kind, namespace: "shop", name: "tea" };
const page = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "tea-page" } as const;
const statusOf = (object: object | undefined) =>
  (object as { status?: { page: string; observedGeneration: number } } | undefined)?.status;
const create = (title: string) =>
  client.apply({ ...kind, metadata: { namespace: "shop", name: "tea" }, spec: { title } });

describe("the operator of sites", () => {
  it("writes the page of a new site, and reports it", async () => {
    await create("Tea");
    const written = await client.waitFor(page, (object) => object !== undefined);
    expect(written?.data).toEqual({ "index.html": "<h1>Tea</h1>" });
    await client.waitFor(site, (object) => statusOf(object)?.page === "tea-page");
  });

  it("follows a change of the site", async () => {
    await create("Tea");
    await client.waitFor(page, (object) => object !== undefined);
    await create("Green tea");
    await client.waitFor(page, (object) => object?.data?.["index.html"] === "<h1>Green tea</h1>");
  });

  it("writes a page again that somebody deleted", async () => {
    await create("Tea");
    await client.waitFor(site, (object) => statusOf(object)?.observedGeneration === 1);
    // Twice: the event of the operator's own status write may still be on its way at the first deletion.
    for (let round = 0; round < 2; round++) {
      const before = await client.get(page);
      await client.delete(page);
      const after = await client.waitFor(page, (object) => object !== undefined);
      expect(after?.metadata.uid).not.toBe(before.metadata.uid);
    }
  });

  it("leaves nothing behind: the server deletes the page with its site", async () => {
    await create("Tea");
    await client.waitFor(page, (object) => object !== undefined);
    await client.delete(site);
    await client.waitFor(page, (object) => object === undefined);
  });

  it("never deletes anything, and is never refused", async () => {
    await create("Tea");
    await client.waitFor(site, (object) => statusOf(object)?.observedGeneration === 1);
    expect(server.requests.filter({ user: "site-operator", verb: "delete" })).toEqual([]);
    expect(server.requests.filter({ user: "site-operator", status: 403 })).toEqual([]);
  });
});
