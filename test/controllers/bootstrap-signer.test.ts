import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { systemClock as clock } from "../../src/base/time/clock.ts";
import { bootstrapSigner } from "../../src/controllers/bootstrap/signer.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Secret } from "../../src/kinds/core/secret.ts";
import { Client } from "../../src/resources/clients/client.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { RangeOptions, Store } from "../../src/storage/store.ts";
import { settle } from "../api/support.ts";
import { engineOver } from "../resources/engine.ts";

const clusterInfo = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "platform-public",
  name: "cluster-info",
};

test("the signer removes no signature before it has read the tokens", async () => {
  const store = createMemoryStore({ clock });
  const engine = engineOver(store, [ConfigMap, Secret]);
  const client = new Client(engine, { name: "somebody", uid: "", groups: [], extra: {} });
  const { name, namespace, ...type } = clusterInfo;
  const data = { kubeconfig: "text", "jws-kubeconfig-gone12": "of a token that is gone" };
  await client.add({ ...type, metadata: { name, namespace }, data });
  const stands = async () => (await client.get<ApiObject & { data: object }>(clusterInfo)).data;

  const events = new EventEmitter();
  const loading = once(events, "load");
  const slow: Store = Object.assign(Object.create(store), {
    async range(options: RangeOptions) {
      if (options.prefix.includes("secrets")) await loading;
      return store.range(options);
    },
  });
  const signer = bootstrapSigner.start({
    client,
    registry: engine.registry,
    store: slow,
    clock,
    failed: () => undefined,
  });
  await settle();
  expect(await stands()).toEqual(data);
  events.emit("load");
  await expect.poll(stands).toEqual({ kubeconfig: "text" });

  await signer.close();
  engine.pages.close();
  await store.close();
});
