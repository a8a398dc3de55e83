import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { files } from "./files.ts";
import { startFlagged, type FlagGroup, type FlaggedServer, type FlagRow } from "./table.ts";

/** The value of a row as titles have it: of files their names. */
function shownValue({ value, shownValue: shown = value }: FlagRow): string {
  return path.isAbsolute(shown) ? path.basename(shown) : shown;
}

/** Shows the flags of groups, each on a server that has the value and on one that hasn't. */
export function describeFlags(groups: readonly FlagGroup[]): void {
  afterAll(async () => {
    for (const group of groups) await group.close?.();
    files.remove();
  });

  describe.each(groups.map((group) => [group.name, group] as const))("flags of %s", (_name, group) => {
    const { shared = [], rows, manualClock } = group;
    let changed: FlaggedServer | undefined;
    let usual: FlaggedServer | undefined;
    beforeAll(async () => {
      const sharedBy = typeof shared === "function" ? shared : () => shared;
      usual = await startFlagged(sharedBy("usual"), manualClock);
      const words = rows.map(({ flag, value }) => `--${flag}=${value}`);
      changed = await startFlagged([...sharedBy("changed"), ...words], manualClock);
    });
    afterAll(async () => {
      await changed?.close();
      await usual?.close();
    });

    test.each(rows.map((row) => [row.flag, shownValue(row), row.observed, row] as const))(
      "--%s=%s changes %s",
      async (_flag, _value, _observed, row) => {
        expect(row.changed).not.toEqual(row.usual);
        expect(await row.observe(usual!)).toEqual(row.usual);
        expect(await row.observe(changed!)).toEqual(row.changed);
      },
    );
  });
}
