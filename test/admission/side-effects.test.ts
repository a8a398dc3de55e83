import { expect, test, vi } from "vitest";
import { AdmissionChain, type AdmissionPlugin } from "../../src/admission/admission-chain.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Secret } from "../../src/kinds/core/secret.ts";
import type { AdmissionRequest } from "../../src/resources/engine/engine.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import { WriteEffects } from "../../src/resources/writes/write.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const registry = new Registry([ConfigMap, Secret], platform, () => true);

function request(kind: typeof ConfigMap | typeof Secret, dryRun: boolean): AdmissionRequest {
  const target = { resource: registry.require(kind), namespace: "default", name: "it", subresource: "" };
  return {
    operation: "CREATE",
    target,
    user: { name: "ana" },
    dryRun,
    object: {},
    live: undefined,
    effects: new WriteEffects(),
  } as never;
}

/** A plugin that counts, outside the store, the config maps it was asked about. */
function counting(sideEffects?: boolean): AdmissionPlugin {
  return {
    name: "Counting",
    ...(sideEffects === undefined ? {} : { sideEffects }),
    concerns: (_, { resource }) => resource.kind === ConfigMap,
    mutate: vi.fn(),
    validate: vi.fn(),
  };
}

test.each(["mutate", "validate"] as const)(
  "C-4.9-05 a dry run fails without a call when a plugin with side effects would %s",
  (phase) => {
    const plugin = counting(true);
    const chain = new AdmissionChain([plugin]);
    expect(() => chain[phase](request(ConfigMap, true))).toThrow(
      expect.objectContaining({
        reason: "BadRequest",
        message: 'admission plugin "Counting" does not support dry run',
      }),
    );
    expect(plugin[phase]).not.toHaveBeenCalled();
    // What doesn't concern it may be tried without asking it, and what is no dry run is let through to it.
    void chain[phase](request(Secret, true));
    void chain[phase](request(ConfigMap, false));
    expect(plugin[phase]).toHaveBeenCalledTimes(1);
  },
);

test("plugins without side effects are called in a dry run", () => {
  const plugin = counting();
  const chain = new AdmissionChain([plugin]);
  void chain.mutate(request(ConfigMap, true));
  void chain.validate(request(ConfigMap, true));
  expect(plugin.mutate).toHaveBeenCalledTimes(1);
  expect(plugin.validate).toHaveBeenCalledTimes(1);
});
