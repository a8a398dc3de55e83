import { describe, expect, it } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { CronJob } from "../../src/kinds/batch/cron-job.ts";
import { Job } from "../../src/kinds/batch/job.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import { pods } from "./batch-support.ts";
import { judgeNew, judgeUpdate, type JudgeOptions } from "./support.ts";

const uid = { metadata: { name: "one", uid: "u-1" } };
const job = (spec: object = {}, status?: object): object => ({
  ...uid,
  spec: { template: pods, ...spec },
  ...(status && { status }),
});
const condition = (type: string, status = "True"): object => ({ type, status });

describe("jobs of later releases", () => {
  it("select pods by labels with a domain from 1.27 on", () => {
    const labels = (release: Release) =>
      judgeNew(Job, job(), { release }).object as unknown as {
        spec: { selector: { matchLabels: object }; template: { metadata: { labels: object } } };
      };
    const earlier = labels("1.26").spec;
    expect(earlier.selector.matchLabels).toEqual({ "controller-uid": "u-1" });
    expect(earlier.template.metadata.labels).toEqual({ "controller-uid": "u-1", "job-name": "one" });
    const later = labels("1.27").spec;
    expect(later.selector.matchLabels).toEqual({ "batch.platform.io/controller-uid": "u-1" });
    expect(later.template.metadata.labels).toEqual({
      "batch.platform.io/controller-uid": "u-1",
      "batch.platform.io/job-name": "one",
      "controller-uid": "u-1",
      "job-name": "one",
    });
  });

  it("refuse other values of the labels with a domain", () => {
    const template = { ...pods, metadata: { labels: { "batch.platform.io/job-name": "two" } } };
    const faults = (release: Release) => judgeNew(Job, job({ template }), { release }).faults;
    expect(faults("1.26")).toEqual([]);
    expect(faults("1.27")).toContain(
      "spec.template.metadata.labels[batch.platform.io/job-name]: FieldValueInvalid",
    );
  });

  it("have no tracking annotation from 1.28 on, and say that their selector is generated from 1.29 on", () => {
    const made = (release: Release) => judgeNew(Job, job(), { release }).object;
    expect(made("1.27").metadata.annotations).toEqual({ "batch.platform.io/job-tracking": "" });
    expect(made("1.28").metadata.annotations).toBeUndefined();
    expect(made("1.28")).not.toHaveProperty("spec.manualSelector");
    expect(made("1.29")).toHaveProperty("spec.manualSelector", false);
  });

  it("leave out absent requirements of failure rules from 1.28 on", () => {
    const podFailurePolicy = {
      rules: [{ action: "Ignore", onPodConditions: [condition("DisruptionTarget")] }],
    };
    const rule = (release: Release) => {
      const { object } = judgeNew(kindInRelease(Job, release), job({ podFailurePolicy }), {
        release,
        gates: ["JobPodFailurePolicy"],
      });
      return (object as unknown as { spec: { podFailurePolicy: { rules: object[] } } }).spec.podFailurePolicy
        .rules[0]!;
    };
    expect(rule("1.27")).toHaveProperty("onExitCodes", null);
    expect(rule("1.28")).not.toHaveProperty("onExitCodes");
  });

  it("may change completions together with parallelism when the gate ElasticIndexedJob is on", () => {
    const indexed = (completions: number, parallelism: number) =>
      job({ completionMode: "Indexed", completions, parallelism });
    const faults = (completions: number, parallelism: number, gates: readonly string[]) =>
      judgeUpdate(Job, indexed(3, 3), indexed(completions, parallelism), { release: "1.27", gates }).faults;
    expect(faults(4, 4, [])).toContain("spec.completions: FieldValueInvalid");
    const elastic = ["ElasticIndexedJob"];
    expect(faults(4, 4, elastic).filter((fault) => fault.startsWith("spec.completions"))).toEqual([]);
    expect(faults(4, 3, elastic)).toContain("spec.completions: FieldValueInvalid");
  });

  it("may change the resources of a suspended job's containers when the gate is on", () => {
    const withCpu = (cpu: string, image: string) => ({
      ...pods,
      spec: {
        ...(pods as { spec: object }).spec,
        containers: [{ name: "c", image, resources: { requests: { cpu } } }],
      },
    });
    const faults = (now: object, gates: readonly string[], suspend = true) =>
      judgeUpdate(Job, job({ suspend, template: withCpu("1", "i") }), job({ suspend, template: now }), {
        release: "1.37",
        gates,
      }).faults.filter((fault) => !fault.includes("selector"));
    const gates = ["MutablePodResourcesForSuspendedJobs"];
    expect(faults(withCpu("2", "i"), [])).toContain("spec.template: FieldValueInvalid");
    expect(
      faults(withCpu("2", "i"), gates).filter((fault) => /^spec\.template(\.spec)?:/.test(fault)),
    ).toEqual([]);
    expect(faults(withCpu("2", "j"), gates)).toContain("spec.template.spec: FieldValueInvalid");
    expect(faults(withCpu("2", "i"), gates, false)).toContain("spec.template: FieldValueInvalid");
  });
});

