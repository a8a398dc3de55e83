import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { age, defaultColumns } from "../../src/kinds/columns.ts";
import { decode } from "../../src/schema/decode.ts";
import { groupName, type ApiObject } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";

const now = Date.parse("2100-01-01T00:00:00Z");
const later = now + 100_000_000;

// The server caches table rows and relies on this: only cells with `ages` change with time.
test.each(
  builtInKinds.map(
    (kind) => [`${groupName(kind.group, platform)}/${kind.version} ${kind.name}`, kind] as const,
  ),
)("%s: only table cells with ages depend on the current time", (_name, kind) => {
  fc.assert(
    fc.property(arbitraryStruct(kind.type), (given) => {
      const object = { metadata: {}, ...decode(kind.type, given).value } as unknown as ApiObject;
      for (const { name, cell, ages } of kind.columns ?? defaultColumns) {
        const shown = cell(object, now, platform);
        const aged = ages?.(object, (timestamp) => age(timestamp, now)) ?? shown;
        expect([name, aged]).toEqual([name, shown]);
        if (ages === undefined) expect([name, cell(object, later, platform)]).toEqual([name, shown]);
      }
    }),
    { numRuns: 40 },
  );
});
