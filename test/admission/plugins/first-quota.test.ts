import { afterEach, expect, test } from "vitest";
import { QuotaIndex } from "../../../src/admission/plugins/resource-quota/quota-index.ts";
import { QuotaTurns } from "../../../src/admission/plugins/resource-quota/quota-turns.ts";
import { resourceQuota } from "../../../src/admission/plugins/resource-quota/resource-quota.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { ResourceQuota } from "../../../src/kinds/core/resource-quota.ts";
import { Client } from "../../../src/resources/clients/client.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { TestServer } from "../../support/api.ts";
import { configMap, ok } from "../../api/support.ts";
import { engineOver } from "../../resources/engine.ts";

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

test("C-4.13-105 ResourceQuota charges a request that begins before the first quota of the process is read", async () => {
  store = createMemoryStore({ clock: systemClock });
  const engine = engineOver(store, [ConfigMap, ResourceQuota]);
  const user = { name: "ana", uid: "", groups: [], extra: {} };
  const metadata = { name: "none", namespace: "default" };
  const hard = { "count/configmaps": "0" };
  await new Client(engine, user).add({ apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } });
  const index = new QuotaIndex({ store, clock: systemClock, failed: () => undefined }, engine.registry);
  const plugin = resourceQuota({ index, turns: new QuotaTurns(store, systemClock), limited: [] });
  const resource = engine.registry.require(ConfigMap);
  const target = { resource, namespace: "default", name: "a", subresource: "" };
  const request = { operation: "CREATE", target, user, dryRun: true, object: { metadata: { name: "a" } } };
  try {
    expect(plugin.concerns!("CREATE", target)).toBe(true);
    await expect((async () => plugin.validate!(request as never))()).rejects.toThrow(
      "exceeded quota: none, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0",
    );
  } finally {
    index.close();
    engine.pages.close();
    await engine.selectors.close();
  }
});
