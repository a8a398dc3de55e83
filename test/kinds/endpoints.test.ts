import { describe, expect, it } from "vitest";
import { Endpoints } from "../../src/kinds/core/endpoints.ts";
import { EndpointSlice } from "../../src/kinds/discovery/endpoint-slice.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

describe("Endpoints", () => {
  const subset = (change: object) => ({ subsets: [{ addresses: [{ ip: "10.0.0.1" }], ...change }] });
  it("a minimal object is valid, and the protocol of a port defaults to TCP", () => {
    expect(judgeNew(Endpoints, {}).faults).toEqual([]);
    const { object, faults } = judgeNew(Endpoints, subset({ ports: [{ port: 80 }] }));
    expect(faults).toEqual([]);
    expect(object["subsets"]).toEqual([
      { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] },
    ]);
  });

  it.each<[string, object, string[]]>([
    ["rejects an empty subset", { addresses: [] }, [": FieldValueRequired"]],
    [
      "accepts a subset with notReadyAddresses only",
      { addresses: [], notReadyAddresses: [{ ip: "fd00::1" }] },
      [],
    ],
    [
      "rejects empty, unspecified, loopback, link-local and multicast addresses",
      {
        addresses: [{ ip: "" }, { ip: "127.1.2.3" }, { ip: "0:0:0:0:0:0:0:1" }, { ip: "::ffff:127.0.0.1" }],
        notReadyAddresses: [{ ip: "0.0.0.0" }, { ip: "169.254.1.1" }, { ip: "224.0.0.5" }, { ip: "fe80::1" }],
      },
      [
        ...[0, 1, 2, 3].map((index) => `.addresses[${index}].ip: FieldValueInvalid`),
        ...[0, 1, 2, 3].map((index) => `.notReadyAddresses[${index}].ip: FieldValueInvalid`),
      ],
    ],
    [
      "rejects a malformed hostname and nodeName",
      { addresses: [{ ip: "10.0.0.1", hostname: "a.b", nodeName: "A" }] },
      [".addresses[0].hostname: FieldValueInvalid", ".addresses[0].nodeName: FieldValueInvalid"],
    ],
    [
      "rejects malformed ports of a subset",
      { ports: [{ port: 0 }, { name: "A", port: 1, protocol: "X", appProtocol: "a b" }] },
      [
        ".ports[0].name: FieldValueRequired",
        ".ports[0].port: FieldValueInvalid",
        ".ports[1].name: FieldValueInvalid",
        ".ports[1].protocol: FieldValueNotSupported",
        ".ports[1].appProtocol: FieldValueInvalid",
      ],
    ],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(Endpoints, subset(change)).faults).toEqual(faults.map((one) => `subsets[0]${one}`));
  });

  it.each<[object[], string]>([
    [[], "<none>"],
    [[{ notReadyAddresses: [{ ip: "10.0.0.1" }] }], ""],
    [[{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] }], "10.0.0.1,10.0.0.2"],
    [[{ addresses: [{ ip: "fd00::1" }], ports: [{ port: 80 }] }], "[fd00::1]:80"],
    [
      [
        { addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }, { port: 443 }] },
        { addresses: [{ ip: "10.0.0.3" }] },
      ],
      "10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 2 more...",
    ],
  ])("shows its table cells for %j", (subsets, text) => {
    expect(cellsOf(Endpoints, { subsets })).toMatchObject({ Name: "one", Endpoints: text });
  });
});

