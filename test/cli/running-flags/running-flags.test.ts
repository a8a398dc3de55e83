import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveFlags } from "../../../src/cli/flags.ts";
import { freePort } from "../../support/process.ts";
import { apiGroups } from "./api-rows.ts";
import { auditGroups } from "./audit-rows.ts";
import { authenticationGroups } from "./authentication-rows.ts";
import { authorizationGroups } from "./authorization-rows.ts";
import { connectionGroups, flagsOfNetworks } from "./connection-rows.ts";
import { files } from "./files.ts";
import { providerGroups } from "./provider-rows.ts";
import { shownElsewhere } from "./shown-elsewhere.ts";
import { signingGroups } from "./signing-rows.ts";
import { startFlagged, type FlagGroup, type FlaggedServer, type FlagRow } from "./table.ts";

const groups: readonly FlagGroup[] = [
  ...apiGroups(await freePort()),
  ...(await authenticationGroups()),
  ...(await providerGroups()),
  ...(await authorizationGroups()),
  ...signingGroups,
  ...(await auditGroups()),
  ...(await connectionGroups()),
];

/** The value of a row as titles have it: of files their names. */
function shownValue({ value, shownValue: shown = value }: FlagRow): string {
  return path.isAbsolute(shown) ? path.basename(shown) : shown;
}

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

describe("every flag of serve", () => {
  test.each(shownElsewhere.map((one) => [one.flag, one.value, one.observed, one] as const))(
    "--%s=%s changes %s, as a test elsewhere shows",
    (flag, _value, _observed, { file, title }) => {
      const text = readFileSync(path.resolve(import.meta.dirname, "../..", file), "utf8");
      expect(text).toContain(title);
      expect(text).toContain(flag);
    },
  );

  test("has a row in this table", () => {
    const shown = [...groups.flatMap(({ rows }) => rows), ...shownElsewhere].map(({ flag }) => flag);
    shown.push(...flagsOfNetworks);
    expect(serveFlags.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([]);
    const known = new Set(serveFlags.map(({ name }) => name));
    expect(shown.filter((name) => !known.has(name))).toEqual([]);
  });
});
