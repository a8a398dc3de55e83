import { describe, expect, it } from "vitest";
import {
  earliestRemoval,
  FeatureGateError,
  FeatureGates,
  featuresAt,
  type Features,
} from "../../src/server/features/feature-gates.ts";
import { featureLifeCycles } from "../../src/server/features/feature-life-cycles.ts";
import { isLater } from "../../src/base/releases.ts";
import { serveCommand } from "../../src/cli/serve/serve.ts";
import { featureGates } from "../../src/server/features/enabled-features.ts";
import { featuresOf } from "../../src/server/features/features.ts";
import { OptionsError } from "../../src/server/options/options-error.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";
import { TestServer } from "../support/api.ts";

const features = featuresOf("1.26");

/** Conventions 9.2, rules 8 and 9: a gate of each stage. */
const life = {
  Young: { alpha: "1.26" },
  OtherYoung: { alpha: "1.20", beta: "1.27" },
  Grown: { alpha: "1.20", beta: "1.26", stable: "1.28" },
  Careful: { beta: "1.24", on: false },
  Done: { alpha: "1.20", beta: "1.22", stable: "1.26", removed: "1.28" },
  Leaving: { beta: "1.20", deprecated: "1.25", removed: "1.27" },
  Gone: { beta: "1.20", stable: "1.24", removed: "1.26" },
  Unborn: { alpha: "1.27" },
};
const known: Features = featuresAt("1.26", life);
const parse = (text: string) => FeatureGates.parse(text, known);
const state = (text: string) => {
  const { enabled } = parse(text);
  return Object.keys(known.gates).filter((name) => enabled(name));
};

describe("feature gates", () => {
  it("C-9.2-11 alpha features are off by default and can be turned on", () => {
    expect(state("")).toEqual(["Grown", "Done"]);
    expect(state("Young=true")).toEqual(["Young", "Grown", "Done"]);
  });

  it("C-9.2-12 beta features are on by default and can be turned off", () => {
    expect(parse("").enabled("Grown")).toBe(true);
    expect(state("Grown=false")).toEqual(["Done"]);
  });

  it("C-9.2-13 a stable feature can't be turned off; turning it on changes nothing and warns", () => {
    expect(() => parse("Done=false")).toThrow(FeatureGateError);
    expect(() => parse("Done=false")).toThrow(
      "cannot set feature gate Done to false, feature is locked to true",
    );
    const { warnings, enabled } = parse("Done=true");
    expect(enabled("Done")).toBe(true);
    expect(warnings).toEqual(["feature gate Done is stable; it will be removed"]);
  });

  it.each(["Removed=true", "Removed=false", "Unborn=true", "done=true", "constructor=true", "=true"])(
    "%s is refused: there is no such gate",
    (text) => {
      expect(() => parse(text)).toThrow(FeatureGateError);
      expect(() => parse(text)).toThrow(`unrecognized feature gate: ${text.split("=")[0]}`);
    },
  );

  it("a misspelled gate is refused with the name of the nearest one", () => {
    expect(() => parse("Youngg=true")).toThrow("unrecognized feature gate: Youngg; did you mean Young?");
  });

  it.each(["true", "false"])("C-9.2-14 a gate that was removed is refused when it is set to %s", (value) => {
    const removed = "unrecognized feature gate: Gone; it was removed in 1.26 and can no longer be set";
    expect(() => parse(`Gone=${value}`)).toThrow(new FeatureGateError(removed));
    expect(parse("").enabled("Gone")).toBe(true);
  });

  it("C-9.2-15 setting a deprecated gate warns, and works", () => {
    for (const value of ["true", "false"]) {
      const { warnings, enabled } = parse(`Leaving=${value}`);
      expect(warnings).toEqual(["feature gate Leaving is deprecated"]);
      expect(String(enabled("Leaving"))).toBe(value);
    }
    expect(parse("Young=true,Grown=false").warnings).toEqual([]);
  });

  it.each([
    ["AllAlpha=true", ["Young", "OtherYoung", "Grown", "Done"]],
    ["AllAlpha=true,Young=false", ["OtherYoung", "Grown", "Done"]],
    ["Young=false,AllAlpha=true", ["OtherYoung", "Grown", "Done"]],
    ["AllBeta=true", ["Grown", "Careful", "Done"]],
    ["AllBeta=false", ["Done"]],
    ["AllBeta=false, Grown=true", ["Grown", "Done"]],
    ["Young=true,Young=false", ["Grown", "Done"]],
  ])("%s turns on %j", (text, on) => {
    expect(state(text)).toEqual(on);
  });

  it.each(["Young", "Young=", "Young=yes", "Young=True", "Young:true"])("%s is no setting", (text) => {
    expect(() => parse(text)).toThrow("a feature is set with NAME=true or NAME=false");
  });

  it("asking for a gate that doesn't exist is a defect", () => {
    expect(() => parse("").enabled("Nope")).toThrow("there is no feature gate Nope");
  });
});

