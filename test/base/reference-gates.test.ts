import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { FeatureGates, featuresAt } from "../../src/server/features/feature-gates.ts";
import { featureLifeCycles } from "../../src/server/features/feature-life-cycles.ts";
import { featureHelp } from "../../src/cli/feature-help.ts";
import { features } from "../../src/server/features/features.ts";
import { TestServer } from "../support/api.ts";

interface Gate {
  readonly name: string;
  readonly stage: string;
  readonly on: boolean;
}

/** The gates of the reference, release 1.26: name, stage and default. */
const reference = readFileSync(path.join(import.meta.dirname, "reference-gates.tsv"), "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line): Gate => {
    const [name = "", stage = "", on] = line.split("\t");
    return { name, stage, on: on === "true" };
  });

/** Where the documents say something else than the reference does. */
const differences: readonly Gate[] = [
  // Conventions 4.3 and 6 describe it; the reference has it from 1.27 on.
  { name: "WatchList", stage: "alpha", on: false },
  // Conventions 9.2, rule 8: alpha features are off by default. Only node agents look at this one.
  { name: "WindowsHostNetwork", stage: "alpha", on: false },
];
const expected = [
  ...reference.filter(({ name }) => differences.every((one) => one.name !== name)),
  ...differences,
];
const byName = new Map(expected.map((gate) => [gate.name, gate]));
const ruleOf: Readonly<Record<string, string>> = { alpha: "C-9.2-11", beta: "C-9.2-12", stable: "C-9.2-13" };

test("the server has the gates of the reference and no others", () => {
  expect(reference.length).toBeGreaterThan(140);
  expect(Object.keys(features.gates).toSorted()).toEqual([...byName.keys()].toSorted());
});

test.each(expected.map(({ name, stage, on }) => [ruleOf[stage], name, stage, on] as const))(
  "%s the gate %s is %s and by default %s, as in the reference",
  (_rule, name, stage, on) => {
    expect(features.gates[name]).toMatchObject({ stage, on });
  },
);

test("C-9.2-12 every beta gate of the reference that is on by default is on, and off on a server that turns it off", async () => {
  const betas = expected.filter(({ stage, on }) => stage === "beta" && on).map(({ name }) => name);
  expect(betas.length).toBeGreaterThan(35);
  const enabled = async (featureGates: string): Promise<readonly string[]> => {
    const server = await TestServer.start({ featureGates, enabledControllers: [] });
    const { text } = await server.admin.get("/metrics");
    await server.close();
    return betas.filter((name) => text.includes(`platform_feature_enabled{name="${name}",stage="BETA"} 1`));
  };
  expect(await enabled("")).toEqual(betas);
  expect(await enabled("AllBeta=false")).toEqual([]);
  expect(await enabled(betas.map((name) => `${name}=false`).join(","))).toEqual([]);
});

test("C-9.2-15 a gate that a release deprecates warns when it is set to either value, and help says that it is deprecated", () => {
  const deprecated = Object.entries(featureLifeCycles).flatMap(([name, cycle]) =>
    cycle.deprecated === undefined ? [] : [[name, cycle.deprecated] as const],
  );
  expect(deprecated.length).toBeGreaterThan(0);
  for (const [name, release] of deprecated) {
    const known = featuresAt(release, featureLifeCycles);
    expect(featureHelp(known)).toMatch(new RegExp(`^  ${name} \\(deprecated, default (true|false)`, "m"));
    for (const value of ["true", "false"])
      expect(FeatureGates.parse(`${name}=${value}`, known).warnings).toEqual([
        `feature gate ${name} is deprecated`,
      ]);
  }
});
