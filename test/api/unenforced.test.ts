import { expect, test } from "vitest";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import type { Target } from "../../src/resources/engine/engine.ts";
import { resourceOf } from "../../src/resources/registry/registry.ts";
import { warningsOf } from "../../src/resources/writes/write.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import { platform } from "../../src/vocabulary/platform.ts";

test("no built-in kind is marked as unenforced", () => {
  expect(builtInKinds.filter(({ effect }) => effect?.unenforced !== undefined)).toEqual([]);
});

test("a kind marked as unenforced warns when an object is created, not at later writes", () => {
  const unenforced = "nobody does anything by it";
  const resource = resourceOf({ ...ConfigMap, effect: { unenforced } }, platform);
  const target: Target = { resource, namespace: "default", name: "one", subresource: "" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } };
  // Its rules use no part of the engine.
  const engine = {} as Engine;
  expect(warningsOf(engine, target, object, undefined)).toEqual([
    `this server stores the object and does not enforce it: ${unenforced}`,
  ]);
  expect(warningsOf(engine, target, object, object)).toEqual([]);
});
