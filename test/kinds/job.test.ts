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
  it("gets default values, a generated selector, pod labels and the job-tracking annotation", () => {
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

  it("defaults its labels to those of the template, and leaves completions unset when parallelism is set", () => {
    const template = { ...pods, metadata: { labels: { app: "x" } } };
    const { metadata, spec } = readAs(Job, withSpec({ template, parallelism: 3 }));
    expect(metadata.labels).toEqual({ app: "x" });
    expect(spec).not.toHaveProperty("completions");
    expect(spec).toHaveProperty("parallelism", 3);
  });

  it.each<[string, object | undefined, object, object]>([
    [
      "labels follow the pod labels",
      undefined,
      { app: "x" },
      { app: "x", "job-name": "one", "controller-uid": "u-1" },
    ],
    ["labels of the request are kept", { app: "y" }, { app: "x" }, { app: "y" }],
    ["labels equal to those of the template are kept", { app: "x" }, { app: "x" }, { app: "x" }],
  ])("%s when labels are generated for the pods", (_name, labels, podLabels, expected) => {
    const template = { ...pods, metadata: { labels: podLabels } };
    const { object, faults } = judgeNew(Job, {
      metadata: { ...uid.metadata, labels },
      ...withSpec({ template }),
    });
    expect(faults).toEqual([]);
    expect(object.metadata.labels).toEqual(expected);
  });

  it("keeps the selector of the request when manualSelector is true", () => {
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
      // The absent selector matches no labels.
      "spec.template.metadata.labels: FieldValueInvalid",
    ]);
  });

  it.each([
    ["a negative parallelism", { parallelism: -1 }, ["spec.parallelism: Invalid"]],
    ["a negative number of completions", { completions: -1 }, ["spec.completions: Invalid"]],
    [
      "a negative activeDeadlineSeconds",
      { activeDeadlineSeconds: -1 },
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    ["a negative backoffLimit", { backoffLimit: -1 }, ["spec.backoffLimit: Invalid"]],
    [
      "a negative ttlSecondsAfterFinished",
      { ttlSecondsAfterFinished: -1 },
      ["spec.ttlSecondsAfterFinished: Invalid"],
    ],
    ["an unknown completionMode", { completionMode: "Some" }, ["spec.completionMode: NotSupported"]],
    [
      "completionMode Indexed without completions",
      { completionMode: "Indexed", parallelism: 1 },
      ["spec.completions: Required"],
    ],
    [
      "completionMode Indexed with parallelism above 100000",
      { completionMode: "Indexed", completions: 5, parallelism: 100_001 },
      ["spec.parallelism: Invalid"],
    ],
    [
      "a pod template with the default restartPolicy Always",
      { template: { spec: { containers: [container] } } },
      ["spec.template.spec.restartPolicy: Required"],
    ],
    [
      "an unknown restartPolicy",
      { template: { spec: { containers: [container], restartPolicy: "Often" } } },
      // The validation of the pod template and that of the Job each report it.
      ["spec.template.spec.restartPolicy: NotSupported", "spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "a podFailurePolicy with restartPolicy OnFailure",
      {
        template: { spec: { containers: [container], restartPolicy: "OnFailure" } },
        podFailurePolicy: { rules: [] },
      },
      ["spec.template.spec.restartPolicy: Invalid"],
    ],
    [
      "template labels that the selector doesn't match",
      { template: { ...pods, metadata: { labels: { "controller-uid": "other" } } } },
      ["spec.template.metadata.labels: Invalid", "spec.template.metadata.labels[controller-uid]: Invalid"],
    ],
    [
      "a label job-name with the name of another Job",
      { template: { ...pods, metadata: { labels: { "job-name": "other" } } } },
      ["spec.template.metadata.labels[job-name]: Invalid"],
    ],
    [
      "a selector with the controller-uid of another Job",
      { selector: { matchLabels: { "controller-uid": "other" } } },
      ["spec.template.metadata.labels: Invalid", "spec.selector: Invalid"],
    ],
    [
      "a malformed selector",
      { selector: { matchExpressions: [{ key: "a", operator: "Is" }] } },
      ["spec.selector.matchExpressions[0].operator: Invalid"],
    ],
  ])("rejects %s", (_title, part, faults) => {
    expect(short(judgeNew(Job, { ...uid, ...withSpec(part) }).faults)).toEqual(faults);
  });

  it("rejects a name that makes the names of indexed pods too long", () => {
    const metadata = { name: "x".repeat(60), uid: "u" };
    const spec = { completionMode: "Indexed", parallelism: 1, template: pods };
    const judge = (completions: number) => judgeNew(Job, { metadata, spec: { ...spec, completions } }).faults;
    expect(judge(100)).toEqual([]);
    expect(judge(1000)).toEqual(["metadata.name: FieldValueInvalid"]);
  });

  const codes = { operator: "In", values: [1, 2] };
  it.each([
    ["no action", { onExitCodes: codes }, [": Required"].map((one) => `.action${one}`)],
    ["an unknown action", { action: "Wait", onExitCodes: codes }, [".action: NotSupported"]],
    ["neither onExitCodes nor onPodConditions", { action: "Count" }, [": Invalid"]],
    [
      "both onExitCodes and onPodConditions",
      { action: "Count", onExitCodes: codes, onPodConditions: [{ type: "Ready", status: "True" }] },
      [": Invalid"],
    ],
    ["no operator", { action: "Count", onExitCodes: { values: [1] } }, [".onExitCodes.operator: Required"]],
    [
      "an unknown operator",
      { action: "Count", onExitCodes: { operator: "Gt", values: [1] } },
      [".onExitCodes.operator: NotSupported"],
    ],
    [
      "a containerName that is not in the template",
      { action: "Count", onExitCodes: { ...codes, containerName: "side" } },
      [".onExitCodes.containerName: Invalid"],
    ],
    ["no exit codes", { action: "Count", onExitCodes: { operator: "In" } }, [".onExitCodes.values: Invalid"]],
    [
      "exit code 0 and the operator In",
      { action: "Count", onExitCodes: { operator: "In", values: [0] } },
      [".onExitCodes.values[0]: Invalid"],
    ],
    [
      "a duplicate exit code",
      { action: "Count", onExitCodes: { operator: "In", values: [1, 1] } },
      [".onExitCodes.values[1]: Duplicate"],
    ],
    [
      "unsorted exit codes",
      { action: "Count", onExitCodes: { operator: "NotIn", values: [2, 1] } },
      [".onExitCodes.values: Invalid"],
    ],
    [
      "more than 255 exit codes",
      {
        action: "Count",
        onExitCodes: { operator: "In", values: Array.from({ length: 256 }, (_, i) => i + 1) },
      },
      [".onExitCodes.values: TooMany"],
    ],
    [
      "an unknown condition status",
      { action: "Ignore", onPodConditions: [{ type: "Ready", status: "Maybe" }] },
      [".onPodConditions[0].status: NotSupported"],
    ],
    [
      "a malformed condition type",
      { action: "Ignore", onPodConditions: [{ type: "a b" }] },
      [".onPodConditions[0].type: Invalid"],
    ],
  ])("rejects a podFailurePolicy rule with %s", (_title, rule, faults) => {
    const judged = judgeNew(Job, { ...uid, ...withPolicy(rule) });
    expect(short(judged.faults)).toEqual(faults.map((fault) => `spec.podFailurePolicy.rules[0]${fault}`));
  });

  it("defaults the status of onPodConditions to True, and rejects more than 20 podFailurePolicy rules", () => {
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
  /** The stored Job with `part` of the spec changed, as a client sends it in an update. */
  const updated = (part: Part = {}, template: Part = pods): Part => ({
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
    [
      "accepts changed parallelism, suspend and activeDeadlineSeconds",
      { parallelism: 3, suspend: true, activeDeadlineSeconds: 5 },
      [],
    ],
    ["rejects changed completions", { completions: 2 }, ["spec.completions: Invalid"]],
    ["rejects a changed completionMode", { completionMode: "Indexed" }, ["spec.completionMode: Invalid"]],
    [
      "rejects a changed podFailurePolicy",
      { podFailurePolicy: { rules: [] } },
      ["spec.podFailurePolicy: Invalid"],
    ],
  ])("on update, %s", (_title, part, faults) => {
    expect(short(judgeUpdate(Job, { ...uid, ...withSpec({}) }, updated(part)).faults)).toEqual(faults);
  });

  it("can change its node scheduling fields when it is suspended and was never started", () => {
    const options = { gates: ["JobMutableNodeSchedulingDirectives"] };
    const moved = {
      spec: { ...pods.spec, nodeSelector: { disk: "fast" }, tolerations: [{ operator: "Exists" }] },
    };
    const before = (suspend: boolean) => ({ ...uid, ...withSpec({ suspend }) });
    expect(judgeUpdate(Job, before(true), updated({ suspend: false }, moved), options).faults).toEqual([]);
    expect(short(judgeUpdate(Job, before(false), updated({}, moved), options).faults)).toEqual([
      "spec.template: Invalid",
    ]);
    const image = { spec: { ...pods.spec, containers: [{ ...container, image: "other" }] } };
    expect(short(judgeUpdate(Job, before(true), updated({}, image), options).faults)).toEqual([
      "spec.template: Invalid",
    ]);
  });

  it("rejects the job-tracking annotation on update", () => {
    const live = readAs(Job, updated());
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
    ["a negative active count", { active: -1 }, ["status.active: Invalid"]],
    ["a negative succeeded count", { succeeded: -1 }, ["status.succeeded: Invalid"]],
    ["a negative failed count", { failed: -1 }, ["status.failed: Invalid"]],
    ["a negative ready count", { ready: -1 }, ["status.ready: Invalid"]],
    [
      "an empty and a duplicate uid in uncountedTerminatedPods",
      { uncountedTerminatedPods: { succeeded: ["a", ""], failed: ["a"] } },
      [
        "status.uncountedTerminatedPods.succeeded[1]: Invalid",
        "status.uncountedTerminatedPods.failed[0]: Duplicate",
      ],
    ],
  ])("rejects a status with %s", (_title, status, faults) => {
    const job = { ...uid, ...withSpec({}) };
    expect(short(judgeUpdate(Job, job, { ...job, status }, { subresource: "status" }).faults)).toEqual(
      faults,
    );
  });

  it("supports the field selector status.successful", () => {
    const text = Job.selectable["status.successful"]!;
    expect(text(readAs(Job, { ...withSpec({}), status: { succeeded: 2 } }))).toBe("2");
    expect(text(readAs(Job, withSpec({})))).toBe("0");
  });

  it("returns pod template warnings on create, and none when an update changes nothing", () => {
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
