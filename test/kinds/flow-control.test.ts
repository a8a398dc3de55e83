import { describe, expect, it } from "vitest";
import { FlowSchema, FlowSchemaV1beta2 } from "../../src/kinds/flowcontrol/flow-schema.ts";
import {
  PriorityLevelConfiguration,
  PriorityLevelConfigurationV1beta2,
} from "../../src/kinds/flowcontrol/priority-level-configuration.ts";
import { mandatoryLevels, mandatorySchemas } from "../../src/kinds/flowcontrol/mandatory.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
const context = { vocabulary: platform, enabled: () => false, subresource: "" };

describe("FlowSchema", () => {
  const user = { kind: "User", user: { name: "alice" } };
  const resourceRule = { verbs: ["*"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] };
  const rule = { subjects: [user], resourceRules: [resourceRule] };
  const withSpec = (part: Part): Part => ({ spec: { priorityLevelConfiguration: { name: "a" }, ...part } });
  const withRule = (part: Part): Part => withSpec({ rules: [{ ...rule, ...part }] });
  const judge = (given: Part) => short(judgeNew(FlowSchema, given).faults);

  it("defaults matchingPrecedence to 1000", () => {
    const { object, faults } = judgeNew(FlowSchema, withRule({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      priorityLevelConfiguration: { name: "a" },
      matchingPrecedence: 1000,
      rules: [rule],
    });
    expect(object["status"]).toEqual({});
  });

  it.each([
    [
      "a missing priorityLevelConfiguration.name",
      { priorityLevelConfiguration: {} },
      [".priorityLevelConfiguration.name: Required"],
    ],
    [
      "a malformed priorityLevelConfiguration.name",
      { priorityLevelConfiguration: { name: "A" } },
      [".priorityLevelConfiguration.name: Invalid"],
    ],
    ["a negative matchingPrecedence", { matchingPrecedence: -1 }, [".matchingPrecedence: Invalid"]],
    [
      "matchingPrecedence 1, which is reserved for exempt",
      { matchingPrecedence: 1 },
      [".matchingPrecedence: Invalid"],
    ],
    ["matchingPrecedence above 10000", { matchingPrecedence: 10_001 }, [".matchingPrecedence: Invalid"]],
    [
      "an unknown distinguisherMethod",
      { distinguisherMethod: { type: "ByHat" } },
      [".distinguisherMethod.type: NotSupported"],
    ],
    ["an empty rule", { rules: [{}] }, [".rules[0].subjects: Required", ".rules[0]: Required"]],
  ])("rejects %s", (_title, part, faults) => {
    expect(judge(withSpec(part))).toEqual(faults.map((fault) => `spec${fault}`));
  });

  it.each([
    ["rejects an unknown kind", { kind: "Robot" }, [".kind: NotSupported"]],
    ["rejects kind User and no user", { kind: "User" }, [".user: Required"]],
    ["rejects a user without name", { kind: "User", user: {} }, [".user.name: Required"]],
    ["rejects a user and a group", { ...user, group: { name: "g" } }, [".group: Forbidden"]],
    ["accepts a group", { kind: "Group", group: { name: "g" } }, []],
    [
      "accepts a service account",
      { kind: "ServiceAccount", serviceAccount: { namespace: "n", name: "*" } },
      [],
    ],
    [
      "rejects a malformed service account",
      { kind: "ServiceAccount", serviceAccount: { namespace: "N", name: "A" } },
      [".serviceAccount.name: Invalid", ".serviceAccount.namespace: Invalid"],
    ],
    [
      "rejects an empty service account",
      { kind: "ServiceAccount", serviceAccount: {} },
      [".serviceAccount.name: Required", ".serviceAccount.namespace: Required"],
    ],
  ])("subject: %s", (_title, subject, faults) => {
    expect(judge(withRule({ subjects: [subject] }))).toEqual(
      faults.map((fault) => `spec.rules[0].subjects[0]${fault}`),
    );
  });

  it.each([
    [
      "rejects an empty rule",
      {},
      [".verbs: Required", ".apiGroups: Required", ".resources: Required", ".namespaces: Required"],
    ],
    [
      "rejects * together with other entries",
      { verbs: ["*", "get"], apiGroups: ["*", ""], resources: ["*", "a"], namespaces: ["*", "a"] },
      [".verbs: Invalid", ".apiGroups: Invalid", ".resources: Invalid", ".namespaces: Invalid"],
    ],
    ["rejects an unknown verb", { ...resourceRule, verbs: ["fly"] }, [".verbs: NotSupported"]],
    ["rejects a malformed namespace", { ...resourceRule, namespaces: ["A"] }, [".namespaces[0]: Invalid"]],
    ["accepts clusterScope and no namespaces", { ...resourceRule, namespaces: [], clusterScope: true }, []],
  ])("resource rule: %s", (_title, one, faults) => {
    expect(judge(withRule({ resourceRules: [one] }))).toEqual(
      faults.map((fault) => `spec.rules[0].resourceRules[0]${fault}`),
    );
  });

  it.each([
    [["/"], []],
    [["/healthz", "/apis/*"], []],
    [["*"], []],
    [[], [": Required"]],
    [["*", "/a"], [": Invalid"]],
    [["a"], ["[0]: Invalid"]],
    [[""], ["[0]: Invalid"]],
    [["/a b"], ["[0]: Invalid"]],
    [["/a//b"], ["[0]: Invalid"]],
    [["/a*"], ["[0]: Invalid"]],
    [["/*/a"], ["[0]: Invalid"]],
  ])("validates nonResourceURLs %j: %j", (nonResourceURLs, faults) => {
    expect(judge(withRule({ nonResourceRules: [{ verbs: ["get"], nonResourceURLs }] }))).toEqual(
      faults.map((fault) => `spec.rules[0].nonResourceRules[0].nonResourceURLs${fault}`),
    );
  });

  it.each(["exempt", "catch-all"])("the mandatory FlowSchema %s has a fixed spec", (name) => {
    const spec = mandatorySchemas(platform)[name]! as Part;
    expect(judge({ metadata: { name }, spec })).toEqual([]);
    expect(judge({ metadata: { name }, spec: { ...spec, matchingPrecedence: 5 } })).toEqual([
      "spec: Invalid",
    ]);
  });

  it("the status subresource changes only the status, and rejects duplicate condition types", () => {
    const conditions = [{ type: "Dangling", status: "True" }];
    const write = (status: Part) =>
      judgeUpdate(FlowSchema, withRule({}), { ...withSpec({}), status }, { subresource: "status" });
    expect(write({ conditions })).toMatchObject({
      faults: [],
      object: { spec: { rules: [rule] }, status: { conditions } },
    });
    expect(short(write({ conditions: [...conditions, ...conditions] }).faults)).toEqual([
      "status.conditions[1].type: Duplicate",
    ]);
    expect(short(write({ conditions: [{}] }).faults)).toEqual(["status.conditions[0].type: Required"]);
  });

  it("shows its table cells", () => {
    const status = { conditions: [{ type: "Dangling", status: "False" }] };
    expect(cellsOf(FlowSchema, { ...withSpec({ distinguisherMethod: { type: "ByUser" } }), status })).toEqual(
      {
        Name: "one",
        PriorityLevel: "a",
        MatchingPrecedence: 1000,
        DistinguisherMethod: "ByUser",
        Age: "<unknown>",
        MissingPL: "False",
      },
    );
    expect(cellsOf(FlowSchema, withSpec({}))).toMatchObject({
      DistinguisherMethod: "<none>",
      MissingPL: "?",
    });
  });

  it("is stored as v1beta2 without changes", () => {
    const object = readAs(FlowSchema, withRule({}));
    const { stored, toStored, fromStored } = FlowSchema.conversion!;
    expect(stored()).toBe(FlowSchemaV1beta2);
    expect(fromStored(toStored(structuredClone(object), context), context)).toEqual(object);
  });
});

describe("PriorityLevelConfiguration", () => {
  const withLimits = (limited: Part): Part => ({ spec: { type: "Limited", limited } });
  const reject = { limitResponse: { type: "Reject" } };
  const queue = (queuing: Part): Part => withLimits({ limitResponse: { type: "Queue", queuing } });
  const judge = (given: Part) => short(judgeNew(PriorityLevelConfiguration, given).faults);

  it("C-9.3-03 sets the default values of shares and queues", () => {
    const { object, faults } = judgeNew(PriorityLevelConfiguration, queue({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 30,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        lendablePercent: 0,
      },
    });
  });

  it.each([
    ["rejects a missing type", { spec: {} }, [".type: NotSupported"]],
    ["rejects type Limited without limited", { spec: { type: "Limited" } }, [".limited: Required"]],
    ["rejects type Exempt with a name other than exempt", { spec: { type: "Exempt" } }, [".type: Invalid"]],
    [
      "rejects negative nominalConcurrencyShares",
      withLimits({ ...reject, nominalConcurrencyShares: -1 }),
      [".limited.nominalConcurrencyShares: Invalid"],
    ],
    [
      "rejects lendablePercent above 100",
      withLimits({ ...reject, lendablePercent: 101 }),
      [".limited.lendablePercent: Invalid"],
    ],
    [
      "rejects a negative borrowingLimitPercent",
      withLimits({ ...reject, borrowingLimitPercent: -1 }),
      [".limited.borrowingLimitPercent: Invalid"],
    ],
    [
      "rejects an unknown limitResponse.type",
      withLimits({ limitResponse: { type: "Shrug" } }),
      [".limited.limitResponse.type: NotSupported"],
    ],
    [
      "rejects limitResponse Reject with queuing",
      withLimits({ limitResponse: { type: "Reject", queuing: {} } }),
      [".limited.limitResponse.queuing: Forbidden"],
    ],
    [
      "rejects limitResponse Queue without queuing",
      withLimits({ limitResponse: { type: "Queue" } }),
      [".limited.limitResponse.queuing: Required"],
    ],
    [
      "rejects negative queues, queueLengthLimit and handSize",
      queue({ queues: -1, queueLengthLimit: -1, handSize: -1 }),
      ["queueLengthLimit", "queues", "handSize"].map(
        (name) => `.limited.limitResponse.queuing.${name}: Invalid`,
      ),
    ],
    [
      "rejects more than 10,000,000 queues",
      queue({ queues: 10_000_001, handSize: 1 }),
      [".limited.limitResponse.queuing.queues: Invalid"],
    ],
    [
      "rejects a handSize above the number of queues",
      queue({ queues: 4, handSize: 5 }),
      [".limited.limitResponse.queuing.handSize: Invalid"],
    ],
    [
      "rejects a handSize that needs more hash bits than there are",
      queue({ queues: 1024, handSize: 7 }),
      [".limited.limitResponse.queuing.handSize: Invalid"],
    ],
    ["accepts the largest valid handSize for 1024 queues", queue({ queues: 1024, handSize: 6 }), []],
  ])("%s", (_title, given, faults) => {
    expect(
      judge(given).filter((fault) => fault !== "spec.type: Invalid" || faults.includes(".type: Invalid")),
    ).toEqual(faults.map((fault) => `spec${fault}`));
  });

  it.each(["exempt", "catch-all"])("the mandatory PriorityLevelConfiguration %s has a fixed spec", (name) => {
    expect(judge({ metadata: { name }, spec: mandatoryLevels("1.26")[name] })).toEqual([]);
    expect(judge({ ...queue({}), metadata: { name } })).toContain("spec: Invalid");
  });

  it("shows its table cells", () => {
    expect(cellsOf(PriorityLevelConfiguration, queue({}))).toEqual({
      Name: "one",
      Type: "Limited",
      NominalConcurrencyShares: 30,
      Queues: 64,
      HandSize: 8,
      QueueLengthLimit: 50,
      Age: "<unknown>",
    });
    expect(cellsOf(PriorityLevelConfiguration, withLimits(reject))).toMatchObject({ Queues: "<none>" });
  });

  it("is stored as v1beta2, where nominalConcurrencyShares is named assuredConcurrencyShares", () => {
    const asked = readAs(PriorityLevelConfiguration, withLimits({ ...reject, nominalConcurrencyShares: 7 }));
    const { stored, toStored, fromStored } = PriorityLevelConfiguration.conversion!;
    expect(stored()).toBe(PriorityLevelConfigurationV1beta2);
    const old = toStored(structuredClone(asked), context);
    expect(old["spec"]).toEqual({
      type: "Limited",
      limited: { ...reject, assuredConcurrencyShares: 7, lendablePercent: 0 },
    });
    expect(cellsOf(PriorityLevelConfigurationV1beta2, old)).toMatchObject({ NominalConcurrencyShares: 7 });
    expect(fromStored(structuredClone(old), context)).toEqual(asked);
    expect(fromStored(structuredClone(asked), context)).toEqual(asked);
  });
});
