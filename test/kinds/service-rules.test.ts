import { describe, expect, it } from "vitest";
import { Service } from "../../src/kinds/core/service/service.ts";
import { judgeNew } from "./support.ts";
import { port, service } from "./service-support.ts";

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
