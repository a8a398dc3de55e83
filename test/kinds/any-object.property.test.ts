import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode } from "../../src/schema/decode.ts";
import { fillFieldDefaults } from "../../src/schema/defaults.ts";
import type { ApiObject, Kind, ViewSubresource } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";

const runs = { numRuns: 30 };
const named = builtInKinds.map((kind) => [`${kind.group.base}/${kind.version} ${kind.name}`, kind] as const);
/** Feature gates that guard fields; each object is tested with and without them. */
const gates = [
  "DynamicResourceAllocation",
  "MatchLabelKeysInPodTopologySpread",
  "PodSchedulingReadiness",
  "StatefulSetAutoDeletePVC",
  "UserNamespacesStatelessPodsSupport",
];

function contextOf(subresource = "") {
  return { vocabulary: platform, enabled: () => false, subresource };
}

/** Calls every function of a kind's declaration that the server calls. */
function callAll(kind: Kind, value: object, other: object): void {
  for (const options of [{}, { gates }]) {
    judgeNew(kind, value, options);
    judgeUpdate(kind, value, other, options);
    for (const [subresource, part] of Object.entries(kind.subresources)) {
      if (part.shape === undefined) judgeUpdate(kind, value, other, { ...options, subresource });
    }
  }
  const object = readAs(kind, value);
  for (const column of kind.columns ?? []) column.cell(object, 0, platform);
  for (const text of Object.values(kind.selectable)) expect(typeof text(object)).toBe("string");
  kind.rowConditions?.(object);
  kind.generationOf?.(object);
  kind.warnings?.(object, contextOf(), undefined);
  kind.gracePeriodSeconds?.(object, undefined);
  kind.isFinalized?.(object);
  const view = kind.subresources["scale"] as ViewSubresource | undefined;
  if (view !== undefined) view.write(object, view.read(object) as ApiObject);
}

describe("any object of any kind", () => {
  it.each(named)("%s: validation, table cells and selectors throw no exception", (_name, kind) => {
    const values = arbitraryStruct(kind.type);
    fc.assert(
      fc.property(values, values, (value, other) => callAll(kind, value, other)),
      runs,
    );
  });

  it.each(named)("%s: defaulting is idempotent", (_name, kind) => {
    fc.assert(
      fc.property(arbitraryStruct(kind.type), (value) => {
        const object = readAs(kind, value);
        const again = decode(kind.type, structuredClone(object)).value as ApiObject;
        fillFieldDefaults(kind.type, again, contextOf());
        kind.fillDefaults?.(again, contextOf());
        expect(again).toEqual(object);
      }),
      runs,
    );
  });
});
