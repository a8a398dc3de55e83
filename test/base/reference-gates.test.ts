import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { FeatureGates, featuresAt } from "../../src/server/features/feature-gates.ts";
import { featureLifeCycles } from "../../src/server/features/feature-life-cycles.ts";
import { featureHelp } from "../../src/cli/flags/feature-help.ts";
import { releases, type Release } from "../../src/base/releases.ts";
import { featuresOf, gatesOfRelease } from "../../src/server/features/features.ts";
import { TestServer } from "../support/api.ts";

const features = featuresOf("1.26");

interface Gate {
  readonly name: string;
  readonly stage: string;
  readonly on: boolean;
}

/** Reads a table of gates of the reference: name, stage and default. */
function gatesIn(file: string): readonly Gate[] {
  return readFileSync(path.join(import.meta.dirname, file), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line): Gate => {
      const [name = "", stage = "", on] = line.split("\t");
      return { name, stage, on: on === "true" };
    });
}

/** The gates of release 1.26. */
const reference = gatesIn("reference-gates.tsv");

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

test("release 1.37 has the alpha and beta gates that the help of its reference lists, with their defaults", () => {
  const { gates } = featuresOf("1.37");
  const listed = gatesIn("reference-gates-1.37.tsv");
  expect(listed.length).toBeGreaterThan(150);
  const shown = listed.map(({ name }) => ({ name, stage: gates[name]?.stage, on: gates[name]?.on }));
  expect(shown).toEqual(listed);
});

test.each(releases.slice(1))(
  "the gates of release %s follow the deprecation rules of those before",
  (release) => {
    const [before, after] = [featuresOf(releases[releases.indexOf(release) - 1]!), featuresOf(release)];
    for (const [name, { stage }] of Object.entries(before.gates)) {
      const now = after.gates[name];
      expect([name, now !== undefined || after.removed.get(name)?.release === release]).toEqual([name, true]);
      if (stage === "stable")
        expect([name, now?.stage ?? "removed"]).toEqual([
          name,
          expect.stringMatching(/^(stable|deprecated|removed)$/),
        ]);
    }
  },
);

test("a feature is on without its gate once it was stable, and off before its release", () => {
  const gatesAt = (release: Release) => gatesOfRelease(release);
  expect(
    ["1.26", "1.27", "1.30", "1.33", "1.37"].map((release) =>
      gatesAt(release as Release).enabled("AggregatedDiscoveryEndpoint"),
    ),
  ).toEqual([false, true, true, true, true]);
  expect(
    ["1.26", "1.31", "1.32", "1.37"].map((release) =>
      gatesAt(release as Release).enabled("CustomResourceFieldSelectors"),
    ),
  ).toEqual([false, true, true, true]);
  expect(() => gatesAt("1.37").enabled("NoSuchFeature")).toThrow("there is no feature gate NoSuchFeature");
  expect(() => FeatureGates.parse("AggregatedDiscoveryEndpoint=true", featuresOf("1.37"))).toThrow(
    "unrecognized feature gate: AggregatedDiscoveryEndpoint; it was removed in 1.33 and can no longer be set",
  );
  expect(() => FeatureGates.parse("AggregatedDiscoveryEndpoint=false", featuresOf("1.30"))).toThrow(
    "cannot set feature gate AggregatedDiscoveryEndpoint to false, feature is locked to true",
  );
});

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
