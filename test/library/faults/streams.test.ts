import { afterEach, expect, test } from "vitest";
import { configMap, ok } from "../../api/support.ts";
import { shown, subscribe } from "../../api/subscriptions-support.ts";
import { Watching } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";

const started = useServer({ users: [{ name: "operator", groups: ["system:masters"] }] });
const maps = "/api/v1/namespaces/default/configmaps";

afterEach(() => {
  started.server.faults.clear();
  started.server.faults.restart("operator");
});

test("no rule matches a subscription or its events, and it continues after a crash", async () => {
  const { faults } = started.server;
  const rules = [
    faults.add({ on: { user: "operator" }, effect: { error: 500 } }),
    faults.add({ on: { user: "operator" }, effect: { dropEvent: true } }),
  ];
  const stream = await subscribe(started.as("operator"), ["configmaps"], { sendInitialEvents: "false" });
  faults.crash("operator");
  await ok(started.admin.post(maps, configMap("a")));
  expect(shown(await stream.next())).toBe("ADDED 0 a");
  expect(rules.map(({ count }) => count)).toEqual([0, 0]);
  stream.close();
});

test("a watch with view=mine has the faults of watches", async () => {
  const rule = started.server.faults.add({
    on: { user: "operator", verbs: ["watch"] },
    times: 1,
    effect: { repeatEvent: true },
  });
  const { body } = await ok(started.admin.get(maps));
  const path = `${maps}?view=mine&watch=true&resourceVersion=${body.metadata.resourceVersion}`;
  const watch = new Watching(await started.as("operator").open("GET", path, {}));
  await ok(started.admin.post(maps, configMap("b")));
  const events = [await watch.next(), await watch.next()];
  expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(["ADDED b", "ADDED b"]);
  expect(rule.count).toBe(1);
  watch.close();
});