describe("the status of jobs of later releases", () => {
  const options: JudgeOptions = {
    release: "1.37",
    gates: ["JobManagedBy"],
    subresource: "status",
    keepsStatus: true,
  };
  const faults = (before: object, now: object, spec: object = {}, other: JudgeOptions = {}) =>
    judgeUpdate(Job, job(spec, before), job(spec, now), { ...options, ...other }).faults.filter((fault) =>
      fault.startsWith("status"),
    );
  const start = "2020-01-01T00:00:00Z";
  const end = "2020-01-01T00:01:00Z";
  const done = {
    startTime: start,
    completionTime: end,
    conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
  };

  it.each<[string, object, object, object, string]>([
    [
      "a time of completion of a running job",
      {},
      { completionTime: end },
      {},
      "completionTime: FieldValueInvalid",
    ],
    [
      "a complete job without that time",
      {},
      { ...done, completionTime: undefined },
      {},
      "completionTime: FieldValueRequired",
    ],
    [
      "a completion before the start",
      {},
      { ...done, startTime: "2021-01-01T00:00:00Z" },
      {},
      "completionTime: FieldValueInvalid",
    ],
    [
      "another time of completion",
      done,
      { ...done, completionTime: "2020-01-01T00:02:00Z" },
      {},
      "completionTime: FieldValueInvalid",
    ],
    ["a finished job with active pods", {}, { ...done, active: 1 }, {}, "active: FieldValueInvalid"],
    [
      "a finished job with terminating pods",
      {},
      { ...done, terminating: 1 },
      {},
      "terminating: FieldValueInvalid",
    ],
    [
      "a finished job that never started",
      {},
      { ...done, startTime: undefined },
      {},
      "startTime: FieldValueRequired",
    ],
    [
      "a finished job with uncounted pods",
      {},
      { ...done, uncountedTerminatedPods: { failed: ["a"] } },
      {},
      "uncountedTerminatedPods: FieldValueInvalid",
    ],
    ["more ready than active pods", {}, { active: 1, ready: 2 }, {}, "ready: FieldValueInvalid"],
    ["fewer failed pods than before", { failed: 2 }, { failed: 1 }, {}, "failed: FieldValueInvalid"],
    [
      "fewer succeeded pods than before",
      { succeeded: 2 },
      { succeeded: 1 },
      {},
      "succeeded: FieldValueInvalid",
    ],
    ["another start", { startTime: start }, { startTime: end }, {}, "startTime: FieldValueInvalid"],
    ["an end that is taken back", done, { startTime: start }, {}, "conditions: FieldValueInvalid"],
    [
      "a failure without its target",
      {},
      { startTime: start, conditions: [condition("Failed")] },
      {},
      "conditions: FieldValueInvalid",
    ],
    [
      "indexes of a job without any",
      {},
      { completedIndexes: "0" },
      { completions: 2 },
      "completedIndexes: FieldValueInvalid",
    ],
    [
      "indexes above the completions",
      {},
      { completedIndexes: "0,5" },
      { completionMode: "Indexed", completions: 2 },
      "completedIndexes: FieldValueInvalid",
    ],
    [
      "failed indexes without a limit for each",
      {},
      { failedIndexes: "0" },
      { completionMode: "Indexed", completions: 2 },
      "failedIndexes: FieldValueInvalid",
    ],
  ])("refuses %s", (_name, before, now, spec, fault) => {
    const kind = kindInRelease(Job, "1.37");
    const found = judgeUpdate(kind, job(spec, before), job(spec, now), options).faults;
    expect(found).toContain(`status.${fault}`);
    expect(faults(before, now, spec, { gates: [] })).toEqual([]);
    expect(faults(before, now, spec, { release: "1.26" })).toEqual([]);
  });

  it("allows a job to end, and to start again after it was suspended", () => {
    expect(faults({ startTime: start, active: 1 }, done)).toEqual([]);
    const suspended = { startTime: start, conditions: [condition("Suspended")] };
    const resumed = { startTime: end, conditions: [condition("Suspended", "False")] };
    expect(faults(suspended, resumed)).toEqual([]);
  });
});

