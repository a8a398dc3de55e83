import { afterEach, beforeEach, expect, it } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { UnsteadyStore } from "../support/unsteady-store.ts";

let unsteady: UnsteadyStore;
let server: Server;

beforeEach(async () => {
  unsteady = new UnsteadyStore();
  // One default object can't be written, the others can.
  unsteady.failsToWrite = ({ key }) => key.endsWith("/clusterroles//cluster-admin");
  const { shown: storage, clock } = unsteady;
  server = await createServer({ port: false, vocabulary: "kubernetes", storage, clock });
});
afterEach(async () => {
  await server.close();
  await unsteady.store.close();
});

it("a create is rejected by admission while the default objects can't be written", async () => {
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "limited" } });
  await server.client.create({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "none", namespace: "limited" },
    spec: { hard: { "count/secrets": "0" } },
  });
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "one", namespace: "limited" } };
  await expect(server.client.create(secret)).rejects.toThrow("exceeded quota");
});
