import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { applyObject, type ApplyOptions } from "../../../src/resources/writes/apply.ts";
import type { Engine, Target, WriteResult } from "../../../src/resources/engine/engine.ts";
import { RepeatedApplies } from "../../../src/resources/engine/repeated-applies.ts";
import { decodeEntry } from "../../../src/resources/objects/stored.ts";
import { keyOf } from "../../../src/resources/registry/registry.ts";
import type { Entry, Store } from "../../../src/storage/store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { engineOver } from "../engine.ts";
import { thingKinds } from "./thing.ts";

let store: Store;
let engine: Engine;
/** How many bodies were read. */
let read: number;

beforeEach(() => {
  store = createMemoryStore({ clock: systemClock });
  engine = engineOver(store, thingKinds({}));
  read = 0;
});

afterEach(async () => {
  engine.pages.close();
  await store.close();
});

const options: ApplyOptions = {
  user: { name: "ann", uid: "", groups: [], extra: {} },
  dryRun: false,
  fieldManager: "ann",
  fieldValidation: "Warn",
  force: false,
};

const labelled = (team: string) => ({ metadata: { name: "it", labels: { team } } });

function apply(
  part: object,
  changed: Partial<ApplyOptions> = {},
  text = JSON.stringify({ apiVersion: "tests.platform.io/v1", kind: "Thing", ...part }),
): Promise<WriteResult> {
  const bytes = Buffer.from(text);
  const document = () => {
    read++;
    return decodeJson(bytes);
  };
  return applyObject(engine, target(), { bytes, document }, { ...options, ...changed }, () => undefined);
}

function target(): Target {
  const resource = engine.registry.find("tests.platform.io", "v1", "things")!;
  return { resource, namespace: "", name: "it", subresource: "" };
}

async function stored(): Promise<Entry> {
  return (await store.get(keyOf(target().resource, "", "it")))!;
}

/** Applies what changes nothing, twice: the second time it is known. */
async function applyUntilKnown(part: object): Promise<void> {
  await apply(part);
  await apply(part);
  read = 0;
  await apply(part);
  expect(read).toBe(0);
}

test("a repeated apply without changes is not parsed again while the object is unchanged", async () => {
  await apply(labelled("a"));
  expect(read).toBe(1);
  const first = await stored();
  await apply(labelled("a"));
  expect(read).toBe(2);
  for (let time = 0; time < 3; time++) {
    const { body, created } = await apply(labelled("a"));
    expect(Buffer.from(body)).toEqual(Buffer.from(first.body));
    expect(created).toBe(false);
  }
  expect(read).toBe(2);
  expect((await stored()).revision).toBe(first.revision);
});

test("a repeated apply is parsed again after another manager's change, and restores its fields with force", async () => {
  await applyUntilKnown(labelled("a"));
  await apply(labelled("b"), { fieldManager: "bob", force: true });
  read = 0;
  await expect(apply(labelled("a"))).rejects.toMatchObject({ reason: "Conflict" });
  expect(read).toBe(1);
  await apply(labelled("a"), { force: true });
  expect(decodeEntry(await stored()).metadata.labels).toEqual({ team: "a" });
});

test.each<[string, Partial<ApplyOptions>]>([
  ["another manager", { fieldManager: "bob" }],
  ["force", { force: true }],
  ["another validation of fields", { fieldValidation: "Strict" }],
])("the same bytes with %s are parsed again", async (_, changed) => {
  await applyUntilKnown(labelled("a"));
  await apply(labelled("a"), changed);
  expect(read).toBe(1);
});

test("the same content in other bytes is parsed again", async () => {
  await applyUntilKnown(labelled("a"));
  await apply(
    {},
    {},
    JSON.stringify({ ...labelled("a"), kind: "Thing", apiVersion: "tests.platform.io/v1" }),
  );
  expect(read).toBe(1);
});

test("a repeated apply creates the object again when it was deleted", async () => {
  await applyUntilKnown(labelled("a"));
  const { key, revision } = await stored();
  await store.commit({ kind: "delete", key, expected: revision });
  const { created } = await apply(labelled("a"));
  expect(created).toBe(true);
});

test("a cached apply returns the same warnings as the parsed one", async () => {
  const unknown = { ...labelled("a"), nonsense: true };
  await applyUntilKnown(unknown);
  const { warnings } = await apply(unknown);
  expect(warnings).toEqual(['unknown field "nonsense"']);
  expect(read).toBe(0);
});

test("a dry run uses the cached apply, and an apply seen only as a dry run is not cached", async () => {
  await applyUntilKnown(labelled("a"));
  await apply(labelled("a"), { dryRun: true });
  expect(read).toBe(0);
  await apply(labelled("b"), { dryRun: true });
  await apply(labelled("b"));
  expect(read).toBe(2);
  expect(decodeEntry(await stored()).metadata.labels).toEqual({ team: "b" });
});

test("an apply is not cached when an admission plugin is concerned", async () => {
  let asked = 0;
  engine = {
    ...engine,
    admit: { concerns: () => true, mutate: () => undefined, validate: () => void asked++ },
  };
  for (let time = 0; time < 4; time++) await apply(labelled("a"));
  expect(asked).toBe(4);
  expect(read).toBe(4);
});

test("an apply is parsed each time when the body is given as a document", async () => {
  const document = () => {
    read++;
    return decodeJson(Buffer.from(JSON.stringify({ ...identity, ...labelled("a") })));
  };
  for (let time = 0; time < 4; time++) {
    await applyObject(engine, target(), { bytes: undefined, document }, options, () => undefined);
  }
  expect(read).toBe(4);
});

const identity = { apiVersion: "tests.platform.io/v1", kind: "Thing" };

test("the least recently used apply is evicted when the cache is full", () => {
  const remembered = new RepeatedApplies(2);
  const { resource } = target();
  const entry = { revision: 7 } as unknown as Entry;
  const question = (key: string) => ({ key, resource, digest: "d" });
  remembered.add(question("a"), entry, []);
  remembered.add(question("b"), entry, []);
  expect(remembered.find(question("a"), entry)).toEqual([]);
  remembered.add(question("c"), entry, []);
  expect(remembered.find(question("b"), entry)).toBeUndefined();
  expect(remembered.find(question("a"), entry)).toEqual([]);
  expect(remembered.find(question("c"), entry)).toEqual([]);
});
