import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { TestServer } from "../../support/api.ts";
import { configMap, ok } from "../../api/support.ts";

const servers: TestServer[] = [];
let store: Store | undefined;
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await store?.close();
});

test("C-4.13-105 ResourceQuota charges the first request of a process that has seen no quota before", async () => {
  store = createMemoryStore({ clock: systemClock });
  const start = async () => {
    const server = await TestServer.start({ storage: store!, enabledControllers: [] });
    servers.push(server);
    return server.admin;
  };
  const [first, second] = [await start(), await start()];
  const quota = { metadata: { name: "one" }, spec: { hard: { "count/configmaps": "1" } } };
  await ok(first.post("/api/v1/namespaces/default/resourcequotas", quota));
  const path = "/api/v1/namespaces/default/configmaps";
  const answers = await Promise.all(["a", "b", "c"].map((name) => second.post(path, configMap(name))));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403]);
});
