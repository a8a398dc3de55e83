import { afterEach, beforeEach, expect, test } from "vitest";
import type { AccessScopes } from "../../src/authorization/access-scopes.ts";
import { GrantedView } from "../../src/authorization/granted-view.ts";
import { maxLogSize, GrantLog } from "../../src/authorization/rbac/grant-log.ts";
import { StoredRbac } from "../../src/authorization/rbac/stored-rbac.ts";
import type { FollowedView } from "../../src/resources/objects/followed-view.ts";
import { revisionOf } from "../../src/storage/entry.ts";
import { RevisionCompactedError, StoreClosedError, type Revision } from "../../src/storage/store.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { settle } from "../support/manual-clock.ts";
import { UnsteadyStore } from "../support/unsteady-store.ts";
import { removeObject, typeNamed, writeObject } from "./stored-objects.ts";
import { ask, clusterRole, role, toGroup, toUser, user } from "./support.ts";

const maps = typeNamed("configmaps");
const [roles, clusterRoles, bindings, clusterBindings] = [
  "roles",
  "clusterroles",
  "rolebindings",
  "clusterrolebindings",
].map(typeNamed) as [typeof maps, typeof maps, typeof maps, typeof maps];
const mapRule = (...resourceNames: string[]) => ({
  rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames }],
});
const ann = user("ann", "staff");

let unsteady: UnsteadyStore;
let rbac: StoredRbac;
const failures: unknown[] = [];
beforeEach(async () => {
  unsteady = new UnsteadyStore();
  failures.length = 0;
  rbac = new StoredRbac(unsteady.shown, platform, unsteady.clock, (error) => failures.push(error));
  await rbac.start();
});
afterEach(async () => {
  rbac.close();
  await unsteady.shown.close();
});

const follow = (who = ann, after?: Revision, namespace = ""): Promise<FollowedView> => {
  const attributes = ask(who, "get", { resource: "configmaps", namespace });
  const toView = (scopes: AccessScopes) => new GrantedView([scopes], attributes, maps);
  return rbac.followScopes({ attributes, toView, after });
};
const write = (type: typeof maps, namespace: string, name: string, content: object) =>
  writeObject(unsteady.shown, type, namespace, name, content);
const remove = (type: typeof maps, namespace: string, name: string) =>
  removeObject(unsteady.shown, type, namespace, name);

/** The revisions at which the view of an object changes, up to the newest state. */
function changesOf({ state: first }: FollowedView, namespace: string, name: string) {
  const changes: [number, boolean][] = [];
  for (let state: typeof first | undefined = first; state !== undefined; state = state.next) {
    const allowed = state.view.allows(namespace, name);
    if (changes.at(-1)?.[1] !== allowed) changes.push([state.since, allowed]);
  }
  return changes;
}

test("a view follows bindings, roles and their removal at the revisions of the changes", async () => {
  const view = await follow();
  const other = await follow(user("bob"));
  const start = view.start;
  await write(roles, "a", "reader", mapRule("x"));
  const bound = await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  const narrowed = await write(roles, "a", "reader", mapRule("y"));
  const back = await write(roles, "a", "reader", mapRule("x", "y"));
  const removed = await remove(roles, "a", "reader");
  await write(roles, "a", "reader", mapRule("x"));
  const unbound = await remove(bindings, "a", "b");
  await write(clusterRoles, "", "all", mapRule("x"));
  const group = await write(clusterBindings, "", "g", {
    roleRef: clusterRole("all"),
    subjects: [toGroup("staff")],
  });
  await view.reach(group);
  expect(view.position).toBeGreaterThanOrEqual(group);
  expect(changesOf(view, "a", "x")).toEqual([
    [start, false],
    [bound, true],
    [narrowed, false],
    [back, true],
    [removed, false],
    [removed! + 1, true],
    [unbound, false],
    [group, true],
  ]);
  expect(changesOf(view, "b", "x")).toEqual([
    [start, false],
    [group, true],
  ]);
  expect(other.state.next).toBeUndefined();
  view.close();
  other.close();
});

