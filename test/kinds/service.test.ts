import { describe, expect, it } from "vitest";
import { Service } from "../../src/kinds/core/service/service.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const port = { port: 80 };
const service = (spec: object, metadata: object = {}) => ({ metadata: { name: "web", ...metadata }, spec });

describe("Service: defaults", () => {
  it.each([
    [
      "of the smallest one",
      { ports: [port] },
      {
        ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
        type: "ClusterIP",
        sessionAffinity: "None",
        internalTrafficPolicy: "Cluster",
      },
    ],
    [
      "of a load balancer",
      { type: "LoadBalancer", ports: [{ ...port, targetPort: "http" }] },
      {
        ports: [{ protocol: "TCP", port: 80, targetPort: "http" }],
        type: "LoadBalancer",
        sessionAffinity: "None",
        externalTrafficPolicy: "Cluster",
        allocateLoadBalancerNodePorts: true,
        internalTrafficPolicy: "Cluster",
      },
    ],
    [
      "of an external name",
      { type: "ExternalName", externalName: "example.com" },
      { type: "ExternalName", sessionAffinity: "None", externalName: "example.com" },
    ],
    [
      "of the affinity by address",
      { ports: [port], sessionAffinity: "ClientIP" },
      {
        ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
        type: "ClusterIP",
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
        internalTrafficPolicy: "Cluster",
      },
    ],
    [
      "drop settings of an affinity that there isn't",
      { type: "NodePort", ports: [port], sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      {
        ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
        type: "NodePort",
        sessionAffinity: "None",
        externalTrafficPolicy: "Cluster",
        internalTrafficPolicy: "Cluster",
      },
    ],
  ])("%s", (_name, given, filled) => {
    expect(readAs(Service, service(given))["spec"]).toEqual(filled);
  });
});

describe("Service: rules", () => {
  it.each<[string, object, string[]]>([
    ["the smallest", { ports: [port] }, []],
    ["no ports", {}, ["spec.ports: FieldValueRequired"]],
    ["no ports, but headless", { clusterIP: "None" }, []],
    ["no ports, but a name outside", { type: "ExternalName", externalName: "a.example.com." }, []],
    ["a name outside that is missing", { type: "ExternalName" }, ["spec.externalName: FieldValueRequired"]],
    [
      "a name outside that is none",
      { type: "ExternalName", externalName: "-a" },
      ["spec.externalName: FieldValueInvalid"],
    ],
    [
      "addresses of a name outside",
      {
        type: "ExternalName",
        externalName: "a",
        clusterIP: "10.0.0.1",
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
      },
      [
        "spec.clusterIPs: FieldValueForbidden",
        "spec.ipFamilies: FieldValueForbidden",
        "spec.ipFamilyPolicy: FieldValueForbidden",
      ],
    ],
    ["another type", { type: "Other", ports: [port] }, ["spec.type: FieldValueNotSupported"]],
    [
      "two ports without names",
      { ports: [port, { port: 81 }] },
      ["spec.ports[0].name: FieldValueRequired", "spec.ports[1].name: FieldValueRequired"],
    ],
    [
      "names of ports",
      {
        ports: [
          { name: "a", port: 1 },
          { name: "a", port: 2 },
          { name: "A", port: 3 },
        ],
      },
      ["spec.ports[1].name: FieldValueDuplicate", "spec.ports[2].name: FieldValueInvalid"],
    ],
    [
      "the same port twice",
      {
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 1, protocol: "UDP" },
          { name: "c", port: 1 },
        ],
      },
      ["spec.ports[2]: FieldValueDuplicate"],
    ],
    [
      "the same port on nodes twice",
      {
        type: "NodePort",
        ports: [
          { name: "a", port: 1, nodePort: 30_000 },
          { name: "b", port: 2, nodePort: 30_000, protocol: "UDP" },
          { name: "c", port: 3, nodePort: 30_000 },
        ],
      },
      ["spec.ports[2].nodePort: FieldValueDuplicate"],
    ],
    [
      "a port on nodes inside the cluster",
      { ports: [{ port: 1, nodePort: 30_000 }] },
      ["spec.ports[0].nodePort: FieldValueForbidden"],
    ],
    [
      "no number",
      { ports: [{ name: "a" }] },
      ["spec.ports[0].port: FieldValueInvalid", "spec.ports[0].targetPort: FieldValueInvalid"],
    ],
    [
      "bad parts of a port",
      { ports: [{ port: 1, protocol: "X", targetPort: "a--b", appProtocol: "a b" }] },
      [
        "spec.ports[0].protocol: FieldValueNotSupported",
        "spec.ports[0].targetPort: FieldValueInvalid",
        "spec.ports[0].appProtocol: FieldValueInvalid",
      ],
    ],
    [
      "the node agent's port for the outside",
      { type: "LoadBalancer", ports: [{ port: 10_250 }] },
      ["spec.ports[0]: FieldValueInvalid"],
    ],
    [
      "a headless service with ports on nodes",
      { type: "NodePort", clusterIP: "None", ports: [port] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    ["a selector", { ports: [port], selector: { "a b": "c" } }, ["spec.selector: FieldValueInvalid"]],
    [
      "an affinity that there isn't",
      { ports: [port], sessionAffinity: "Cookie" },
      ["spec.sessionAffinity: FieldValueNotSupported"],
    ],
    [
      "too long an affinity",
      {
        ports: [port],
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
      },
      ["spec.sessionAffinityConfig.clientIP.timeoutSeconds: FieldValueInvalid"],
    ],
    [
      "addresses outside",
      {
        ports: [port],
        externalIPs: ["1.2.3.4", "x", "127.0.0.1", "169.254.0.1", "::", "fe80::1", "ff02::5"],
      },
      [1, 2, 3, 4, 5, 6].map((index) => `spec.externalIPs[${index}]: FieldValueInvalid`),
    ],
    [
      "ranges of clients without a load balancer",
      { ports: [port], loadBalancerSourceRanges: ["10.0.0.0/8"] },
      ["spec.LoadBalancerSourceRanges: FieldValueForbidden"],
    ],
    [
      "ranges of clients",
      { type: "LoadBalancer", ports: [port], loadBalancerSourceRanges: [" 10.0.0.0/8 ", "10.0.0.0/33"] },
      ["spec.LoadBalancerSourceRanges: FieldValueInvalid"],
    ],
    [
      "fields of load balancers",
      { ports: [port], allocateLoadBalancerNodePorts: true, loadBalancerClass: "a/b" },
      [
        "spec.allocateLoadBalancerNodePorts: FieldValueForbidden",
        "spec.loadBalancerClass: FieldValueForbidden",
      ],
    ],
    [
      "the class of a load balancer",
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a b" },
      ["spec.loadBalancerClass: FieldValueInvalid"],
    ],
    [
      "traffic from outside that there isn't",
      { ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 30_000 },
      ["spec.externalTrafficPolicy: FieldValueInvalid", "spec.healthCheckNodePort: FieldValueInvalid"],
    ],
    [
      "policies of traffic",
      { type: "NodePort", ports: [port], externalTrafficPolicy: "X", internalTrafficPolicy: "Y" },
      [
        "spec.externalTrafficPolicy: FieldValueNotSupported",
        "spec.internalTrafficPolicy: FieldValueNotSupported",
      ],
    ],
    [
      "a port for questions after health",
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 70_000 },
      ["spec.healthCheckNodePort: FieldValueInvalid"],
    ],
    ["both addresses", { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] }, []],
    [
      "addresses that don't match",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "only the list of addresses",
      { ports: [port], clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    ["no address", { ports: [port], clusterIP: "x" }, ["spec.clusterIPs[0]: FieldValueInvalid"]],
    [
      "a headless service with an address",
      { ports: [port], clusterIP: "None", clusterIPs: ["None", "10.0.0.1"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "two addresses of a family",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "three addresses",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1", "fd00::2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "families",
      { ports: [port], ipFamilies: ["IPv4", "IPv4", "IPv5"], ipFamilyPolicy: "Some" },
      [
        "spec.ipFamilies[1]: FieldValueDuplicate",
        "spec.ipFamilies[2]: FieldValueNotSupported",
        "spec.ipFamilyPolicy: FieldValueNotSupported",
      ],
    ],
    [
      "an address of another family",
      { ports: [port], clusterIP: "10.0.0.1", ipFamilies: ["IPv6"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
  ])("%s", (_name, spec, faults) => {
    expect(judgeNew(Service, service(spec)).faults.toSorted()).toEqual(faults.toSorted());
  });

  it("ranges of clients in the older annotation", () => {
    const key = "service.beta.platform.io/load-balancer-source-ranges";
    const annotated = (value: string, type: string) =>
      judgeNew(Service, service({ type, ports: [port] }, { annotations: { [key]: value } })).faults;
    expect(annotated("10.0.0.0/8, 11.0.0.0/8", "LoadBalancer")).toEqual([]);
    expect(annotated("10.0.0.0", "LoadBalancer")).toEqual([
      `metadata.annotations[${key}]: FieldValueInvalid`,
    ]);
    expect(annotated("10.0.0.0/8", "NodePort")).toEqual([
      `metadata.annotations[${key}]: FieldValueForbidden`,
    ]);
  });

  it("many faults end, and quickly", () => {
    const ports = Array.from({ length: 50_000 }, () => ({ port: 1 }));
    expect(judgeNew(Service, service({ ports })).faults.length).toBe(257);
  });
});

describe("Service: what a creator and an update set", () => {
  it("the status isn't the creator's, and the list of addresses follows the address", () => {
    const { object } = judgeNew(Service, {
      ...service({ ports: [port], clusterIP: "10.0.0.1" }),
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
    });
    expect(object["status"]).toEqual({ loadBalancer: {} });
    expect(object["spec"]).toMatchObject({ clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] });
  });

  const nodePort = {
    type: "NodePort",
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1"],
    ports: [{ name: "a", port: 1, nodePort: 30_001 }],
  };
  it.each<[string, object, object, object]>([
    [
      "what was allocated is kept",
      nodePort,
      { type: "NodePort", ports: [{ name: "a", port: 2 }] },
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ports: [{ port: 2, nodePort: 30_001 }] },
    ],
    [
      "a number that was given to another port isn't kept",
      nodePort,
      {
        type: "NodePort",
        ports: [
          { name: "a", port: 2 },
          { name: "b", port: 3, nodePort: 30_001 },
        ],
      },
      { ports: [{ port: 2 }, { port: 3, nodePort: 30_001 }] },
    ],
    [
      "the port for questions after health is kept",
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 30_002 },
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local" },
      { healthCheckNodePort: 30_002 },
    ],
    [
      "asking for one family releases the second address",
      {
        ports: [port],
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1", "fd00::1"],
        ipFamilies: ["IPv4", "IPv6"],
        ipFamilyPolicy: "PreferDualStack",
      },
      {
        ports: [port],
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1", "fd00::1"],
        ipFamilies: ["IPv4", "IPv6"],
        ipFamilyPolicy: "SingleStack",
      },
      { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
    ],
  ])("%s", (_name, before, now, expected) => {
    const { object, faults } = judgeUpdate(Service, service(before), service(now));
    expect(object["spec"]).toMatchObject(expected);
    expect(faults).toEqual([]);
  });

  it("a change to an external name drops what such a service doesn't have", () => {
    const { object, faults } = judgeUpdate(
      Service,
      service({ ...nodePort, ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" }),
      service({
        ...nodePort,
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        externalTrafficPolicy: "Cluster",
        type: "ExternalName",
        externalName: "a",
      }),
    );
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      type: "ExternalName",
      externalName: "a",
      sessionAffinity: "None",
      ports: [{ name: "a", port: 1, protocol: "TCP", targetPort: 1 }],
    });
  });

  it("a change of a load balancer drops its fields", () => {
    const before = {
      type: "LoadBalancer",
      ports: [{ port: 1, nodePort: 30_001 }],
      loadBalancerClass: "a/b",
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 30_002,
      allocateLoadBalancerNodePorts: true,
    };
    const { object, faults } = judgeUpdate(
      Service,
      service(before),
      service({ ...before, type: "ClusterIP" }),
    );
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      type: "ClusterIP",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ports: [{ port: 1, protocol: "TCP", targetPort: 1 }],
    });
  });
});

describe("Service: changes", () => {
  const dual = {
    ports: [port],
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1", "fd00::1"],
    ipFamilies: ["IPv4", "IPv6"],
    ipFamilyPolicy: "PreferDualStack",
  };
  const single = { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] };
  it.each<[string, object, object, string[]]>([
    [
      "another address",
      single,
      { ...single, clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "another address by a client that knows only one",
      single,
      { ...single, clusterIP: "10.0.0.2" },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    ["a second address", single, { ...dual }, []],
    [
      "another second address",
      dual,
      { ...dual, clusterIPs: ["10.0.0.1", "fd00::2"] },
      ["spec.clusterIPs[1]: FieldValueInvalid"],
    ],
    [
      "a second address that goes without asking for one family",
      dual,
      { ...dual, clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
      ["spec.ipFamilyPolicy: FieldValueInvalid", "spec.ipFamilyPolicy: FieldValueInvalid"],
    ],
    [
      "another family",
      single,
      { ...single, ipFamilies: ["IPv6"] },
      ["spec.clusterIPs[0]: FieldValueInvalid", "spec.ipFamilies[0]: FieldValueInvalid"],
    ],
    [
      "no address any more",
      single,
      { ports: [port], clusterIP: "None", clusterIPs: ["None"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "from an external name to an address",
      { type: "ExternalName", externalName: "a" },
      { ports: [port], clusterIP: "10.0.0.2" },
      [],
    ],
    [
      "another class of load balancer",
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/b" },
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/c" },
      ["spec.loadBalancerClass: FieldValueInvalid"],
    ],
    [
      "a load balancer with a class",
      { type: "NodePort", ports: [port] },
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/c" },
      [],
    ],
  ])("%s", (_name, before, now, faults) => {
    expect(judgeUpdate(Service, service(before), service(now)).faults.toSorted()).toEqual(faults);
  });

  it("the status has addresses and names, and only the status is taken", () => {
    const status = {
      loadBalancer: { ingress: [{ ip: "x" }, { hostname: "1.2.3.4" }, { hostname: "-" }, { ip: "1.2.3.4" }] },
    };
    const { faults, object } = judgeUpdate(
      Service,
      service(single),
      { ...service({ ports: [{ port: 1 }] }), status },
      { subresource: "status" },
    );
    expect(faults).toEqual([
      "status.loadBalancer.ingress[0].ip: FieldValueInvalid",
      "status.loadBalancer.ingress[1].hostname: FieldValueInvalid",
      "status.loadBalancer.ingress[2].hostname: FieldValueInvalid",
    ]);
    expect(object["spec"]).toMatchObject(single);
  });
});

describe("Service: cells and selectable fields", () => {
  const created = { name: "web", creationTimestamp: "2023-12-31T23:00:00Z" };
  it("an address inside", () => {
    const spec = {
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1"],
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 53, protocol: "UDP", nodePort: 30_053 },
      ],
      selector: { b: "2", a: "1" },
    };
    expect(cellsOf(Service, { metadata: created, spec })).toEqual({
      Name: "web",
      Type: "ClusterIP",
      "Cluster-IP": "10.0.0.1",
      "External-IP": "<none>",
      "Port(s)": "80/TCP,53:30053/UDP",
      Age: "60m",
      Selector: "a=1,b=2",
    });
  });

  it.each<[string, object, object, string]>([
    ["given", { externalIPs: ["1.1.1.1", "2.2.2.2"] }, {}, "1.1.1.1,2.2.2.2"],
    ["awaited", { type: "LoadBalancer" }, {}, "<pending>"],
    [
      "of a load balancer",
      { type: "LoadBalancer", externalIPs: ["9.9.9.9"] },
      { loadBalancer: { ingress: [{ hostname: "b" }, { ip: "1.1.1.1" }, { hostname: "b" }] } },
      "1.1.1.1,b,9.9.9.9",
    ],
    ["a name", { type: "ExternalName", externalName: "example.com" }, {}, "example.com"],
    ["of another type", { type: "Other" }, {}, "<unknown>"],
  ])("an address outside: %s", (_name, spec, status, text) => {
    const cells = cellsOf(Service, { metadata: created, spec, status });
    expect(cells).toMatchObject({
      "External-IP": text,
      "Cluster-IP": "<none>",
      "Port(s)": "<none>",
      Selector: "<none>",
    });
  });

  it("selects by address and type", () => {
    const object = readAs(Service, service({ clusterIP: "None" }));
    expect(Service.selectable["spec.clusterIP"]!(object)).toBe("None");
    expect(Service.selectable["spec.type"]!(object)).toBe("ClusterIP");
  });
});
