import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { files } from "./files.ts";
import { startFlagged, type FlagGroup, type FlaggedServer, type FlagRow } from "./table.ts";

/** The title of a row's test: values of files are shown by the files' names, which don't differ from run to run. */
function titleOf({ flag, value, shownValue = value, observed, requirement = "" }: FlagRow): string {
  const shown = path.isAbsolute(shownValue) ? path.basename(shownValue) : shownValue;
  return `${requirement} --${flag}=${shown} changes ${observed}`.trimStart();
}

/**
 * Shows the flags of groups, each on a server that has the value and on one that hasn't. Groups with the same flags for both servers have
 * the second one in common.
 */
export function describeFlags(groups: readonly FlagGroup[]): void {
  const usualWords = groups.map(({ shared = [] }) =>
    typeof shared === "function" ? shared("usual") : shared,
  );
  const keys = groups.map(({ manualClock }, at) => JSON.stringify([usualWords[at], manualClock]));
  const usualServers = new Map<string, FlaggedServer>();
  afterAll(async () => {
    for (const server of usualServers.values()) await server.close();
    for (const group of groups) await group.close?.();
    files.remove();
  });

  const rowsOfGroups = groups.map((group, at) => [group.name, group, at] as const);
  describe.each(rowsOfGroups)("flags of %s", (_name, { shared = [], rows, manualClock }, at) => {
    const key = keys[at]!;
    let changed: FlaggedServer | undefined;
    let usual: FlaggedServer | undefined;
    beforeAll(async () => {
      usual = usualServers.get(key) ?? (await startFlagged(usualWords[at]!, manualClock));
      usualServers.set(key, usual);
      const sharedWords = typeof shared === "function" ? shared("changed") : shared;
      const words = rows.map(({ flag, value }) => `--${flag}=${value}`);
      changed = await startFlagged([...sharedWords, ...words], manualClock);
    });
    afterAll(async () => {
      await changed?.close();
      if (keys.lastIndexOf(key) > at) return;
      usualServers.delete(key);
      await usual?.close();
    });

    test.each(rows.map((row) => [titleOf(row), row] as const))("%s", async (_title, row) => {
      expect(row.changed).not.toEqual(row.usual);
      expect(await row.observe(usual!, row.usual)).toEqual(row.usual);
      expect(await row.observe(changed!, row.changed)).toEqual(row.changed);
    });
  });
}
