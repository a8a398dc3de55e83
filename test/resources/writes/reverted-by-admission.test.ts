import { afterEach, beforeEach, expect, test } from "vitest";
import { Timestamps } from "../../../src/base/time/timestamps.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import type { Engine, Target } from "../../../src/resources/engine/engine.ts";
import { decodeEntry } from "../../../src/resources/objects/stored.ts";
import { keyOf } from "../../../src/resources/registry/registry.ts";
import { applyObject } from "../../../src/resources/writes/apply.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { thingKinds } from "../apply/thing.ts";
import { engineOver } from "../engine.ts";

let store: Store;
let engine: Engine;
/** The current time, in milliseconds since 1970. */
let now: number;

beforeEach(() => {
  now = Date.parse("2026-01-01T00:00:00Z");
  store = createMemoryStore({ clock: systemClock });
  engine = {
    ...engineOver(store, thingKinds({ tags: "atomic" })),
    timestamps: new Timestamps({ ...systemClock, now: () => now }),
    admit: {
      concerns: () => true,
      mutate: ({ object }) => {
        const { tags = [] } = object as { tags?: string[] };
        if (!tags.includes("default")) (object as { tags?: string[] }).tags = [...tags, "default"];
      },
      validate: () => undefined,
    },
  };
});

afterEach(async () => {
  engine.pages.close();
  await store.close();
});

function target(): Target {
  const resource = engine.registry.find("tests.platform.io", "v1", "things")!;
  return { resource, namespace: "", name: "it", subresource: "" };
}

async function apply(tags: readonly string[]): Promise<unknown> {
  const bytes = Buffer.from(
    JSON.stringify({ apiVersion: "tests.platform.io/v1", kind: "Thing", metadata: { name: "it" }, tags }),
  );
  const options = {
    user: { name: "ann", uid: "", groups: [], extra: {} },
    dryRun: false,
    fieldManager: "ann",
    fieldValidation: "Warn",
    force: false,
  } as const;
  await applyObject(engine, target(), { bytes, document: () => decodeJson(bytes) }, options, () => undefined);
  return decodeEntry((await store.get(keyOf(target().resource, "", "it")))!);
}

test("an apply is no change when admission adds again what it removed from an atomic list, also at a later time", async () => {
  const first = await apply(["a"]);
  expect(first).toMatchObject({ tags: ["a", "default"] });
  now += 5000;
  expect(await apply(["a"])).toEqual(first);
});

test("an apply that changes the list is stored with its time", async () => {
  await apply(["a"]);
  now += 5000;
  expect(await apply(["b"])).toMatchObject({
    tags: ["b", "default"],
    metadata: { managedFields: [{ time: "2026-01-01T00:00:05Z" }] },
  });
});
