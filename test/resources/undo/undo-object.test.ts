import { describe, expect, test } from "vitest";
import type { ObjectUndo } from "../../../src/resources/undo/undo-object.ts";
import { contentsOf, History, thingKind, undoObject, type Contents } from "./histories.ts";

/** Returns the history of writes: each is a manager and the contents after it. */
function historyOf(
  ...writes: readonly (readonly [manager: string, contents: Contents | undefined])[]
): History {
  const history = new History();
  for (const [manager, contents] of writes) history.write(manager, contents);
  return history;
}

const undo = (history: History, manager: string): ObjectUndo =>
  undoObject(history.stepsOf(manager), history.now, thingKind);

/** Returns the conflicts as texts: path, managers and the values before the change, after it, and now. */
const conflictsOf = ({ conflicts }: ObjectUndo) =>
  conflicts.map(({ path, managers, before, after, now }) => [path.join(" "), managers, before, after, now]);

describe("an undo of an update", () => {
  test("sets back what still has the value of the change, and keeps what others changed elsewhere", () => {
    const history = historyOf(
      ["x", { replicas: 1, image: "a", labels: { tier: "web" } }],
      ["y", { replicas: 3, image: "b", labels: { tier: "web", added: "y" } }],
      ["z", { replicas: 3, image: "b", labels: { tier: "api", added: "y", own: "z" }, option: { level: 1 } }],
    );
    const result = undo(history, "y");
    expect(result).toMatchObject({ action: "update", conflicts: [], notes: [] });
    expect(contentsOf(result.object)).toEqual({
      replicas: 1,
      image: "a",
      labels: { tier: "api", own: "z" },
      option: { level: 1 },
    });
    expect(result.fields).toEqual([
      { path: ["f:replicas"], from: 3, to: 1 },
      { path: ["f:image"], from: "b", to: "a" },
      { path: ["f:labels", "f:added"], from: "y", to: undefined },
    ]);
    expect(result.object?.metadata).toMatchObject({ uid: "uid-1", resourceVersion: "3" });
  });

  test("names the fields that others changed since, with their manager and the values", () => {
    const history = historyOf(
      ["x", { replicas: 1, option: { note: "old" } }],
      ["y", { replicas: 2, option: { note: "new" } }],
      ["z", { replicas: 5 }],
    );
    const result = undo(history, "y");
    expect(conflictsOf(result)).toEqual([
      ["f:replicas", ["z"], 1, 2, 5],
      ["f:option f:note", [], "old", "new", undefined],
    ]);
  });

  test("has nothing to do when the change was set back already", () => {
    const history = historyOf(
      ["x", { replicas: 1 }],
      ["y", { replicas: 2 }],
      ["z", { replicas: 1, image: "a" }],
    );
    expect(undo(history, "y")).toMatchObject({ action: "none", conflicts: [] });
  });

  test("takes several writes back one by one, between which others wrote", () => {
    const history = historyOf(
      ["x", { replicas: 1, image: "a" }],
      ["y", { replicas: 2, image: "a" }],
      ["z", { replicas: 2, image: "b" }],
      ["y", { replicas: 3, image: "c" }],
    );
    const result = undo(history, "y");
    expect(result.conflicts).toEqual([]);
    expect(contentsOf(result.object)).toEqual({ replicas: 1, image: "b" });
  });

  test("names the manager of the value that its newer writes had replaced", () => {
    const history = historyOf(
      ["x", { replicas: 1 }],
      ["y", { replicas: 2 }],
      ["z", { replicas: 3 }],
      ["y", { replicas: 4 }],
    );
    expect(conflictsOf(undo(history, "y"))).toEqual([["f:replicas", ["z"], 1, 2, 3]]);
  });
});

