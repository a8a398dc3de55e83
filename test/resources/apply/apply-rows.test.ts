import { describe, expect, test } from "vitest";
import { fieldsOf, Machine, ownersOf } from "./machine.ts";
import { pageOf } from "./page.ts";
import { mergingRows } from "./rows-merging.ts";
import { orderRows } from "./rows-order.ts";
import { ownershipRows } from "./rows-ownership.ts";
import { recordRows } from "./rows-records.ts";
import { refusalRows } from "./rows-refusals.ts";
import { topologyRows } from "./rows-topology.ts";
import { versionRows } from "./rows-versions.ts";
import type { Row } from "./steps.ts";

/**
 * Server-side apply, row by row (spec: conventions 2.5 and 4.10). A row is a rule, the writes that show it, what stands after
 * them and who owns what of it; the rows read as a description of apply.
 */
const tables: Readonly<Record<string, readonly Row[]>> = {
  "field ownership": ownershipRows,
  "merging by field type": mergingRows,
  "order of list items": orderRows,
  "managed fields written by clients": recordRows,
  "other versions and subresources": versionRows,
  "changes of the declaration": topologyRows,
  "rejected requests": refusalRows,
};

describe.each(Object.entries(tables))("apply: %s", (_title, rows) => {
  test.each(rows)("$rule", async ({ steps, thing, owners }) => {
    const machine = new Machine();
    try {
      for (const step of steps) await machine.take(step);
      const after = await machine.read();
      expect(fieldsOf(after)).toEqual(thing);
      expect(ownersOf(after)).toEqual(owners);
    } finally {
      await machine.close();
    }
  });
});

test("docs/apply.md shows every row", async () => {
  await expect(pageOf(tables)).toMatchFileSnapshot("../../../docs/apply.md");
});
