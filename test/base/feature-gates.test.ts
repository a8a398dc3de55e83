import { describe, expect, it } from "vitest";
import { FeatureGateError, FeatureGates, type Feature } from "../../src/base/feature-gates.ts";
import { featureGates } from "../../src/server/feature-gates.ts";
import { features } from "../../src/base/features.ts";
import { OptionsError } from "../../src/server/options-error.ts";
import type { ServerOptions } from "../../src/server/options.ts";
import { TestServer } from "../support/api.ts";

/** Conventions 9.2, rules 8 and 9: a gate of each stage. */
const gates: Readonly<Record<string, Feature>> = {
  Young: { stage: "alpha", on: false },
  OtherYoung: { stage: "alpha", on: false },
  Grown: { stage: "beta", on: true },
  Careful: { stage: "beta", on: false },
  Done: { stage: "stable", on: true },
  Leaving: { stage: "deprecated", on: false },
};
const parse = (text: string) => FeatureGates.parse(text, gates);
const state = (text: string) => {
  const { enabled } = parse(text);
  return Object.keys(gates).filter((name) => enabled(name));
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

  it.each(["Removed=true", "Removed=false", "done=true", "constructor=true", "=true"])(
    "C-9.2-14 %s is refused: there is no such gate",
    (text) => {
      expect(() => parse(text)).toThrow(FeatureGateError);
      expect(() => parse(text)).toThrow("unrecognized feature gate: ");
    },
  );

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

describe("the features of the reference release", () => {
  it.each(Object.entries(features).map(([name, feature]) => [name, feature] as const))(
    "C-9.2-11 C-9.2-12 C-9.2-13 %s has the default of its stage",
    (name, { stage, on }) => {
      if (stage === "alpha") expect(on).toBe(false);
      if (stage === "stable") expect(on).toBe(true);
      // Betas that are off by default are those that change what exists or need something from outside.
      if (stage === "beta" && !on)
        expect(["CSIMigrationPortworx", "MinDomainsInPodTopologySpread"]).toContain(name);
    },
  );

  it.each(Object.entries(features).map(([name, { stage }]) => [stage, name] as const))(
    "a %s gate %s can be set as its stage says",
    (stage, name) => {
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
    const options = { featureGates: "ExperimentalHostUserNamespaceDefaulting=true,DryRun=true", log };
    featureGates(options as unknown as ServerOptions);
    expect(logged).toEqual([
      "feature gate ExperimentalHostUserNamespaceDefaulting is deprecated",
      "feature gate DryRun is stable; it will be removed",
      "feature gate ExperimentalHostUserNamespaceDefaulting has no effect here: it is the node agent's",
    ]);
  });

  it("C-9.2-13 C-9.2-14 a server doesn't start with a gate that can't be set", async () => {
    for (const text of ["DryRun=false", "Removed=true"]) {
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