test("a view of one namespace ignores bindings in others", async () => {
  await write(roles, "a", "reader", mapRule("x"));
  const view = await follow(ann, undefined, "b");
  const bound = await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  await view.reach(bound);
  expect(view.state.next).toBeUndefined();
  view.close();
});

test("views of the same user and type share their states; the order of revisions is that of the changes", async () => {
  const [one, two] = [await follow(), await follow()];
  expect(one.state).toBe(two.state);
  let calls = 0;
  one.listen({ changed: () => calls++, ended: () => expect.fail() });
  await write(clusterRoles, "", "all", mapRule("x"));
  for (let i = 0; i < 20; i++) {
    await write(clusterBindings, "", "g", { roleRef: clusterRole("all"), subjects: [toUser("ann")] });
    await remove(clusterBindings, "", "g");
  }
  await one.reach(await unsteady.shown.latestRevision());
  const revisions = changesOf(one, "a", "x").map(([revision]) => revision);
  expect(revisions).toHaveLength(41);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  expect(calls).toBe(40);
  one.close();
  two.close();
});

test("a view that begins in the past has the grants of each revision since then", async () => {
  await write(roles, "a", "reader", mapRule("x"));
  const before = await unsteady.shown.latestRevision();
  const bound = await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  const removed = await remove(bindings, "a", "b");
  const later = await write(maps, "a", "x", {});
  for (const [after, expected] of [
    [
      before,
      [
        [before, false],
        [bound, true],
        [removed, false],
      ],
    ],
    [
      bound,
      [
        [bound, true],
        [removed, false],
      ],
    ],
    [removed!, [[removed, false]]],
  ] as const) {
    const view = await follow(ann, after);
    expect(view.start).toBe(after);
    expect(view.state.view.allows("a", "x")).toBe(expected[0]![1]);
    expect(changesOf(view, "a", "x").map(([, allowed]) => allowed)).toEqual(
      expected.map(([, allowed]) => allowed),
    );
    expect(changesOf(view, "a", "x").slice(1)).toEqual(expected.slice(1));
    view.close();
  }
  // A view that is open doesn't hide the past of a new one.
  const open = await follow();
  const past = await follow(ann, bound);
  expect(changesOf(past, "a", "x").map(([, allowed]) => allowed)).toEqual([true, false]);
  const again = await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  await past.reach(again);
  expect(changesOf(past, "a", "x").at(-1)).toEqual([again, true]);
  expect(later).toBeGreaterThan(removed!);
  open.close();
  past.close();
});

test("views that are resumed together read the past changes of roles once", async () => {
  const before = await unsteady.shown.latestRevision();
  await write(roles, "a", "reader", mapRule("x"));
  await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("bob")] });
  const { store } = unsteady;
  const subscribe = store.subscribe.bind(store);
  let subscriptions = 0;
  store.subscribe = (...args) => {
    subscriptions++;
    return subscribe(...args);
  };
  const views = await Promise.all(Array.from({ length: 50 }, () => follow(ann, before)));
  // One follows the changes, one reads those of the past.
  expect(subscriptions).toBe(2);
  for (const view of views) view.close();
});

test("a view is refused with Expired if its past has too many names", async () => {
  const names = Array.from({ length: 60_000 }, (_, index) => `name-${index}`);
  await write(roles, "a", "reader", mapRule(...names));
  const before = await unsteady.shown.latestRevision();
  for (let times = 0; times < 20; times++) {
    await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
    await remove(bindings, "a", "b");
  }
  await expect(follow(ann, before)).rejects.toMatchObject({ reason: "Expired" });
  const view = await follow(ann);
  expect(view.state.view.allows("a", "name-1")).toBe(false);
  view.close();
});

