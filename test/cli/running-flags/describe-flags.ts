import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { files } from "./files.ts";
import { startFlagged, type FlagGroup, type FlaggedServer, type FlagRow } from "./table.ts";

/** The title of a row's test: values of files are shown by the files' names, which don't differ from run to run. */
function titleOf({ flag, value, shownValue = value, observed, requirement = "" }: FlagRow): string {
  const shown = path.isAbsolute(shownValue) ? path.basename(shownValue) : shownValue;
  return `${requirement} --${flag}=${shown} changes ${observed}`.trimStart();
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

    test.each(rows.map((row) => [titleOf(row), row] as const))("%s", async (_title, row) => {
      expect(row.changed).not.toEqual(row.usual);
      expect(await row.observe(usual!)).toEqual(row.usual);
      expect(await row.observe(changed!)).toEqual(row.changed);
    });
  });
}
