import { expect, test } from "vitest";
import { runSteps } from "../../../src/base/turns/work-pace.ts";
import { ConvertedObjects } from "../../../src/custom-resources/conversion/definition-storage.ts";
import { FieldSet } from "../../../src/fields/apply/field-set.ts";
import { applySteps, updateSteps, type Owners, type Versions } from "../../../src/fields/apply/ownership.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { thingShape } from "../../fields/apply/support.ts";

const configMap = (name: string, apiVersion = "v1"): ApiObject =>
  ({ apiVersion, kind: "ConfigMap", metadata: { name } }) as ApiObject;
const v2 = { kind: ConfigMap, apiVersion: "v2" };

function conversions() {
  const calls: (readonly string[])[] = [];
  const converted = new ConvertedObjects({
    keepsLabels: false,
    convert: (objects, apiVersion) => {
      calls.push(objects.map(({ metadata }) => metadata.name!));
      return Promise.resolve(objects.map((object) => ({ ...object, apiVersion })));
    },
  });
  return { calls, converted };
}

test("converted objects are requested in one call, each once, when several are prefetched", async () => {
  const { calls, converted } = conversions();
  await converted.prefetch([configMap("a"), configMap("b"), configMap("a"), configMap("c", "v2")], v2);
  await converted.prefetch([configMap("b")], v2);
  expect(calls).toEqual([["a", "b"]]);
  expect(converted.get(configMap("b"), v2)).toMatchObject({ apiVersion: "v2", metadata: { name: "b" } });
});

test("an object that was not prefetched is an error", () => {
  expect(() => conversions().converted.get(configMap("a"), v2)).toThrow("not prefetched");
});

test("a request with more than 200 conversions is refused", async () => {
  const { converted } = conversions();
  const objects = Array.from({ length: 201 }, (_, index) => configMap(`m${index}`));
  await expect(converted.prefetch(objects, v2)).rejects.toThrow("too many versions");
});

/** Versions with asynchronous conversion, and the number of objects in each call. */
function slowVersions() {
  const calls: string[] = [];
  const versions: Versions = {
    shape: () => thingShape,
    canonical: (object) => object,
    convert: (objects, from, to) => {
      calls.push(`${objects.length} from ${from} to ${to}`);
      return new Promise((resolve) => setImmediate(() => resolve(objects)));
    },
  };
  return { calls, versions };
}
const field = (name: string) => FieldSet.of(false, new Map([[`f:${name}`, FieldSet.leaf]]));
const owners: Owners = new Map([
  ["a", { version: "v1", set: field("image") }],
  ["b", { version: "v2", set: field("replicas") }],
]);

test("an update converts the object before and after it in one call for each version of its owners", async () => {
  const { calls, versions } = slowVersions();
  const write = { manager: "c", version: "v1" };
  const result = await runSteps(
    updateSteps({ image: "x", replicas: 1 }, { image: "x", replicas: 2 }, owners, versions, write),
  );
  expect(calls).toEqual(["2 from v1 to v2"]);
  expect([...result.owners.keys()]).toEqual(["a", "c"]);
});

test("an update without changes converts nothing", async () => {
  const { calls, versions } = slowVersions();
  const write = { manager: "c", version: "v1" };
  await runSteps(updateSteps({ image: "x" }, { image: "x" }, owners, versions, write));
  expect(calls).toEqual([]);
});

test("an apply that gives up a field of another version converts step by step and removes it", async () => {
  const { calls, versions } = slowVersions();
  const write = { manager: "b", version: "v1", force: false };
  const result = await runSteps(
    applySteps({ image: "x", replicas: 1 }, { labels: { a: "b" } }, owners, versions, write),
  );
  expect(result.object).toEqual({ image: "x", labels: { a: "b" } });
  expect(calls).toContain("1 from v2 to v1");
});
