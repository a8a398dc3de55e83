import { describe, expect, it } from "vitest";
import { ComponentStatus } from "../../src/kinds/core/component-status.ts";
import { Node } from "../../src/kinds/core/node/node.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

describe("Node: defaults", () => {
  it("a minimal Node gets no defaults in its spec", () => {
    const { object, faults } = judgeNew(Node, {});
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({});
    expect(object["status"]).toMatchObject({ daemonEndpoints: { kubeletEndpoint: { Port: 0 } } });
    expect(object["status"]).not.toHaveProperty("allocatable");
  });

  it("allocatable defaults to capacity, rounded up to 0.001", () => {
    const status = { capacity: { cpu: "100u", memory: "1Gi" } };
    expect(readAs(Node, { status })["status"]).toMatchObject({
      capacity: { cpu: "1m", memory: "1Gi" },
      allocatable: { cpu: "1m", memory: "1Gi" },
    });
    const both = { capacity: { cpu: "2" }, allocatable: { cpu: "1" } };
    expect(readAs(Node, { status: both })["status"]).toMatchObject(both);
  });

  it.each([
    [{ podCIDR: "10.0.0.0/24" }, { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] }],
    [{ podCIDRs: ["10.0.0.0/24"] }, { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] }],
    [
      { podCIDR: "10.1.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"] },
      { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] },
    ],
  ])("podCIDR and podCIDRs are synchronized for %j", (spec, filled) => {
    expect(readAs(Node, { spec })["spec"]).toEqual(filled);
  });
});

describe("Node: validation", () => {
  it.each<[string, object, string[]]>([
    ["accepts an IPv4 and an IPv6 range in podCIDRs", { podCIDRs: ["10.0.0.0/24", "fd00::/64"] }, []],
    [
      "rejects a malformed range in podCIDRs",
      { podCIDRs: ["10.0.0.0"] },
      ["spec.podCIDRs[0]: FieldValueInvalid"],
    ],
    [
      "rejects two ranges of the same IP family",
      { podCIDRs: ["10.0.0.0/24", "10.1.0.0/24"] },
      ["spec.podCIDRs: FieldValueInvalid"],
    ],
    [
      "rejects a duplicate range",
      { podCIDRs: ["10.0.0.0/24", "10.0.0.0/24"] },
      ["spec.podCIDRs[1]: FieldValueDuplicate", "spec.podCIDRs: FieldValueInvalid"],
    ],
    ["accepts a taint", { taints: [{ key: "a/b", value: "c", effect: "NoExecute" }] }, []],
    [
      "rejects an empty taint",
      { taints: [{}] },
      ["spec.taints[0].effect: FieldValueRequired", "spec.taints[0].key: FieldValueInvalid"],
    ],
    [
      "rejects a malformed taint",
      { taints: [{ key: "a b", value: "c d", effect: "Never" }] },
      [
        "spec.taints[0].value: FieldValueInvalid",
        "spec.taints[0].effect: FieldValueNotSupported",
        "spec.taints[0].key: FieldValueInvalid",
      ],
    ],
    [
      "rejects a duplicate taint key and effect",
      {
        taints: [
          { key: "a", effect: "NoExecute" },
          { key: "a", effect: "NoSchedule" },
          { key: "a", value: "x", effect: "NoExecute" },
        ],
      },
      ["spec.taints[2]: FieldValueDuplicate"],
    ],
  ])("%s", (_name, spec, faults) => {
    // An empty key is reported twice, as an empty and as a malformed name.
    expect([...new Set(judgeNew(Node, { spec }).faults)].toSorted()).toEqual(faults.toSorted());
  });

  it("rejects negative quantities and fractions of whole resources", () => {
    const status = { capacity: { cpu: "-1", pods: "1500m" }, allocatable: { "example.com/gpu": "1500m" } };
    expect(judgeNew(Node, { status }).faults).toEqual([
      "status.capacity.cpu: FieldValueInvalid",
      "status.capacity.pods: FieldValueInvalid",
      "status.allocatable.example.com/gpu: FieldValueInvalid",
    ]);
  });

  it("spec.configSource is dropped when it was not stored", () => {
    const spec = { configSource: { configMap: { name: "a", namespace: "b", kubeletConfigKey: "c" } } };
    expect(judgeNew(Node, { spec }).object["spec"]).toEqual({});
    expect(judgeUpdate(Node, {}, { spec }).object["spec"]).toEqual({});
  });

  it("spec.externalID returns a warning", () => {
    const warn = (spec: object) =>
      Node.warnings!(readAs(Node, { spec }), undefined as never, undefined).length;
    expect([warn({}), warn({ externalID: "x" })]).toEqual([0, 1]);
  });
});