describe("the life of a gate", () => {
  const stagesOf = (name: keyof typeof life) =>
    [19, 20, 21, 22, 23, 24, 25, 26, 27, 28].map((minor) => {
      const { gates, removed } = featuresAt(`1.${minor}`, life);
      return gates[name]?.stage ?? (removed.has(name) ? "removed" : "-");
    });

  it("goes through its stages as the releases do", () => {
    const [none, alpha, beta, stable, deprecated, removed] = [
      ["-"],
      ["alpha"],
      ["beta"],
      ["stable"],
      ["deprecated"],
      ["removed"],
    ];
    const twice = (stage: readonly string[]) => [...stage, ...stage];
    expect(stagesOf("Done")).toEqual(
      [none, twice(alpha), twice(beta), twice(beta), twice(stable), removed].flat(),
    );
    expect(stagesOf("Leaving")).toEqual(
      [none, beta, twice(beta), twice(beta), twice(deprecated), twice(removed)].flat(),
    );
  });

  it.each([
    [{ alpha: "1.18", beta: "1.19", stable: "1.20" }, "1.22"],
    [{ beta: "1.19", deprecated: "1.20" }, "1.21"],
    [{ alpha: "1.18", beta: "1.19", deprecated: "1.20" }, "1.21"],
    [{ alpha: "1.19", deprecated: "1.20" }, "1.20"],
    [{ alpha: "1.19", beta: "1.20" }, undefined],
  ])("C-9.2-10 %j works until %s at least, with three releases a year", (cycle, first) => {
    expect(earliestRemoval(cycle)).toBe(first);
  });

  const ended = Object.entries(featureLifeCycles).filter(([, { removed }]) => removed !== undefined);
  it.each(ended)("C-9.2-10 %s works as long as it must", (_name, cycle) => {
    expect(ended.length).toBeGreaterThan(40);
    expect(isLater(earliestRemoval(cycle)!, cycle.removed!)).toBe(false);
  });

  it.each(Object.entries(featureLifeCycles))("%s comes from stage to stage", (_name, cycle) => {
    const { alpha, beta, stable, deprecated, removed } = cycle;
    const releases = [alpha, beta, stable, deprecated, removed].filter((one) => one !== undefined);
    for (const [index, one] of releases.slice(1).entries()) expect(isLater(one, releases[index]!)).toBe(true);
    // What nobody gave up and didn't become stable has no reason to go.
    if (removed !== undefined) expect(stable ?? deprecated).toBeDefined();
    if (stable !== undefined) expect(deprecated).toBeUndefined();
  });
});

describe("the features of later releases", () => {
  it.each([
    ["1.28", "ExperimentalHostUserNamespaceDefaulting"],
    ["1.33", "WatchFromStorageWithoutResourceVersion"],
    ["1.37", "DeclarativeValidationTakeover"],
  ] as const)("of %s lock the abandoned feature %s off", (release, name) => {
    const later = featuresOf(release);
    expect(later.gates[name]).toEqual({ stage: "deprecated", on: false, locked: true });
    expect(FeatureGates.parse(`${name}=false`, later).enabled(name)).toBe(false);
    expect(() => FeatureGates.parse(`${name}=true`, later)).toThrow(
      `cannot set feature gate ${name} to true, feature is locked to false`,
    );
  });
});