describe("an undo in a list with keys", () => {
  const http = { port: 80, name: "http" };
  const tls = { port: 443, name: "tls" };
  const admin = { port: 8080, name: "admin" };

  test("restores a removed item after the item that preceded it", () => {
    const history = historyOf(
      ["x", { ports: [http, tls, admin] }],
      ["y", { ports: [http, admin] }],
      ["z", { ports: [{ port: 1, name: "new" }, http, admin] }],
    );
    const result = undo(history, "y");
    expect(contentsOf(result.object)?.["ports"]).toEqual([{ port: 1, name: "new" }, http, tls, admin]);
  });

  test("names an item that the change created and another one changed", () => {
    const history = historyOf(
      ["x", { ports: [http] }],
      ["y", { ports: [http, tls] }],
      ["z", { ports: [http, { ...tls, option: { level: 2 } }] }],
    );
    expect(conflictsOf(undo(history, "y"))).toEqual([
      ['f:ports k:{"port":443,"protocol":"TCP"} f:option', ["z"], undefined, undefined, { level: 2 }],
    ]);
  });

  test("leaves an item removed that another one removed since", () => {
    const history = historyOf(
      ["x", { ports: [http, tls] }],
      ["y", { ports: [{ port: 80 }, tls] }],
      ["z", { ports: [tls] }],
    );
    expect(undo(history, "y")).toMatchObject({ action: "none", conflicts: [] });
  });

  test("restores the order that the change changed, if another one changed only the items", () => {
    const history = historyOf(
      ["x", { ports: [http, tls, admin] }],
      ["y", { ports: [admin, http, tls] }],
      ["z", { ports: [admin, { port: 80, name: "web" }, tls, { port: 1, name: "new" }] }],
    );
    expect(contentsOf(undo(history, "y").object)?.["ports"]).toEqual([
      { port: 80, name: "web" },
      tls,
      admin,
      { port: 1, name: "new" },
    ]);
  });

  test("is a conflict of the whole list when both changed the order", () => {
    const history = historyOf(
      ["x", { ports: [http, tls, admin] }],
      ["y", { ports: [tls, http, admin] }],
      ["z", { ports: [admin, tls, http] }],
    );
    expect(undo(history, "y").conflicts.map(({ path }) => path)).toEqual([["f:ports"]]);
  });

  test("treats a list with equal keys as one value", () => {
    const history = historyOf(
      ["x", { ports: [http, http] }],
      ["y", { ports: [http, http, tls] }],
      ["z", { ports: [http, http, tls, admin] }],
    );
    expect(undo(history, "y").conflicts.map(({ path }) => path)).toEqual([["f:ports"]]);
  });
});

describe("an undo of a creation", () => {
  test("deletes the object when only its status changed since", () => {
    const history = historyOf(["y", { replicas: 1 }], ["z", { replicas: 1, status: { phase: "ready" } }]);
    expect(undo(history, "y")).toMatchObject({ action: "delete", object: undefined, conflicts: [] });
  });

  test("is a conflict for each field that another one changed since", () => {
    const history = historyOf(["y", { replicas: 1 }], ["z", { replicas: 2, labels: { a: "b" } }]);
    expect(conflictsOf(undo(history, "y"))).toEqual([
      ["f:replicas", ["z"], undefined, 1, 2],
      ["f:labels", ["z"], undefined, undefined, { a: "b" }],
    ]);
  });

  test.each([
    ["was deleted since", undefined, "Gone"],
    ["was replaced since", { replicas: 1 }, "Replaced"],
  ])("has nothing to do when the object %s", (_, contents, note) => {
    const history = historyOf(["y", { replicas: 1 }], ["z", undefined], ["z", contents]);
    expect(undo(history, "y")).toMatchObject({ action: "none", conflicts: [], notes: [note] });
  });
});

describe("an undo of a deletion", () => {
  test("creates the object again without what the server sets", () => {
    const history = historyOf(
      ["x", { replicas: 1, metadata: { labels: { a: "b" }, finalizers: ["example.com/f"] } }],
      ["y", undefined],
    );
    const { action, object } = undo(history, "y");
    expect(action).toBe("create");
    expect(object).toEqual({
      apiVersion: "v1",
      kind: "Thing",
      replicas: 1,
      metadata: { name: "a", labels: { a: "b" }, finalizers: ["example.com/f"] },
    });
  });

  test("is a conflict when there is another object of that name", () => {
    const history = historyOf(["x", { replicas: 1 }], ["y", undefined], ["z", { replicas: 2 }]);
    expect(undo(history, "y").conflicts).toMatchObject([{ path: [], reason: "Replaced", managers: ["z"] }]);
  });

  test("has nothing to do when the object was created again with the same contents", () => {
    const history = historyOf(["x", { replicas: 1 }], ["y", undefined], ["z", { replicas: 1 }]);
    expect(undo(history, "y")).toMatchObject({ action: "none", conflicts: [] });
  });

  test("is a conflict while the object is being deleted, and creates it when it is gone", () => {
    const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
    const history = historyOf(
      ["x", { replicas: 1, metadata: { finalizers: ["example.com/f"] } }],
      ["y", { replicas: 1, metadata: { finalizers: ["example.com/f"], ...terminating } }],
    );
    expect(undo(history, "y").conflicts).toMatchObject([{ path: [], reason: "Terminating" }]);
    history.write("z", undefined);
    const { action, object } = undo(history, "y");
    expect([action, object?.metadata]).toEqual(["create", { name: "a", finalizers: ["example.com/f"] }]);
  });

  test("also takes the writes before the deletion back", () => {
    const history = historyOf(
      ["x", { replicas: 1 }],
      ["y", { replicas: 2 }],
      ["z", { replicas: 2, image: "a" }],
      ["y", undefined],
    );
    const { action, object } = undo(history, "y");
    expect([action, contentsOf(object)]).toEqual(["create", { replicas: 1, image: "a" }]);
  });

  test("of an object that the change replaced updates the new one", () => {
    const history = historyOf(["x", { replicas: 1 }], ["y", undefined], ["y", { replicas: 2 }]);
    const { action, object } = undo(history, "y");
    expect([action, contentsOf(object), object?.metadata.uid]).toEqual(["update", { replicas: 1 }, "uid-2"]);
  });
});