describe("Node: updates", () => {
  it.each<[string, object, object, string[]]>([
    ["setting podCIDR and providerID is allowed", {}, { podCIDR: "10.0.0.0/24", providerID: "a" }, []],
    [
      "a changed podCIDR is rejected",
      { podCIDR: "10.0.0.0/24" },
      { podCIDR: "10.0.1.0/24" },
      ["spec.podCIDRs: FieldValueForbidden"],
    ],
    ["removing podCIDR is rejected", { podCIDR: "10.0.0.0/24" }, {}, ["spec.podCIDRs: FieldValueForbidden"]],
    [
      "a changed providerID is rejected",
      { providerID: "a" },
      { providerID: "b" },
      ["spec.providerID: FieldValueForbidden"],
    ],
    ["setting externalID is rejected", {}, { externalID: "b" }, ["spec.externalID: FieldValueForbidden"]],
    [
      "changing taints and unschedulable is allowed",
      {},
      { unschedulable: true, taints: [{ key: "a", effect: "NoExecute" }] },
      [],
    ],
  ])("%s", (_name, before, now, faults) => {
    expect(judgeUpdate(Node, { spec: before }, { spec: now }).faults).toEqual(faults);
  });

  it("the status subresource changes only the status, and rejects duplicate addresses", () => {
    const address = { type: "InternalIP", address: "10.0.0.1" };
    const now = { spec: { unschedulable: true }, status: { addresses: [address, address] } };
    expect(judgeUpdate(Node, {}, now).object).toMatchObject({ spec: { unschedulable: true } });
    expect(judgeUpdate(Node, {}, now).object["status"]).not.toHaveProperty("addresses");
    const written = judgeUpdate(Node, {}, now, { subresource: "status" });
    expect(written.object).toMatchObject({ spec: {}, status: { addresses: [address, address] } });
    expect(written.object["spec"]).toEqual({});
    expect(written.faults).toEqual(["status.addresses[1]: FieldValueDuplicate"]);
  });
});

describe("Node: table cells", () => {
  it("of a Node with all fields", () => {
    const cells = cellsOf(Node, {
      metadata: {
        name: "n1",
        creationTimestamp: "2023-12-30T00:00:00Z",
        labels: {
          "node-role.platform.io/worker": "",
          "node-role.platform.io/": "x",
          "platform.io/role": "edge",
          other: "x",
        },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [
          { type: "DiskPressure", status: "False" },
          { type: "Ready", status: "True" },
        ],
        addresses: [
          { type: "Hostname", address: "n1" },
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "10.0.0.2" },
        ],
        nodeInfo: {
          kubeletVersion: "v1.26.0",
          osImage: "An OS",
          kernelVersion: "6.1",
          containerRuntimeVersion: "rt://1",
        },
      },
    });
    expect(cells).toEqual({
      Name: "n1",
      Status: "Ready,SchedulingDisabled",
      Roles: "edge,worker",
      Age: "2d",
      Version: "v1.26.0",
      "Internal-IP": "10.0.0.1",
      "External-IP": "<none>",
      "OS-Image": "An OS",
      "Kernel-Version": "6.1",
      "Container-Runtime": "rt://1",
    });
  });

  it("of an empty Node", () => {
    expect(cellsOf(Node, {})).toEqual({
      Name: "one",
      Status: "Unknown",
      Roles: "<none>",
      Age: "<unknown>",
      Version: "",
      "Internal-IP": "<none>",
      "External-IP": "<none>",
      "OS-Image": "<unknown>",
      "Kernel-Version": "<unknown>",
      "Container-Runtime": "<unknown>",
    });
    const conditions = [{ type: "Ready", status: "Unknown" }];
    expect(cellsOf(Node, { status: { conditions } })).toMatchObject({ Status: "NotReady" });
  });

  it("supports the field selector spec.unschedulable", () => {
    const read = Node.selectable["spec.unschedulable"]!;
    expect(read(readAs(Node, {}))).toBe("false");
    expect(read(readAs(Node, { spec: { unschedulable: true } }))).toBe("true");
  });
});

describe("ComponentStatus: table cells", () => {
  it.each([
    [[], { Status: "Unknown", Message: "", Error: "" }],
    [[{ type: "Healthy", status: "True", message: "ok" }], { Status: "Healthy", Message: "ok", Error: "" }],
    [
      [{ type: "Healthy", status: "Unknown", error: "lost" }],
      { Status: "Unhealthy", Message: "", Error: "lost" },
    ],
  ])("for conditions %j", (conditions, expected) => {
    expect(cellsOf(ComponentStatus, { conditions })).toEqual({ Name: "one", ...expected });
  });
});