describe("the features of the reference release", () => {
  it.each(Object.entries(features.gates))(
    "C-9.2-11 C-9.2-12 C-9.2-13 %s has the default of its stage",
    (name, { stage, on }) => {
      if (stage === "alpha") expect(on).toBe(false);
      if (stage === "stable") expect(on).toBe(true);
      // Betas that are off by default are those that change what exists or need something from outside.
      if (stage === "beta" && !on) expect(cautious).toContain(name);
    },
  );
  const cautious = [
    "CSIMigrationPortworx",
    "ExperimentalHostUserNamespaceDefaulting",
    "MinDomainsInPodTopologySpread",
    "TopologyManagerPolicyBetaOptions",
    "UnauthenticatedHTTP2DOSMitigation",
  ];

  it("C-9.2-15 the help text tells of each gate how far it has come: stable and deprecated ones leave", () => {
    const help = serveCommand.help();
    for (const [name, { stage }] of Object.entries(features.gates)) {
      expect(help).toMatch(new RegExp(`^  ${name} \\(${stage}, `, "m"));
    }
    for (const [name] of features.removed) expect(help).not.toMatch(new RegExp(`^  ${name} `, "m"));
  });

  const ruleOf = { alpha: "C-9.2-11", beta: "C-9.2-12", stable: "C-9.2-13", deprecated: "C-9.2-15" };
  it.each(Object.entries(features.gates).map(([name, { stage }]) => [ruleOf[stage], stage, name] as const))(
    "%s a %s gate %s can be set as its stage says",
    (_rule, stage, name) => {
      const set = (value: boolean) => FeatureGates.parse(`${name}=${String(value)}`, features).enabled(name);
      expect(set(true)).toBe(true);
      if (stage === "stable") expect(() => set(false)).toThrow("locked to true");
      else expect(set(false)).toBe(false);
    },
  );

  it("C-9.2-15 what the operator should know is logged", () => {
    const logged: string[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (_facts: object, text: string) => logged.push(text),
    };
    const options = { featureGates: "CPUManagerPolicyOptions=false,DryRun=true", log };
    featureGates(options as unknown as ServerOptions);
    expect(logged).toEqual([
      "feature gate DryRun is stable; it will be removed",
      "feature gate CPUManagerPolicyOptions has no effect here: it belongs to the node agent",
    ]);
  });

  it("C-9.2-13 C-9.2-14 a server doesn't start with a gate that can't be set", async () => {
    for (const text of ["DryRun=false", "IndexedJob=true", "Nope=true"]) {
      await expect(TestServer.start({ featureGates: text, port: false })).rejects.toThrow(OptionsError);
      await expect(TestServer.start({ featureGates: text, port: false })).rejects.toThrow("featureGates: ");
    }
  });

  it("C-9.2-11 a field of an alpha feature is dropped until the feature is on", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const body = {
      metadata: { name: "gated" },
      spec: { schedulingGates: [{ name: "example.com/wait" }], containers: [{ name: "a", image: "a" }] },
    };
    for (const on of [false, true]) {
      const server = await TestServer.start({ featureGates: `PodSchedulingReadiness=${String(on)}` });
      const made = await server.admin.post(pods, body);
      expect(made.status, made.text).toBe(201);
      expect(made.body.spec.schedulingGates).toEqual(on ? body.spec.schedulingGates : undefined);
      await server.close();
    }
  });

  it("C-9.2-12 a beta feature is off when it is turned off", async () => {
    const place = "/api/v1/namespaces/default/configmaps";
    for (const on of [true, false]) {
      const server = await TestServer.start(on ? {} : { featureGates: "APIListChunking=false" });
      for (const name of ["a", "b"]) await server.admin.post(place, { metadata: { name } });
      const { body } = await server.admin.get(`${place}?limit=1`);
      expect(body.items).toHaveLength(on ? 1 : 2);
      await server.close();
    }
  });

  it("C-9.2-12 a field of a beta feature is dropped when the feature is off", async () => {
    const jobs = "/apis/batch/v1/namespaces/default/cronjobs";
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } };
    const body = {
      metadata: { name: "zoned" },
      spec: { schedule: "0 3 * * *", timeZone: "Etc/UTC", jobTemplate: { spec: { template } } },
    };
    const server = await TestServer.start({ featureGates: "CronJobTimeZone=false" });
    const made = await server.admin.post(jobs, body);
    await server.close();
    expect(made.body.spec.timeZone).toBeUndefined();
  });
});
