import { expect, test } from "vitest";
import { ListWidths } from "../../src/http/limits/list-widths.ts";
import { readFacts, type ResourceFacts } from "../../src/http/request/facts.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { engineOver } from "../resources/engine.ts";
import { ManualClock } from "../storage/support.ts";

test.each([
  ["limit=100", 1],
  ["limit=100&search=web", 10],
  ["limit=100&sort=-metadata.creationTimestamp", 10],
  ["limit=100&labelSelector=a", 10],
])("a list of 20000 objects with %s needs %i seats", async (query, seats) => {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock });
  const engine = engineOver(store, [ConfigMap]);
  Object.assign(store, { count: () => 20_000 });
  const widths = new ListWidths(engine, clock, (error) => {
    throw error;
  });
  const facts = readFacts("GET", `/api/v1/configmaps?${query}`) as ResourceFacts;
  expect(widths.width(facts).seats).toBe(seats);
  engine.pages.close();
  await store.close();
});
