import { expect, test } from "vitest";
import { RemoteObjects } from "../../src/aggregation/remote-objects.ts";
import type { RemoteApiService } from "../../src/aggregation/remote-api-service.ts";
import type { PublishedResource } from "../../src/aggregation/published-resources.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";

/** The objects of an extension server that answers each request with a document. */
function objectsOf(document: unknown): RemoteObjects {
  const bytes = Buffer.from(JSON.stringify(document));
  const send = () => Promise.resolve({ status: 200, bytes });
  const remote = { group: "a.example", path: "/apis/a.example/v1", send } as unknown as RemoteApiService;
  const resource = { name: "things", kind: "Thing", namespaced: true, verbs: ["list", "delete"] };
  return new RemoteObjects(remote, resource as unknown as PublishedResource, kubernetes, "collector");
}

test("members of metadata that an extension server sends in another form count as absent", async () => {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "1" };
  const strange = [null, "text", 7, { uid: 1 }, { ...owner, name: null }];
  const items = [
    { metadata: { name: "whole", uid: "2", ownerReferences: [owner, ...strange] } },
    { metadata: { name: { a: 1 }, uid: [], finalizers: "f", ownerReferences: "text" } },
    { metadata: "text" },
    null,
  ];
  const page = await objectsOf({ items }).list("");
  expect(page.items).toEqual([{ name: "whole", uid: "2", ownerReferences: [owner] }, {}, {}]);
});
