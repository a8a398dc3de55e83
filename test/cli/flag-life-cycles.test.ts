import { describe, expect, test } from "vitest";
import { acceptedFlags, acceptedHelp } from "../../src/cli/flags/accepted-flags.ts";
import { optionsOfFlags } from "../support/serve-options.ts";
import { serveCommand } from "../../src/cli/serve/serve.ts";
import {
  earliestRemoval,
  flagLifeCycles,
  removalOf,
  warnOfDeprecated,
  type FlagLifeCycle,
} from "../../src/cli/flags/flag-life-cycles.ts";
import { FlagReader, parseFlags, UsageError } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { pluginsOf } from "../../src/server/admission/plugin-table.ts";
import { defaultRelease, isLater } from "../../src/base/releases.ts";

const known = [...serveFlags, ...acceptedFlags];
const read = (...words: readonly string[]) => new FlagReader(known, parseFlags(known, words));
const values: Readonly<Record<string, string>> = {
  "admission-control": "NamespaceLifecycle",
  "apiserver-count": "3",
  "enable-logs-handler": "true",
  "master-service-namespace": "default",
};

function warnings(...words: readonly string[]): string[] {
  const said: string[] = [];
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (_: object, text: string) => said.push(text),
  };
  warnOfDeprecated(read(...words).flagNames, log);
  return said;
}

const release = "1.26";
const gone = flagLifeCycles.filter(({ removed }) => removed !== undefined && !isLater(removed, release));
const leaving = flagLifeCycles.filter((one) => !gone.includes(one));

describe("the life of flags", () => {
  test.each<readonly [id: string, cycle: Pick<FlagLifeCycle, "audience" | "stability">, first: string]>([
    ["C-9.2-06", { audience: "users", stability: "stable" }, "1.23"],
    ["C-9.2-06", { audience: "users", stability: "beta" }, "1.21"],
    ["C-9.2-06", { audience: "users", stability: "alpha" }, "1.20"],
    ["C-9.2-07", { audience: "administrators", stability: "stable" }, "1.22"],
    ["C-9.2-07", { audience: "administrators", stability: "beta" }, "1.21"],
    ["C-9.2-07", { audience: "administrators", stability: "alpha" }, "1.20"],
  ])(
    "%s deprecated in 1.20, for %j: gone in %s at the earliest, with three releases a year",
    (_id, cycle, first) => {
      expect(earliestRemoval({ name: "x", deprecated: "1.20", instead: "", ...cycle })).toBe(first);
    },
  );

  test.each(flagLifeCycles.map((one) => [one.name, one] as const))(
    "C-9.2-06 C-9.2-07 --%s works as long as it must",
    (name, cycle) => {
      expect(cycle.removed === undefined || !isLater(earliestRemoval(cycle), cycle.removed)).toBe(true);
      // What isn't removed yet can be given, and only that.
      expect(known.some((one) => one.name === name)).toBe(leaving.includes(cycle));
    },
  );

  test.each(leaving.map(({ name, deprecated, instead }) => [name, deprecated, instead]))(
    "C-9.2-08 --%s warns when it is given, and help says so",
    (name, deprecated, instead) => {
      const [warning, ...more] = warnings(`--${name}=${values[name]}`);
      expect(warning).toMatch(new RegExp(`^--${name} is deprecated since ${deprecated}, .*; `));
      expect(warning!.endsWith(instead)).toBe(true);
      expect(more).toEqual([]);
      expect(warnings()).toEqual([]);
      const help = serveCommand.help();
      const at = help.search(new RegExp(`^  --${name}(?:=| |$)`, "m"));
      expect(help.slice(at, at + 400)).toContain(`deprecated since ${deprecated}, `);
    },
  );

  test.each(gone.map(({ name, removed, instead }) => [name, removed, instead]))(
    "--%s is refused, with the release that removed it and what to do instead",
    (name, removed, instead) => {
      const refusal = `unknown flag --${name}; it was removed in ${removed}; ${instead}`;
      expect(() => read(`--${name}`)).toThrow(new UsageError(refusal));
      expect(serveCommand.help()).not.toContain(`  --${name}`);
    },
  );

  test("a flag that there never was isn't called removed", () => {
    expect(removalOf("colour")).toBeUndefined();
    expect(acceptedHelp()).not.toContain("--colour");
  });
});

describe("--admission-control", () => {
  const names = pluginsOf(defaultRelease).map(({ name }) => name);

  test("has the plugins run that it names, and no others", async () => {
    const { enabledAdmissionPlugins, disabledAdmissionPlugins } = await optionsOfFlags(
      "--admission-control=ResourceQuota,AlwaysPullImages",
    );
    expect(enabledAdmissionPlugins).toEqual(["ResourceQuota", "AlwaysPullImages"]);
    expect(new Set([...enabledAdmissionPlugins, ...disabledAdmissionPlugins])).toEqual(new Set(names));
    expect(disabledAdmissionPlugins).not.toContain("ResourceQuota");
  });

  test("has no effect if it isn't set, and excludes the flags that replaced it", async () => {
    expect(await optionsOfFlags("--enable-admission-plugins=AlwaysPullImages")).toMatchObject({
      enabledAdmissionPlugins: ["AlwaysPullImages"],
      disabledAdmissionPlugins: [],
    });
    for (const other of ["enable", "disable"]) {
      const both = ["--admission-control=ResourceQuota", `--${other}-admission-plugins=ResourceQuota`];
      await expect(optionsOfFlags(...both)).rejects.toThrow("give either that or");
    }
  });

  test("names only plugins that there are", async () => {
    await expect(optionsOfFlags("--admission-control=ResourceQuota,Nope")).rejects.toThrow(
      '--admission-control: unknown admission plugin "Nope"',
    );
  });
});
