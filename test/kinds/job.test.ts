import { describe, expect, it } from "vitest";
import { Job } from "../../src/kinds/batch/job.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { container, filledSpec, type Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";
import { short, pods } from "./batch-support.ts";

const withSpec = (part: Part): Part => ({ spec: { template: pods, ...part } });
const withPolicy = (...rules: readonly object[]): Part => withSpec({ podFailurePolicy: { rules } });
const uid = { metadata: { name: "one", uid: "u-1" } };

describe("Job", () => {
  it("gets its defaults, selector, labels and annotation", () => {
    const { object, faults } = judgeNew(Job, { ...uid, ...withSpec({}) });
    expect(faults).toEqual([]);
    expect(object).toEqual({
      kind: "",
      apiVersion: "",
      metadata: {
        name: "one",
        uid: "u-1",
        creationTimestamp: null,
        labels: { "job-name": "one", "controller-uid": "u-1" },
        annotations: { "batch.platform.io/job-tracking": "" },
      },
      spec: {
        parallelism: 1,
        completions: 1,
        selector: { matchLabels: { "controller-uid": "u-1" } },
        backoffLimit: 6,
        template: {
          metadata: { creationTimestamp: null, labels: { "job-name": "one", "controller-uid": "u-1" } },
          spec: { ...filledSpec, restartPolicy: "Never" },
        },
        completionMode: "NonIndexed",
        suspend: false,
      },
      status: {},
    });
  });

  it("gets its labels from the template, and no completions when parallelism is set", () => {
    const template = { ...pods, metadata: { labels: { app: "x" } } };
    const { metadata, spec } = readAs(Job, withSpec({ template, parallelism: 3 }));
    expect(metadata.labels).toEqual({ app: "x" });
    expect(spec).not.toHaveProperty("completions");
    expect(spec).toHaveProperty("parallelism", 3);
  });

  it.each<[string, object | undefined, object, object]>([
    [
      "follows those of its pods",
      undefined,
      { app: "x" },
      { app: "x", "job-name": "one", "controller-uid": "u-1" },
    ],
    ["keeps its own", { app: "y" }, { app: "x" }, { app: "y" }],
    ["keeps its own where they equal those of its pods", { app: "x" }, { app: "x" }, { app: "x" }],
  ])("%s when labels are generated for the pods", (_name, labels, podLabels, expected) => {
    const template = { ...pods, metadata: { labels: podLabels } };
    const { object, faults } = judgeNew(Job, {
      metadata: { ...uid.metadata, labels },
      ...withSpec({ template }),
    });
    expect(faults).toEqual([]);
    expect(object.metadata.labels).toEqual(expected);
  });

  it("keeps a selector of the user's own", () => {
    const own = {
      manualSelector: true,
      selector: { matchLabels: { app: "x" } },
      template: { ...pods, metadata: { labels: { app: "x" } } },
    };
    const { object, faults } = judgeNew(Job, { ...uid, ...withSpec(own) });
    expect(faults).toEqual([]);
    expect(object["spec"]).toMatchObject(own);
    expect(judgeNew(Job, withSpec({ manualSelector: true })).faults).toEqual([
      "spec.selector: FieldValueRequired",
      // None selects nothing.
      "spec.template.metadata.labels: FieldValueInvalid",
    ]);
  });

  it.each([
    ["parallelism", { parallelism: -1 }, ["spec.parallelism: Invalid"]],
    ["completions", { completions: -1 }, ["spec.completions: Invalid"]],
    ["a deadline", { activeDeadlineSeconds: -1 }, ["spec.activeDeadlineSeconds: Invalid"]],
    ["a limit of failures", { backoffLimit: -1 }, ["spec.backoffLimit: Invalid"]],
    ["a time to live", { ttlSecondsAfterFinished: -1 }, ["spec.ttlSecondsAfterFinished: Invalid"]],
    ["another completion mode", { completionMode: "Some" }, ["spec.completionMode: NotSupported"]],
    [
      "indexes without a number of them",
      { completionMode: "Indexed", parallelism: 1 },
      ["spec.completions: Required"],
    ],
    [
      "too many pods at once for indexes",
      { completionMode: "Indexed", completions: 5, parallelism: 100_001 },
      ["spec.parallelism: Invalid"],
    ],
    [
      "pods that start again for ever",
      { template: { spec: { containers: [container] } } },
      ["spec.template.spec.restartPolicy: Required"],
    ],
    [
      "an unknown restart policy",
      { template: { spec: { containers: [container], restartPolicy: "Often" } } },
      // Both the pod's rules and the job's say so.
      ["spec.template.spec.restartPolicy: NotSupported", "spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "a failure policy for pods that start again",
      {
        template: { spec: { containers: [container], restartPolicy: "OnFailure" } },
        podFailurePolicy: { rules: [] },
      },
      ["spec.template.spec.restartPolicy: Invalid"],
    ],
    [
      "labels that contradict the selector",
      { template: { ...pods, metadata: { labels: { "controller-uid": "other" } } } },
      ["spec.template.metadata.labels: Invalid", "spec.template.metadata.labels[controller-uid]: Invalid"],
    ],
    [
      "another job's name in the labels",
      { template: { ...pods, metadata: { labels: { "job-name": "other" } } } },
      ["spec.template.metadata.labels[job-name]: Invalid"],
    ],
    [
      "a selector of another job",
      { selector: { matchLabels: { "controller-uid": "other" } } },
      ["spec.template.metadata.labels: Invalid", "spec.selector: Invalid"],
    ],
    [
      "a malformed selector",
      { selector: { matchExpressions: [{ key: "a", operator: "Is" }] } },
      ["spec.selector.matchExpressions[0].operator: Invalid"],
    ],
  ])("%s: refused", (_title, part, faults) => {
    expect(short(judgeNew(Job, { ...uid, ...withSpec(part) }).faults)).toEqual(faults);
  });

  it("rejects a name that is too long for the names of its pods", () => {
    const metadata = { name: "x".repeat(60), uid: "u" };
    const spec = { completionMode: "Indexed", parallelism: 1, template: pods };
    const judge = (completions: number) => judgeNew(Job, { metadata, spec: { ...spec, completions } }).faults;
    expect(judge(100)).toEqual([]);
    expect(judge(1000)).toEqual(["metadata.name: FieldValueInvalid"]);
  });

  const codes = { operator: "In", values: [1, 2] };
  it.each([
    ["no action", { onExitCodes: codes }, [": Required"].map((one) => `.action${one}`)],
    ["another action", { action: "Wait", onExitCodes: codes }, [".action: NotSupported"]],
    ["no requirement", { action: "Count" }, [": Invalid"]],
    [
      "two requirements",
      { action: "Count", onExitCodes: codes, onPodConditions: [{ type: "Ready", status: "True" }] },
      [": Invalid"],
    ],
    ["no operator", { action: "Count", onExitCodes: { values: [1] } }, [".onExitCodes.operator: Required"]],
    [
      "another operator",
      { action: "Count", onExitCodes: { operator: "Gt", values: [1] } },
      [".onExitCodes.operator: NotSupported"],
    ],
    [
      "an unknown container",
      { action: "Count", onExitCodes: { ...codes, containerName: "side" } },
      [".onExitCodes.containerName: Invalid"],
    ],
    ["no codes", { action: "Count", onExitCodes: { operator: "In" } }, [".onExitCodes.values: Invalid"]],
    [
      "success as a failure",
      { action: "Count", onExitCodes: { operator: "In", values: [0] } },
      [".onExitCodes.values[0]: Invalid"],
    ],
    [
      "a code twice",
      { action: "Count", onExitCodes: { operator: "In", values: [1, 1] } },
      [".onExitCodes.values[1]: Duplicate"],
    ],
    [
      "codes in disorder",
      { action: "Count", onExitCodes: { operator: "NotIn", values: [2, 1] } },
      [".onExitCodes.values: Invalid"],
    ],
    [
      "too many codes",
      {
        action: "Count",
        onExitCodes: { operator: "In", values: Array.from({ length: 256 }, (_, i) => i + 1) },
      },
      [".onExitCodes.values: TooMany"],
    ],
    [
      "another status",
      { action: "Ignore", onPodConditions: [{ type: "Ready", status: "Maybe" }] },
      [".onPodConditions[0].status: NotSupported"],
    ],
    [
      "a malformed type",
      { action: "Ignore", onPodConditions: [{ type: "a b" }] },
      [".onPodConditions[0].type: Invalid"],
    ],
  ])("a rule on failed pods with %s: refused", (_title, rule, faults) => {
    const judged = judgeNew(Job, { ...uid, ...withPolicy(rule) });
    expect(short(judged.faults)).toEqual(faults.map((fault) => `spec.podFailurePolicy.rules[0]${fault}`));
  });

  it("accepts podFailurePolicy rules, whose pod conditions default to status True", () => {
    const rules = [
      { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42] } },
      { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
    ];
    const { object, faults } = judgeNew(Job, { ...uid, ...withPolicy(...rules) });
    expect(faults).toEqual([]);
    expect(object["spec"]).toHaveProperty("podFailurePolicy.rules", [
      { ...rules[0], onPodConditions: null },
      {
        action: "Ignore",
        onExitCodes: null,
        onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
      },
    ]);
    const many = Array.from({ length: 21 }, () => rules[0]!);
    expect(short(judgeNew(Job, { ...uid, ...withPolicy(...many) }).faults)).toEqual([
      "spec.podFailurePolicy.rules: TooMany",
    ]);
  });

  const labels = { "job-name": "one", "controller-uid": "u-1" };
  /** The job as it stands, as a client sends it back. */
  const standing = (part: Part = {}, template: Part = pods): Part => ({
    ...uid,
    spec: {
      parallelism: 1,
      completions: 1,
      selector: { matchLabels: { "controller-uid": "u-1" } },
      ...part,
      template: { ...template, metadata: { labels } },
    },
  });
  it.each([
    ["parallelism", { parallelism: 3, suspend: true, activeDeadlineSeconds: 5 }, []],
    ["completions", { completions: 2 }, ["spec.completions: Invalid"]],
    ["the mode", { completionMode: "Indexed" }, ["spec.completionMode: Invalid"]],
    ["the failure policy", { podFailurePolicy: { rules: [] } }, ["spec.podFailurePolicy: Invalid"]],
  ])("a change of %s: %s", (_title, part, faults) => {
    expect(short(judgeUpdate(Job, { ...uid, ...withSpec({}) }, standing(part)).faults)).toEqual(faults);
  });

  it("can change its node scheduling fields when it is suspended and was never started", () => {
    const options = { gates: ["JobMutableNodeSchedulingDirectives"] };
    const moved = {
      spec: { ...pods.spec, nodeSelector: { disk: "fast" }, tolerations: [{ operator: "Exists" }] },
    };
    const before = (suspend: boolean) => ({ ...uid, ...withSpec({ suspend }) });
    expect(judgeUpdate(Job, before(true), standing({ suspend: false }, moved), options).faults).toEqual([]);
    expect(short(judgeUpdate(Job, before(false), standing({}, moved), options).faults)).toEqual([
      "spec.template: Invalid",
    ]);
    const image = { spec: { ...pods.spec, containers: [{ ...container, image: "other" }] } };
    expect(short(judgeUpdate(Job, before(true), standing({}, image), options).faults)).toEqual([
      "spec.template: Invalid",
    ]);
  });

  it("rejects the job-tracking annotation on update", () => {
    const live = readAs(Job, standing());
    const annotations = { "batch.platform.io/job-tracking": "" };
    const context = { vocabulary: platform, enabled: () => false, subresource: "" };
    const places: string[] = [];
    const now = { ...live, metadata: { ...live.metadata, annotations } };
    const report = { at: () => report, key: () => report, forbidden: (text: string) => places.push(text) };
    Job.validateUpdate?.(now, live, report as never, context);
    expect(places).toEqual(["can't be added"]);
  });

  it("ignores the status on create, and the spec in a status update", () => {
    const spec = withSpec({});
    const created = judgeNew(Job, { ...uid, ...spec, status: { active: 3 } }).object;
    expect(created["status"]).toEqual({});
    const { object, faults } = judgeUpdate(
      Job,
      { ...uid, ...spec },
      { ...uid, spec: { parallelism: 9, template: pods }, status: { active: 2, ready: 1 } },
      { subresource: "status" },
    );
    expect(faults).toEqual([]);
    expect(object["status"]).toEqual({ active: 2, ready: 1 });
    expect(object["spec"]).toHaveProperty("parallelism", 1);
  });

  it.each([
    ["active", { active: -1 }, ["status.active: Invalid"]],
    ["succeeded", { succeeded: -1 }, ["status.succeeded: Invalid"]],
    ["failed", { failed: -1 }, ["status.failed: Invalid"]],
    ["ready", { ready: -1 }, ["status.ready: Invalid"]],
    [
      "a pod twice",
      { uncountedTerminatedPods: { succeeded: ["a", ""], failed: ["a"] } },
      [
        "status.uncountedTerminatedPods.succeeded[1]: Invalid",
        "status.uncountedTerminatedPods.failed[0]: Duplicate",
      ],
    ],
  ])("a status with %s: refused", (_title, status, faults) => {
    const job = { ...uid, ...withSpec({}) };
    expect(short(judgeUpdate(Job, job, { ...job, status }, { subresource: "status" }).faults)).toEqual(
      faults,
    );
  });

  it("is selectable by status.successful", () => {
    const text = Job.selectable["status.successful"]!;
    expect(text(readAs(Job, { ...withSpec({}), status: { succeeded: 2 } }))).toBe("2");
    expect(text(readAs(Job, withSpec({})))).toBe("0");
  });

  it("returns pod template warnings when it is created, and none when it is unchanged", () => {
    const context = { vocabulary: platform, enabled: () => false, subresource: "" };
    const old = readAs(
      Job,
      withSpec({ template: { spec: { ...pods.spec, nodeSelector: { "beta.platform.io/os": "linux" } } } }),
    );
    expect(Job.warnings?.(old, context, undefined)?.[0]).toMatch(/^spec\.template\.spec\./);
    expect(Job.warnings?.(old, context, old)).toEqual([]);
  });

  it("shows its table cells", () => {
    const template = { spec: { ...pods.spec, containers: [container, { name: "b", image: "i" }] } };
    const status = {
      succeeded: 1,
      startTime: "2024-01-01T00:00:00Z",
      completionTime: "2024-01-01T00:03:05Z",
    };
    const selector = { matchLabels: { a: "b" } };
    const metadata = { name: "one", creationTimestamp: "2024-01-01T00:00:00Z" };
    expect(cellsOf(Job, { metadata, spec: { template, selector }, status }, "2024-01-01T01:00:00Z")).toEqual({
      Name: "one",
      Completions: "1/1",
      Duration: "3m5s",
      Age: "60m",
      Containers: "main,b",
      Images: "example/app:1.0,i",
      Selector: "a=b",
    });
    const parallel = cellsOf(Job, withSpec({ parallelism: 4 }));
    expect(parallel).toMatchObject({ Completions: "0/1 of 4", Duration: "", Selector: "<none>" });
  });
});
