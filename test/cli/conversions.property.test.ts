import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { deepClone, type JsonObject } from "../../src/base/json/value.ts";
import { convertManifest } from "../../src/cli/convert/command.ts";
import {
  apiVersionOf,
  currentGroupVersion,
  declaredKind,
  versionChanges,
} from "../../src/cli/convert/registry.ts";
import type { KindContext } from "../../src/schema/context.ts";
import { decode } from "../../src/schema/decode.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { defaultRelease } from "../../src/base/releases.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";

/** Laws of every conversion from a version that was removed, for manifests of any content. */
const context: KindContext = { vocabulary: platform, enabled: () => true, subresource: "" };
const release = defaultRelease;
const conversions = versionChanges
  .flatMap(({ from, kinds }) => kinds.map((kind) => ({ from, kind })))
  .map((one) => [`${apiVersionOf(one.from, platform)} ${one.kind}`, one] as const);

/** Values where the rules look, of forms in which they don't expect them. */
const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(null, [], {}, [null], [{}], "", 0));
const places = [
  "backend",
  "rules",
  "versions",
  "template",
  "selector",
  "conversion",
  "metrics",
  "limited",
  "version",
];
const wild = fc.record(
  {
    metadata: anything,
    spec: fc.oneof(
      anything,
      fc.record(Object.fromEntries(places.map((name) => [name, anything])), { requiredKeys: [] }),
    ),
    webhooks: anything,
    subjects: anything,
    endpoints: anything,
    status: anything,
  },
  { requiredKeys: [] },
);

describe.each(conversions)("%s", (_name, { from, kind }) => {
  const typeMeta = { apiVersion: apiVersionOf(from, platform), kind };
  const target = currentGroupVersion(from, kind, release);
  const declared = declaredKind(target, kind);

  it("any manifest is converted or has a note with the reason, and isn't modified", () => {
    fc.assert(
      fc.property(wild, (fields) => {
        const given = { ...fields, ...typeMeta } as JsonObject;
        const before = deepClone(given);
        const { object, outcome, notes } = convertManifest(given, undefined, context);
        expect(given).toEqual(before);
        expect(outcome).not.toBe("unchanged");
        if (outcome === "failed") {
          expect(object).toBe(given);
          expect(notes.some(({ level }) => level === "unresolved")).toBe(true);
        }
      }),
      { numRuns: effort(40, 100) },
    );
  });

  // Nothing replaced pod security policies, so there is nothing to hold their conversion against.
  if (declared === undefined) return;
  it("the result is a whole object of the new version, and stays so", () => {
    fc.assert(
      fc.property(arbitraryStruct(declared.type), (fields) => {
        const { object, outcome } = convertManifest(
          { ...fields, ...typeMeta } as JsonObject,
          undefined,
          context,
        );
        if (outcome === "failed") return;
        expect(decode(declared.type, object).unknownFields).toEqual([]);
        expect(object).toMatchObject({ apiVersion: apiVersionOf(target, platform), kind });
        expect(convertManifest(object, undefined, context)).toMatchObject({ object, outcome: "unchanged" });
      }),
      { numRuns: effort(20, 50) },
    );
  });
});
