// The operator under random schedules of faults: lost answers, stale reads, ended watches, crashes.
import { expect, it } from "vitest";
import { explore } from "plinth";
import { SiteOperator } from "../operator.mjs";

const manifests = new URL("../manifests", import.meta.url).pathname;
const kind = { apiVersion: "example.com/v1" as string, kind: "Site" as string };
// Only the rights of its role.
const user = { user: "site-operator", groups: [] };

it("the operator has a page for each site in the end, whatever happens", { timeout: 60_000 }, async () => {
  await explore(
    { seeds: 100, server: { vocabulary: "kubernetes" }, prepare: (server) => server.load(manifests) },
    async ({ client, start, settle }) => {
      start((api, clock) => new SiteOperator(api, clock).start(), user);
      const site = (name: string, title: string) => ({
        ...kind,
        metadata: { name, namespace: "shop" },
        spec: { title },
      });
      await client.create(site("tea", "Tea"));
      await client.create(site("coffee", "Coffee"));
      await client.patch({ ...kind, name: "tea", namespace: "shop" }, { spec: { title: "Green tea" } });
      await settle();
      const pages = await client.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "shop" });
      const texts = pages.items.flatMap(({ data }) => data?.["index.html"] ?? []);
      expect(texts.toSorted()).toEqual(["<h1>Coffee</h1>", "<h1>Green tea</h1>"]);
    },
  );
});
