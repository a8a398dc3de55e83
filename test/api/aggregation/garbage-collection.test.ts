import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { ExtensionObjects } from "../../support/extension-objects.ts";
import { ExtensionServer } from "../../support/extension-server.ts";
import type { ObjectMetaValue } from "../../../src/schema/kind.ts";
import { ManualClock, configMap, ok, until } from "../support.ts";

const maps = "/api/v1/namespaces/default/configmaps";
let clock: ManualClock;
let server: TestServer;
let extension: ExtensionServer;
let widgets: ExtensionObjects;

beforeEach(async () => {
  clock = new ManualClock();
  server = await TestServer.start({ clock, connections: { allowLoopback: true } });
  extension = await ExtensionServer.start();
  widgets = new ExtensionObjects(extension);
  await extension.register(server.admin);
});
afterEach(async () => {
  await server.close();
  await extension.close();
});

const ownedBy = (
  kind: string,
  apiVersion: string,
  { name = "", uid = "" }: ObjectMetaValue,
  more: object = {},
) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, ...more }],
});
const widgetOwner = (metadata: ObjectMetaValue) => ownedBy("Widget", `${extension.group}/v1`, metadata);
const makeMap = async (name: string, metadata: object = {}): Promise<ObjectMetaValue> =>
  (await ok(server.admin.post(maps, { ...configMap(name), metadata: { name, ...metadata } }))).body.metadata;
const deleteMap = (name: string, propagationPolicy = "Background") =>
  ok(server.admin.ask("DELETE", `${maps}/${name}`, { body: { propagationPolicy } }));

/**
 * Lets time pass until the collector has read the objects of the extension server and a condition holds: one second after each check, so
 * that a call, whose limit is several seconds, isn't ended while it is under way.
 */
async function passesUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
  await until(async () => {
    await clock.advance(1000);
    return condition();
  }, Boolean);
}
const exists = async (name: string) => (await server.admin.get(`${maps}/${name}`)).status === 200;

describe("garbage collection with an extension server", () => {
  test("deletes its objects when their owner here was deleted, and keeps others", async () => {
    const owner = await makeMap("owner");
    const kept = await makeMap("kept");
    widgets.put("default", "a", ownedBy("ConfigMap", "v1", owner));
    widgets.put("default", "b", ownedBy("ConfigMap", "v1", kept));
    widgets.put("default", "c");
    widgets.put("default", "d", {
      ownerReferences: [owner, kept].flatMap((one) => ownedBy("ConfigMap", "v1", one).ownerReferences),
    });
    await deleteMap("owner");
    await passesUntil(() => !widgets.objects.has("default/a"));
    await passesUntil(() => widgets.objects.get("default/d")!.metadata.ownerReferences!.length === 1);
    expect([...widgets.objects.keys()]).toEqual(["default/b", "default/c", "default/d"]);
  });

  test("deletes objects here when their owner there is absent or has another uid, and keeps others", async () => {
    const owner = widgets.put("default", "a");
    await makeMap("absent", widgetOwner({ name: "none", uid: "none" }));
    await makeMap("replaced", widgetOwner({ ...owner, uid: "former" }));
    await makeMap("owned", widgetOwner(owner));
    await passesUntil(async () => !(await exists("absent")) && !(await exists("replaced")));
    expect(await exists("owned")).toBe(true);
    widgets.objects.delete("default/a");
    await passesUntil(async () => !(await exists("owned")));
  });

  test("keeps objects here while the extension server doesn't answer", async () => {
    widgets.silent.add("default").add("");
    await makeMap("absent", widgetOwner({ name: "none", uid: "none" }));
    await passesUntil(() => widgets.requests.length > 0);
    const before = widgets.requests.length;
    await passesUntil(() => widgets.requests.length > before);
    expect(await exists("absent")).toBe(true);
  });

  test("calls that the extension server doesn't answer end when the server closes", async () => {
    widgets.silent.add("default").add("");
    await passesUntil(() => widgets.requests.length > 0);
    // Time stands still from now on: the call can't reach its time limit.
    await server.close();
    await until(
      () => extension.sockets.size,
      (count) => count === 0,
    );
  });

  test("an orphan deletion here removes the references there", async () => {
    const owner = await makeMap("owner");
    widgets.put("default", "a", ownedBy("ConfigMap", "v1", owner));
    await deleteMap("owner", "Orphan");
    await until(
      () => exists("owner"),
      (found) => !found,
    );
    expect(widgets.objects.get("default/a")?.metadata.ownerReferences).toEqual([]);
  });

  test("a foreground deletion here waits for blocking objects there", async () => {
    const owner = await makeMap("owner");
    const more = { blockOwnerDeletion: true };
    const blocking = widgets.put("default", "a", {
      ...ownedBy("ConfigMap", "v1", owner, more),
      finalizers: ["example.com/hold"],
    });
    await deleteMap("owner", "Foreground");
    await until(
      () => widgets.requests.some((one) => one.startsWith("DELETE")),
      (sent) => sent,
    );
    expect(await exists("owner")).toBe(true);
    delete blocking.finalizers;
    await passesUntil(async () => !(await exists("owner")));
    expect(widgets.objects.size).toBe(0);
  });
});
