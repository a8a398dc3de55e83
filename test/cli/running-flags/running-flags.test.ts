import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { serveFlags } from "../../../src/cli/flags/flags.ts";
import { freePort } from "../../support/process.ts";
import { apiGroups } from "./api-rows.ts";
import { auditGroups } from "./audit-rows.ts";
import { authenticationGroups } from "./authentication-rows.ts";
import { authorizationGroups } from "./authorization-rows.ts";
import { connectionGroups, flagsOfNetworks } from "./connection-rows.ts";
import { describeFlags } from "./describe-flags.ts";
import { files } from "./files.ts";
import { providerGroups } from "./provider-rows.ts";
import { shownElsewhere } from "./shown-elsewhere.ts";
import { signingGroups } from "./signing-rows.ts";
import type { FlagGroup } from "./table.ts";

files.restore();
const groups: readonly FlagGroup[] = [
  ...apiGroups(await freePort()),
  ...(await authenticationGroups()),
  ...(await providerGroups()),
  ...(await authorizationGroups()),
  ...signingGroups,
  ...(await connectionGroups()),
];
// Those of the audit, which need many servers, are shown in audit-flags.test.ts.
const audit = await auditGroups();
for (const group of audit) await group.close?.();

describeFlags(groups);

describe("every flag of serve", () => {
  test.each(shownElsewhere.map((one) => [one.flag, one.value, one.observed, one] as const))(
    "--%s=%s changes %s, as a test elsewhere shows",
    (flag, _value, _observed, { file, title, code = `--${flag}` }) => {
      const text = readFileSync(path.resolve(import.meta.dirname, "../..", file), "utf8");
      // The title of a test, or of a group of them, that isn't skipped, perhaps of a table, and perhaps behind requirements.
      const before = text.slice(0, Math.max(0, text.indexOf(title)));
      expect(before).toMatch(/(?:\b(?:it|test|describe)|\](?: as const)?\))\(\s*"(?:C-[\w.-]+ )*$/);
      const followers = text.split(title).join("").split(code).slice(1);
      expect(followers.filter((rest) => !/^[\w-]/.test(rest))).not.toEqual([]);
    },
  );

  test("has a row in this table", () => {
    const shown = [...[...groups, ...audit].flatMap(({ rows }) => rows), ...shownElsewhere].map(
      ({ flag }) => flag,
    );
    shown.push(...flagsOfNetworks);
    expect(serveFlags.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([]);
    const known = new Set(serveFlags.map(({ name }) => name));
    expect(shown.filter((name) => !known.has(name))).toEqual([]);
  });
});