describe("EndpointSlice", () => {
  const slice = (change: object) => ({
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ...change,
  });

  it("a minimal object is valid, and a port gets an empty name and protocol TCP", () => {
    expect(judgeNew(EndpointSlice, { addressType: "IPv4" }).faults).toEqual([]);
    const { object, faults } = judgeNew(EndpointSlice, slice({ ports: [{}] }));
    expect(faults).toEqual([]);
    expect(object).toMatchObject({
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: {} }],
      ports: [{ name: "", protocol: "TCP" }],
    });
    expect((object["ports"] as object[])[0]).not.toHaveProperty("port");
  });

  const endpoint = (change: object) => ({ endpoints: [{ addresses: ["10.0.0.1"], ...change }] });
  it.each<[string, object, string[]]>([
    ["rejects an empty addressType", { addressType: "" }, ["addressType: FieldValueRequired"]],
    ["rejects an unknown addressType", { addressType: "MAC" }, ["addressType: FieldValueNotSupported"]],
    [
      "rejects an endpoint without addresses",
      endpoint({ addresses: [] }),
      ["endpoints[0].addresses: FieldValueRequired"],
    ],
    [
      "rejects an IPv6, a malformed and a loopback address in an IPv4 slice",
      endpoint({ addresses: ["fd00::1", "a", "127.0.0.1"] }),
      [0, 1, 2].map((index) => `endpoints[0].addresses[${index}]: FieldValueInvalid`),
    ],
    [
      "rejects an IPv4 and a loopback address in an IPv6 slice",
      { addressType: "IPv6", ...endpoint({ addresses: ["10.0.0.1", "::1", "fd00::1"] }) },
      [0, 1].map((index) => `endpoints[0].addresses[${index}]: FieldValueInvalid`),
    ],
    [
      "rejects malformed names in an FQDN slice",
      { addressType: "FQDN", ...endpoint({ addresses: ["a.example.com.", "a", "A.b"] }) },
      [1, 2].map((index) => `endpoints[0].addresses[${index}]: FieldValueInvalid`),
    ],
    [
      "rejects more than 100 addresses",
      endpoint({ addresses: Array.from({ length: 101 }, () => "10.0.0.1") }),
      ["endpoints[0].addresses: FieldValueTooMany"],
    ],
    [
      "rejects more than 1000 endpoints",
      { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ["10.0.0.1"] })) },
      ["endpoints: FieldValueTooMany"],
    ],
    [
      "rejects a malformed hostname and nodeName",
      endpoint({ hostname: "a.b", nodeName: "A" }),
      ["endpoints[0].hostname: FieldValueInvalid", "endpoints[0].nodeName: FieldValueInvalid"],
    ],
    [
      "rejects duplicate and malformed zones in hints",
      endpoint({ hints: { forZones: [{ name: "a" }, { name: "a" }, { name: "b c" }] } }),
      [
        "endpoints[0].hints.forZones[1].name: FieldValueDuplicate",
        "endpoints[0].hints.forZones[2].name: FieldValueInvalid",
      ],
    ],
    [
      "rejects more than 8 zones in hints",
      endpoint({ hints: { forZones: Array.from({ length: 9 }, (_, index) => ({ name: `z${index}` })) } }),
      ["endpoints[0].hints.forZones: FieldValueTooMany"],
    ],
    [
      "rejects duplicate and malformed ports of a slice",
      { ports: [{}, {}, { name: "A" }, { name: "b", protocol: "X", appProtocol: "a b" }] },
      [
        "ports[1].name: FieldValueDuplicate",
        "ports[2].name: FieldValueInvalid",
        "ports[3].protocol: FieldValueNotSupported",
        "ports[3].appProtocol: FieldValueInvalid",
      ],
    ],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(EndpointSlice, slice(change)).faults).toEqual(faults);
  });

  it("addressType is immutable, and deprecatedTopology is dropped", () => {
    expect(
      judgeUpdate(
        EndpointSlice,
        slice({}),
        slice({ addressType: "FQDN", ...endpoint({ addresses: ["a.b"] }) }),
      ).faults,
    ).toEqual(["addressType: FieldValueInvalid"]);
    const older = slice(endpoint({ deprecatedTopology: { a: "b" } }));
    expect(judgeNew(EndpointSlice, older).object["endpoints"]).toEqual([
      { addresses: ["10.0.0.1"], conditions: {} },
    ]);
    expect(judgeUpdate(EndpointSlice, slice({}), older).object["endpoints"]).toEqual([
      { addresses: ["10.0.0.1"], conditions: {} },
    ]);
  });

  it("the generation depends on labels, but not on annotations", () => {
    const text = (metadata: object) =>
      JSON.stringify(EndpointSlice.generationOf!(readAs(EndpointSlice, { ...slice({}), metadata })));
    expect(text({ annotations: { a: "b" } })).toBe(text({}));
    expect(text({ labels: { a: "b" } })).not.toBe(text({}));
  });

  it.each<[object, object]>([
    [{}, { AddressType: "IPv4", Ports: "<unset>", Endpoints: "10.0.0.1" }],
    [{ endpoints: [] }, { Endpoints: "<unset>" }],
    [{ ports: [{ port: 80 }, { name: "x" }, {}] }, { Ports: "80,x," }],
    [
      {
        ports: [1, 2, 3, 4].map((port) => ({ port })),
        endpoints: [{ addresses: ["a", "b"] }, { addresses: ["c", "d", "e"] }],
      },
      { Ports: "1,2,3 + 1 more...", Endpoints: "a,b,c + 2 more..." },
    ],
  ])("shows its table cells for %j", (change, cells) => {
    expect(cellsOf(EndpointSlice, slice(change))).toMatchObject({ Name: "one", ...cells });
  });
});
