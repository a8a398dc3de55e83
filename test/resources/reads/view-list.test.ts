import { afterEach, beforeEach, expect, test } from "vitest";
import { authorizationChain } from "../../../src/authorization/authorizer-chain.ts";
import { StoredRbac } from "../../../src/authorization/rbac/stored-rbac.ts";
import { userView } from "../../../src/authorization/user-view.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import type { Engine } from "../../../src/resources/engine/engine.ts";
import type { ObjectView } from "../../../src/resources/objects/object-view.ts";
import { everything } from "../../../src/resources/objects/selection.ts";
import { sortOrder } from "../../../src/resources/objects/sort-order.ts";
import { encodeContinue } from "../../../src/resources/reads/continue-token.ts";
import { listInOrder, type SortedListOptions } from "../../../src/resources/reads/sorted-list.ts";
import { namesOf } from "../../../src/resources/registry/registry.ts";
import { revisionOf } from "../../../src/storage/entry.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { typeNamed, writeObject } from "../../authorization/stored-objects.ts";
import { ask, role, toUser, user } from "../../authorization/support.ts";
import { engineOver } from "../engine.ts";

const [maps, roles, bindings] = ["configmaps", "roles", "rolebindings"].map(typeNamed) as [
  ReturnType<typeof typeNamed>,
  ReturnType<typeof typeNamed>,
  ReturnType<typeof typeNamed>,
];
const ann = user("ann");
const attributes = ask(ann, "list", { resource: "configmaps", namespace: "a" });
const target = { resource: maps, namespace: "a", name: "", subresource: "" };
const never = () => undefined;

let store: Store;
let engine: Engine;
let rbac: StoredRbac;
beforeEach(async () => {
  store = createMemoryStore({ clock: systemClock });
  engine = engineOver(store, builtInKinds);
  rbac = new StoredRbac(store, platform, systemClock, (error) => expect.fail(String(error)));
  await rbac.start();
});
afterEach(async () => {
  rbac.close();
  engine.pages.close();
  await engine.selectors.close();
  await store.close();
});

const grant = (name: string, ...resourceNames: string[]): Promise<Revision> =>
  writeObject(store, roles, "a", name, {
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames }],
  });
const bind = (name: string): Promise<Revision> =>
  writeObject(store, bindings, "a", name, { roleRef: role(name), subjects: [toUser("ann")] });
const write = (name: string): Promise<Revision> => writeObject(store, maps, "a", name, {});
const viewOfAnn = (): Promise<ObjectView> =>
  userView(authorizationChain(["RBAC"], rbac, platform), attributes, maps, {
    rule: "get",
    yieldIfDue: never,
  });

async function list(view: ObjectView, options: Partial<SortedListOptions>) {
  const all: SortedListOptions = {
    read: { mode: "latest" },
    limit: 0,
    selection: everything,
    view,
    ...options,
  };
  const pages = listInOrder(engine, target, all);
  const names: string[] = [];
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return { names, revision: step.value.revision };
    names.push(...step.value.entries.map(({ key }) => namesOf(key).name));
  }
}

const reads: [string, (view: ObjectView) => Partial<SortedListOptions>][] = [
  ["of the present", () => ({})],
  ["not older than a revision", () => ({ read: { mode: "notOlderThan", revision: revisionOf(1) } })],
  ["in another order", () => ({ sort: sortOrder(maps, "-metadata.name") })],
  [
    "that goes on after its revision has expired",
    ({ id: view }) => ({
      read: {
        mode: "continue",
        token: encodeContinue({ revision: undefined, after: "", remaining: undefined, view }),
      },
    }),
  ],
];

test.each(reads)(
  "a list with a view %s has the objects and grants of one revision when both change before it is read",
  async (_, options) => {
    await grant("reader", "x");
    await bind("reader");
    for (const name of ["x", "y", "z"]) await write(name);
    const view = await viewOfAnn();
    const revision = await store.latestRevision();
    await grant("reader", "y", "z");
    await write("z");
    expect(view.revision).toBe(revision);
    expect(await list(view, options(view))).toEqual({ names: ["x"], revision });
    const later = await viewOfAnn();
    const names = options(later).sort === undefined ? ["y", "z"] : ["z", "y"];
    expect(await list(later, options(later))).toEqual({ names, revision: await store.latestRevision() });
  },
);

test("a view of everything is listed at the revision at which it was granted", async () => {
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }];
  await writeObject(store, roles, "a", "reader", { rules });
  await bind("reader");
  const view = await viewOfAnn();
  await grant("reader", "x");
  await write("secret");
  expect(view.everything).toBe(true);
  expect((await list(view, {})).names).toEqual([]);
});

test("a view has every write before it was opened, also those of other resource types", async () => {
  await grant("reader", "x");
  await bind("reader");
  await viewOfAnn();
  const revision = await write("x");
  expect(await list(await viewOfAnn(), {})).toEqual({ names: ["x"], revision });
});

test("the grants of a view are those of one revision when roles change faster than they are read", async () => {
  const names = Array.from({ length: 600 }, (_, index) => `r${index}`);
  for (const name of names) {
    await grant(name, name);
    await bind(name);
  }
  const swaps: { readonly revision: Revision; readonly name: string }[] = [];
  // Before the first role is read, or after it.
  const swap = async (): Promise<void> => {
    const name = `swapped${swaps.length}`;
    for (const changed of ["r0", "r599"])
      swaps.push({ revision: await grant(changed, name), name: `${changed} ${name}` });
  };
  const scopesOf = () => rbac.currentScopes({ ...attributes, verb: "get" }, swap);
  const { scopes, revision } = await scopesOf();
  const isAllowed = (role: string): string | undefined =>
    swaps.find(({ name }) => name.startsWith(`${role} `) && scopes.allows("a", name.split(" ")[1]!))?.name;
  const expected = (role: string): string | undefined =>
    swaps.findLast(({ name, revision: at }) => name.startsWith(`${role} `) && at <= revision)?.name;
  expect(swaps.length).toBeGreaterThan(2);
  expect([isAllowed("r0"), isAllowed("r599")]).toEqual([expected("r0"), expected("r599")]);
});
