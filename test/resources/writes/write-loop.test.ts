import { expect, test } from "vitest";
import { StatusError } from "../../../src/base/status-error.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { resourceOf } from "../../../src/resources/registry/registry.ts";
import type { WriteContext } from "../../../src/resources/input/input.ts";
import { writeObject } from "../../../src/resources/writes/write-loop.ts";
import type { Entry } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";

const entry = { key: "/core/configmaps/a/b", body: Buffer.from("{}") } as unknown as Entry;

/** A write of an object that the store has or lacks at each read; the last state repeats. */
function contextOf(...states: readonly ("stored" | "missing")[]): WriteContext {
  let reads = 0;
  const get = () => {
    const state = states[Math.min(reads++, states.length - 1)];
    return state === "stored" ? entry : undefined;
  };
  const target = { resource: resourceOf(ConfigMap, platform), namespace: "a", name: "b", subresource: "" };
  return {
    engine: { store: { get } },
    target,
    requestTarget: target,
    options: {},
  } as unknown as WriteContext;
}
const reasonOf = (error: unknown) => (error as StatusError).reason;
const exists = () => Promise.reject(new StatusError("AlreadyExists", "exists"));

test("a write is attempted ten times, then it is a conflict, when other writes change the object", async () => {
  let attempts = 0;
  const replace = () => Promise.resolve(void attempts++);
  const failure = await writeObject(contextOf("stored"), entry, { replace }).catch(reasonOf);
  expect([failure, attempts]).toEqual(["Conflict", 10]);
});

test("a create is attempted ten times, then the object exists, when other writes create and delete it", async () => {
  let attempts = 0;
  const create = () => {
    attempts++;
    return exists();
  };
  const replace = () => Promise.resolve(undefined);
  const failure = await writeObject(contextOf("missing"), undefined, { replace, create }).catch(reasonOf);
  expect([failure, attempts]).toEqual(["AlreadyExists", 10]);
});

test("a write replaces the object when another write created it first", async () => {
  const write = { replace: () => Promise.resolve("replaced"), create: exists };
  expect(await writeObject(contextOf("stored"), undefined, write)).toBe("replaced");
});

test("a write creates the object, or is not found, when another write deleted it first", async () => {
  const replace = () => Promise.resolve(undefined);
  const create = () => Promise.resolve("created");
  expect(await writeObject<string>(contextOf("missing"), entry, { replace, create })).toBe("created");
  const failure = await writeObject(contextOf("missing"), entry, { replace }).catch(reasonOf);
  expect(failure).toBe("NotFound");
});

test("a write fails at once when an attempt fails", async () => {
  let attempts = 0;
  const replace = () => {
    attempts++;
    return Promise.reject(new StatusError("Forbidden", "no"));
  };
  const failure = await writeObject(contextOf("stored"), entry, { replace }).catch(reasonOf);
  expect([failure, attempts]).toEqual(["Forbidden", 1]);
});