test("if the changes are lost, views end with Expired, and the next one is complete", async () => {
  const view = await follow();
  const ends: Error[] = [];
  view.listen({ changed: () => undefined, ended: (error) => ends.push(error) });
  unsteady.endSubscription();
  expect(ends).toMatchObject([{ reason: "Expired" }]);
  await settle();
  await write(clusterRoles, "", "all", mapRule("x"));
  await write(clusterBindings, "", "g", { roleRef: clusterRole("all"), subjects: [toUser("ann")] });
  const next = await follow();
  expect(next.state.view.allows("a", "x")).toBe(true);
  view.close();
  next.close();
});

test("views end with Expired if too many changes wait for the rights of a user", async () => {
  await write(clusterRoles, "", "all", mapRule("x"));
  const view = await follow();
  const ends: Error[] = [];
  view.listen({ changed: () => undefined, ended: (error) => ends.push(error) });
  // The first change affects the view, so that those in the same turn wait.
  const large = { metadata: { annotations: { text: "x".repeat(1_000_000) } }, ...mapRule("y") };
  await Promise.all([
    write(clusterBindings, "", "g", { roleRef: clusterRole("all"), subjects: [toUser("ann")] }),
    ...Array.from({ length: 40 }, (_, i) => write(clusterRoles, "", `large${i}`, large)),
  ]);
  expect(ends).toMatchObject([{ reason: "Expired" }]);
  const next = await follow();
  expect(next.state.view.allows("a", "x")).toBe(true);
  next.close();
});

test("a view that begins before the retained history is refused", async () => {
  await write(roles, "a", "reader", mapRule("x"));
  const old = await unsteady.shown.latestRevision();
  await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  await unsteady.shown.compact(Infinity);
  await write(bindings, "a", "b", { roleRef: role("reader"), subjects: [toUser("ann")] });
  await expect(follow(ann, old)).rejects.toBeInstanceOf(RevisionCompactedError);
  const view = await follow();
  expect(view.state.view.allows("a", "x")).toBe(true);
  view.close();
});

test("a binding that can't be decoded grants nothing and ends nothing", async () => {
  const view = await follow();
  const key = `${clusterBindings.storePrefix}/broken`;
  const draft = { header: Buffer.from("[]"), body: Buffer.from('{"v":""'), revisionAt: 6 };
  await unsteady.shown.commit({ kind: "create", key, draft });
  await view.reach(await unsteady.shown.latestRevision());
  expect(failures.length).toBeGreaterThan(0);
  expect(view.state.next).toBeUndefined();
  view.close();
});

test("the roles are read again only if no view was open for 30 seconds", async () => {
  (await follow()).close();
  const { reads } = unsteady;
  await unsteady.clock.advance(29_000);
  const second = await follow();
  await unsteady.clock.advance(60_000);
  second.close();
  expect(unsteady.reads).toBe(reads);
  await unsteady.clock.advance(30_000);
  (await follow()).close();
  expect(unsteady.reads).toBe(reads + 1);
});

test("a server that stops ends its views", async () => {
  const view = await follow();
  const ends: Error[] = [];
  view.listen({ changed: () => undefined, ended: (error) => ends.push(error) });
  rbac.close();
  expect(ends).toHaveLength(1);
  expect(ends[0]).toBeInstanceOf(StoreClosedError);
});

test("a log drops its oldest changes above its size, and then no longer reaches back to them", () => {
  const log = new GrantLog(revisionOf(1));
  const subjects = ["u/ann", "u/bob", "g/staff"];
  for (let i = 2; i < maxLogSize; i++) log.add({ revision: revisionOf(i), namespace: "", subjects });
  expect(log.start).toBeGreaterThan(1);
  expect(log.hasAfter(revisionOf(1), () => false)).toBeUndefined();
  expect(log.hasAfter(log.start, () => false)).toBe(false);
  expect(log.hasAfter(log.start, ({ subjects: bound }) => bound!.includes("u/ann"))).toBe(true);
  log.extend(revisionOf(1), [], revisionOf(2));
  expect(log.hasAfter(revisionOf(1), () => false)).toBeUndefined();
});
