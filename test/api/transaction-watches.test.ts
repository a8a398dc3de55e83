import { describe, expect, test } from "vitest";
import type { Frame } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, configMap, namespace, ok } from "./support.ts";
import { shown as shownMessage, subscribe } from "./subscriptions-support.ts";
import { creates, map, maps, remove, transact as send, withTransactions } from "./transactions-support.ts";
import { createGrant } from "./views-support.ts";

const server = useServer({ users: [{ name: "ann" }], ...withTransactions });
const transact = (operations: readonly object[]) => ok(send(server.admin, operations));
const shown = ({ type, object }: Frame) => `${type} ${object.metadata.name}`;
const versionNow = async () => (await ok(server.admin.get(maps))).body.metadata.resourceVersion as string;
const update = (name: string, data: object, labels?: object) => {
  const object = map(name, data);
  return { verb: "update", object: { ...object, metadata: { ...object.metadata, labels } } };
};

/** The next events of a watch that begins after a resource version. */
async function framesFrom(resourceVersion: string, count: number, query = ""): Promise<Frame[]> {
  const watch = await server.admin.watch(`${maps}?resourceVersion=${resourceVersion}${query}`);
  const frames: Frame[] = [];
  while (frames.length < count) frames.push(await watch.next());
  watch.close();
  return frames;
}

describe("a watch that is cut within the events of a transaction", () => {
  test("gets all of them again when it continues at their resource version", async () => {
    await ok(server.admin.post(maps, configMap("w-old")));
    await ok(server.admin.post(maps, configMap("w-gone")));
    const from = await versionNow();
    const { body } = await transact([
      ...creates("w-a"),
      update("w-old", { changed: "yes" }),
      remove("w-gone"),
    ]);
    const [first] = await framesFrom(from, 1);
    expect(first!.object.metadata.resourceVersion).toBe(body.status.resourceVersion);
    await ok(server.admin.post(maps, configMap("w-later")));
    const rest = (await framesFrom(first!.object.metadata.resourceVersion, 4)).map(shown);
    expect(rest.slice(0, 3).toSorted()).toEqual(["ADDED w-a", "DELETED w-gone", "MODIFIED w-old"]);
    expect(rest[3]).toBe("ADDED w-later");
  });

  test("C-4.6-04 isn't sent the only event of its selection again", async () => {
    const labels = { part: "one" };
    await ok(server.admin.post(maps, configMap("s-one")));
    const { body } = await transact([...creates("s-a", "s-b"), update("s-one", {}, labels)]);
    await ok(server.admin.post(maps, configMap("s-later", {}, { labels })));
    const query = "&labelSelector=part=one";
    expect((await framesFrom(body.status.resourceVersion, 1, query)).map(shown)).toEqual(["ADDED s-later"]);
    expect((await framesFrom(String(Number(body.status.resourceVersion) - 1), 1, query)).map(shown)).toEqual([
      "ADDED s-one",
    ]);
  });

  test("continues after the state that it has been sent, and after a state of the past", async () => {
    const { body } = await transact(creates("i-a", "i-b"));
    const watch = await server.admin.watch(`${maps}?resourceVersion=0`);
    const names: string[] = [];
    await ok(server.admin.post(maps, configMap("i-later")));
    while (names.at(-1) !== "i-later") names.push((await watch.next()).object.metadata.name);
    watch.close();
    expect(names.filter((name) => name === "i-a")).toHaveLength(1);
    expect(body.status.resourceVersion).toBeDefined();
  });

  test("has a subscription that can't continue before their last one", async () => {
    const from = await versionNow();
    const stream = await subscribe(server.admin, ["configmaps", "namespaces"], { resourceVersion: from });
    await transact([
      { verb: "create", object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "sub" } } },
      ...creates("sub-a", "sub-b"),
    ]);
    const messages = await stream.messages(3);
    stream.close();
    expect(messages.map(shownMessage).toSorted()).toEqual(["ADDED 0 sub-a", "ADDED 0 sub-b", "ADDED 1 sub"]);
    expect(messages.map(({ resumeAfter }) => resumeAfter !== undefined)).toEqual([false, false, true]);
  });
});

describe("a watch with view=mine", () => {
  const inShop = "/api/v1/namespaces/shop/configmaps";
  const shopMap = (name: string, data: object = {}) => ({
    ...map(name, data),
    metadata: { name, namespace: "shop" },
  });
  const rules = (...resourceNames: string[]) => [
    { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames },
  ];

  test("gets every event of a transaction that also changes grants, cut anywhere", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("shop")));
    for (const name of ["kept-1", "kept-2", "hidden-1", "hidden-2", "new-1", "new-2"])
      await ok(server.admin.post(inShop, shopMap(name)));
    const subject = { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" };
    const before = rules("kept-1", "kept-2", "hidden-1", "hidden-2");
    await createGrant(server.admin, {
      name: "some",
      namespace: "shop",
      kind: "Role",
      rules: before,
      subject,
    });
    const ann = server.as("ann");
    const from = (await ok(ann.get(`${inShop}?view=mine`))).body;
    const start = new Map<string, string>(
      from.items.map(({ metadata, data }: Frame["object"]) => [metadata.name, JSON.stringify(data)]),
    );
    const stored = (await ok(server.admin.get(`${RBAC}/namespaces/shop/roles/some`))).body;
    const after = rules("kept-1", "kept-2", "new-1", "new-2");
    const changed = ["kept-1", "kept-2", "hidden-1", "new-1"];
    await transact([
      { verb: "update", object: { ...stored, rules: after } },
      ...changed.map((name) => ({ verb: "update", object: shopMap(name, { changed: "yes" }) })),
    ]);
    const listed = (await ok(ann.get(`${inShop}?view=mine`))).body;
    const expected = listed.items.map(({ metadata, data }: Frame["object"]) => [
      metadata.name,
      JSON.stringify(data),
    ]);
    await ok(server.admin.post(inShop, shopMap("end")));
    await ok(
      server.admin.patch(`${RBAC}/namespaces/shop/roles/some`, { rules: [...after, ...rules("end")] }),
    );
    const read = async (resourceVersion: string) => {
      const watch = await ann.watch(`${inShop}?view=mine&resourceVersion=${resourceVersion}`);
      const frames: Frame[] = [];
      for (;;) {
        const frame = await watch.next();
        if (frame.object.metadata.name === "end") break;
        if (frame.type !== "BOOKMARK") frames.push(frame);
      }
      watch.close();
      return frames;
    };
    const apply = (state: Map<string, string>, frames: readonly Frame[]) => {
      for (const { type, object } of frames)
        if (type === "DELETED") state.delete(object.metadata.name);
        else state.set(object.metadata.name, JSON.stringify(object.data));
      return [...state].toSorted();
    };
    const whole = await read(from.metadata.resourceVersion);
    expect(apply(new Map(start), whole)).toEqual(expected);
    for (const [index, { object }] of whole.entries()) {
      const state = new Map(start);
      apply(state, whole.slice(0, index + 1));
      const position = Math.max(
        Number(from.metadata.resourceVersion),
        Number(object.metadata.resourceVersion),
      );
      expect(apply(state, await read(String(position))), `cut after ${index + 1}`).toEqual(expected);
    }
  });
});
