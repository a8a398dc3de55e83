import { describe, expect, it } from "vitest";
import { CronJob } from "../../src/kinds/batch/cron-job.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { container, filledSpec, type Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";
import { short, pods } from "./batch-support.ts";

describe("CronJob", () => {
  const jobs = { spec: { template: pods } };
  const withCron = (part: Part): Part => ({ spec: { schedule: "*/5 * * * *", jobTemplate: jobs, ...part } });

  it("gets default values, and no Job defaults in its jobTemplate", () => {
    const { object, faults } = judgeNew(CronJob, withCron({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      schedule: "*/5 * * * *",
      concurrencyPolicy: "Allow",
      suspend: false,
      jobTemplate: {
        metadata: { creationTimestamp: null },
        spec: {
          template: {
            metadata: { creationTimestamp: null },
            spec: { ...filledSpec, restartPolicy: "Never" },
          },
        },
      },
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect(object["status"]).toEqual({});
  });

  it.each([
    ["an empty schedule", { schedule: "" }, ["spec.schedule: Required"]],
    ["a malformed schedule", { schedule: "every day" }, ["spec.schedule: Invalid"]],
    ["an empty timeZone", { timeZone: "" }, ["spec.timeZone: Invalid"]],
    ["timeZone Local", { timeZone: "Local" }, ["spec.timeZone: Invalid"]],
    ["an unknown timeZone", { timeZone: "Mars/Base" }, ["spec.timeZone: Invalid"]],
    [
      "timeZone together with a TZ prefix in the schedule",
      { timeZone: "UTC", schedule: "TZ=UTC 0 0 * * *" },
      ["spec.schedule: Invalid"],
    ],
    [
      "an unknown concurrencyPolicy",
      { concurrencyPolicy: "Queue" },
      ["spec.concurrencyPolicy: NotSupported"],
    ],
    [
      "a negative startingDeadlineSeconds",
      { startingDeadlineSeconds: -1 },
      ["spec.startingDeadlineSeconds: Invalid"],
    ],
    [
      "negative history limits",
      { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
      ["spec.successfulJobsHistoryLimit: Invalid", "spec.failedJobsHistoryLimit: Invalid"],
    ],
    [
      "a selector and manualSelector in the jobTemplate",
      { jobTemplate: { spec: { template: pods, selector: {}, manualSelector: true } } },
      ["spec.jobTemplate.spec.selector: Invalid", "spec.jobTemplate.spec.manualSelector: NotSupported"],
    ],
    [
      "a pod template with the default restartPolicy Always",
      { jobTemplate: { spec: { template: { spec: { containers: [container] } } } } },
      ["spec.jobTemplate.spec.template.spec.restartPolicy: Required"],
    ],
  ])("rejects %s", (_title, part, faults) => {
    expect(short(judgeNew(CronJob, withCron(part)).faults)).toEqual(faults);
  });

  it("rejects a name above 52 characters on create", () => {
    const named = (length: number) => ({ metadata: { name: "x".repeat(length) }, ...withCron({}) });
    expect(judgeNew(CronJob, named(52)).faults).toEqual([]);
    expect(judgeNew(CronJob, named(53)).faults).toEqual(["metadata.name: FieldValueInvalid"]);
    expect(judgeUpdate(CronJob, named(53), named(53)).faults).toEqual([]);
  });

  it("accepts an unknown timeZone only when it was stored before", () => {
    const gone = withCron({ timeZone: "Old/Zone" });
    expect(judgeUpdate(CronJob, gone, gone).faults).toEqual([]);
    expect(judgeUpdate(CronJob, withCron({}), gone).faults).toEqual(["spec.timeZone: FieldValueInvalid"]);
  });

  it("returns warnings for a TZ prefix in the schedule and for the pod template", () => {
    const context = { vocabulary: platform, enabled: () => false, subresource: "" };
    const warnings = (part: Part, live?: ApiObject) =>
      CronJob.warnings?.(readAs(CronJob, withCron(part)), context, live) ?? [];
    expect(warnings({})).toEqual([]);
    expect(warnings({ schedule: "TZ=UTC 0 0 * * *" }, readAs(CronJob, {}))).toEqual([
      expect.stringMatching(/^spec\.schedule: /),
    ]);
    const template = { spec: { ...pods.spec, nodeSelector: { "beta.platform.io/os": "linux" } } };
    expect(warnings({ jobTemplate: { spec: { template } } })[0]).toMatch(
      /^spec\.jobTemplate\.spec\.template\.spec\./,
    );
  });

  it("shows its table cells", () => {
    const status = { active: [{ name: "a" }], lastScheduleTime: "2024-01-01T00:00:00Z" };
    expect(cellsOf(CronJob, { ...withCron({ suspend: true }), status }, "2024-01-01T00:01:00Z")).toEqual({
      Name: "one",
      Schedule: "*/5 * * * *",
      Suspend: "True",
      Active: 1,
      "Last Schedule": "60s",
      Age: "<unknown>",
      Containers: "main",
      Images: "example/app:1.0",
      Selector: "<none>",
    });
    expect(cellsOf(CronJob, withCron({}))).toMatchObject({ Suspend: "False", "Last Schedule": "<none>" });
  });
});