describe("the scheduling of jobs", () => {
  const later = kindInRelease(Job, "1.37");
  const scheduling = (gang: object = {}, more: object = {}): object => ({
    scheduling: { schedulingPolicy: { gang }, ...more },
  });
  const gated: JudgeOptions = { release: "1.37", gates: ["WorkloadWithJob"] };
  const single = { disruptionMode: { single: {} } };
  /** The messages about the scheduling; an update here lacks the generated selector. */
  const ofUpdate = (before: object, now: object, options: JudgeOptions) =>
    judgeUpdate(later, job(before), job(now), options).messages.filter((message) =>
      message.startsWith("spec.scheduling"),
    );

  it("have no scheduling before 1.37, and a forbidden one while the gate WorkloadWithJob is off", () => {
    const before = judgeNew(kindInRelease(Job, "1.36"), job(scheduling()), { release: "1.36" });
    expect(before.object).not.toHaveProperty("spec.scheduling");
    expect(before.faults).toEqual([]);
    const off: JudgeOptions = { release: "1.37" };
    expect(judgeNew(later, job(scheduling()), off).messages).toEqual(["spec.scheduling: Forbidden"]);
    expect(ofUpdate(scheduling(), scheduling(), off)).toEqual([]);
    expect(ofUpdate(scheduling(), scheduling({ minCount: 1 }), off)).toEqual(["spec.scheduling: Forbidden"]);
  });

  it("have a scheduling with one policy, one disruption mode and named claims", () => {
    const judged = (value: object) =>
      judgeNew(later, job({ parallelism: 2, scheduling: value }), gated).messages;
    const claims = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `c${index}`, resourceClaimName: "r" }));
    expect(
      judged({ schedulingPolicy: { gang: { minCount: 2 } }, ...single, resourceClaims: claims(4) }),
    ).toEqual([]);
    expect(judged({ schedulingPolicy: {} })).toEqual([
      'spec.scheduling.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ]);
    expect(judged({ disruptionMode: { single: {}, all: {} }, schedulingPolicy: { gang: {} } })).toEqual([
      'spec.scheduling.disruptionMode: Invalid value: "{`single`, `all`}": must specify exactly one of: `single`, `all`',
    ]);
    expect(judged({ disruptionMode: { all: {} } })).toEqual([
      'spec.scheduling.disruptionMode: Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy',
    ]);
    expect(judged({ schedulingPolicy: { gang: { minCount: 3 } } })).toEqual([
      "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 3: must not be greater than parallelism (2)",
    ]);
    expect(judged({ schedulingPolicy: { gang: { minCount: 0 } } })).toEqual([
      "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1",
    ]);
    expect(judged({ resourceClaims: claims(5) })).toEqual([
      "spec.scheduling.resourceClaims: Too many: 5: must have at most 4 items",
    ]);
    expect(judged({ schedulingConstraints: { topology: [{ key: "a" }, { key: "b" }] } })).toEqual([
      "spec.scheduling.schedulingConstraints.topology: Too many: 2: must have at most 1 items",
    ]);
  });

  it("may change the size of the gang and nothing else of their scheduling", () => {
    const judged = (before: object, now: object) =>
      ofUpdate({ parallelism: 2, ...before }, { parallelism: 2, ...now }, gated);
    const basic = { scheduling: { schedulingPolicy: { basic: {} } } };
    expect(judged(scheduling(), scheduling({ minCount: 2 }))).toEqual([]);
    expect(judged({}, scheduling())).toEqual([
      "spec.scheduling: Invalid value: null: field cannot be set once created",
    ]);
    expect(judged(scheduling(), {})).toEqual([
      "spec.scheduling: Invalid value: null: field cannot be cleared once set",
    ]);
    expect(judged(scheduling(), basic)).toEqual([
      expect.stringContaining(
        "spec.scheduling.schedulingPolicy: Invalid value: null: the basic/gang policy variant",
      ),
    ]);
    expect(judged(scheduling({}, single), scheduling())).toEqual([
      "spec.scheduling.disruptionMode: Invalid value: null: field is immutable",
    ]);
  });

  it("of a schedule have the same rules, but may change their policy", () => {
    const kind = kindInRelease(CronJob, "1.37");
    const cron = (spec: object): object => ({
      spec: { schedule: "* * * * *", jobTemplate: { spec: { template: pods, ...spec } } },
    });
    const path = "spec.jobTemplate.spec.scheduling";
    expect(judgeNew(kind, cron(scheduling()), { release: "1.37" }).messages).toEqual([`${path}: Forbidden`]);
    const judged = (before: object, now: object) =>
      judgeUpdate(kind, cron(before), cron(now), gated).messages;
    const basic = { scheduling: { schedulingPolicy: { basic: {} } } };
    expect(judged(scheduling(), basic)).toEqual([]);
    expect(judged(scheduling(), {})).toEqual([
      `${path}: Invalid value: null: field cannot be cleared once set`,
    ]);
    expect(judged(scheduling(), scheduling({}, single))).toEqual([
      `${path}.disruptionMode: Invalid value: null: field is immutable`,
    ]);
  });
});
