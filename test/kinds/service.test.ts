import { describe, expect, it } from "vitest";
import { Service } from "../../src/kinds/core/service/service.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";
import { port, service } from "./service-support.ts";

describe("Service: defaults", () => {
  it.each([
    [
      "a minimal Service gets default values",
      { ports: [port] },
      {
        ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
        type: "ClusterIP",
        sessionAffinity: "None",
        internalTrafficPolicy: "Cluster",
      },
    ],
    [
      "a LoadBalancer gets externalTrafficPolicy and allocateLoadBalancerNodePorts",
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
      "an ExternalName Service gets only sessionAffinity",
      { type: "ExternalName", externalName: "example.com" },
      { type: "ExternalName", sessionAffinity: "None", externalName: "example.com" },
    ],
    [
      "sessionAffinity ClientIP gets a timeout of 10800 seconds",
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
      "sessionAffinityConfig is dropped when sessionAffinity is None",
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

describe("Service: fields set by the server on create and update", () => {
  it("the status of a create request is ignored, and clusterIPs defaults to clusterIP", () => {
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
      "an update without clusterIP and nodePort keeps the allocated values",
      nodePort,
      { type: "NodePort", ports: [{ name: "a", port: 2 }] },
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ports: [{ port: 2, nodePort: 30_001 }] },
    ],
    [
      "a nodePort that the update assigns to another port is not kept",
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
      "an update without healthCheckNodePort keeps it",
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 30_002 },
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local" },
      { healthCheckNodePort: 30_002 },
    ],
    [
      "a change to SingleStack releases the second address",
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

  it("a change to type ExternalName drops cluster IPs, node ports and traffic policies", () => {
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

  it("a change from LoadBalancer to ClusterIP drops the fields of load balancers", () => {
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

describe("Service: validation of updates", () => {
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
      "a changed clusterIP is rejected",
      single,
      { ...single, clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "a changed clusterIP with unchanged clusterIPs is rejected",
      single,
      { ...single, clusterIP: "10.0.0.2" },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    ["adding a second IP family is allowed", single, { ...dual }, []],
    [
      "a changed secondary address is rejected",
      dual,
      { ...dual, clusterIPs: ["10.0.0.1", "fd00::2"] },
      ["spec.clusterIPs[1]: FieldValueInvalid"],
    ],
    [
      "removing the second address without ipFamilyPolicy SingleStack is rejected",
      dual,
      { ...dual, clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
      ["spec.ipFamilyPolicy: FieldValueInvalid", "spec.ipFamilyPolicy: FieldValueInvalid"],
    ],
    [
      "a changed primary IP family is rejected",
      single,
      { ...single, ipFamilies: ["IPv6"] },
      ["spec.clusterIPs[0]: FieldValueInvalid", "spec.ipFamilies[0]: FieldValueInvalid"],
    ],
    [
      "a change to a headless Service is rejected",
      single,
      { ports: [port], clusterIP: "None", clusterIPs: ["None"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "a change from ExternalName to ClusterIP is allowed",
      { type: "ExternalName", externalName: "a" },
      { ports: [port], clusterIP: "10.0.0.2" },
      [],
    ],
    [
      "a changed loadBalancerClass is rejected",
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/b" },
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/c" },
      ["spec.loadBalancerClass: FieldValueInvalid"],
    ],
    [
      "a change to LoadBalancer may set loadBalancerClass",
      { type: "NodePort", ports: [port] },
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a/c" },
      [],
    ],
  ])("%s", (_name, before, now, faults) => {
    expect(judgeUpdate(Service, service(before), service(now)).faults.toSorted()).toEqual(faults);
  });

  it("the status subresource validates the ingress addresses and changes only the status", () => {
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

describe("Service: table cells and selectable fields", () => {
  const created = { name: "web", creationTimestamp: "2023-12-31T23:00:00Z" };
  it("shows the table cells of a ClusterIP Service", () => {
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
    ["shows externalIPs", { externalIPs: ["1.1.1.1", "2.2.2.2"] }, {}, "1.1.1.1,2.2.2.2"],
    ["shows <pending> for a LoadBalancer without ingress", { type: "LoadBalancer" }, {}, "<pending>"],
    [
      "shows ingress addresses and externalIPs, sorted and without duplicates",
      { type: "LoadBalancer", externalIPs: ["9.9.9.9"] },
      { loadBalancer: { ingress: [{ hostname: "b" }, { ip: "1.1.1.1" }, { hostname: "b" }] } },
      "1.1.1.1,b,9.9.9.9",
    ],
    ["shows the externalName", { type: "ExternalName", externalName: "example.com" }, {}, "example.com"],
    ["shows <unknown> for an unknown type", { type: "Other" }, {}, "<unknown>"],
  ])("External-IP cell: %s", (_name, spec, status, text) => {
    const cells = cellsOf(Service, { metadata: created, spec, status });
    expect(cells).toMatchObject({
      "External-IP": text,
      "Cluster-IP": "<none>",
      "Port(s)": "<none>",
      Selector: "<none>",
    });
  });

  it("supports the field selectors spec.clusterIP and spec.type", () => {
    const object = readAs(Service, service({ clusterIP: "None" }));
    expect(Service.selectable["spec.clusterIP"]!(object)).toBe("None");
    expect(Service.selectable["spec.type"]!(object)).toBe("ClusterIP");
  });
});
