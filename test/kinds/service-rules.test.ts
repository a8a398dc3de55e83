import { describe, expect, it } from "vitest";
import { Service } from "../../src/kinds/core/service/service.ts";
import { judgeNew } from "./support.ts";
import { port, service } from "./service-support.ts";

describe("Service", () => {
  it.each<[string, object, string[]]>([
    ["accepts a minimal Service", { ports: [port] }, []],
    ["rejects a missing list of ports", {}, ["spec.ports: FieldValueRequired"]],
    ["accepts a headless Service without ports", { clusterIP: "None" }, []],
    [
      "accepts an ExternalName Service without ports",
      { type: "ExternalName", externalName: "a.example.com." },
      [],
    ],
    [
      "rejects an ExternalName Service without externalName",
      { type: "ExternalName" },
      ["spec.externalName: FieldValueRequired"],
    ],
    [
      "rejects a malformed externalName",
      { type: "ExternalName", externalName: "-a" },
      ["spec.externalName: FieldValueInvalid"],
    ],
    [
      "rejects clusterIP and ipFamilies with type ExternalName",
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
    ["rejects an unknown type", { type: "Other", ports: [port] }, ["spec.type: FieldValueNotSupported"]],
    [
      "rejects two ports without names",
      { ports: [port, { port: 81 }] },
      ["spec.ports[0].name: FieldValueRequired", "spec.ports[1].name: FieldValueRequired"],
    ],
    [
      "rejects duplicate and malformed port names",
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
      "rejects a duplicate port and protocol",
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
      "rejects a duplicate nodePort and protocol",
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
      "rejects a nodePort with type ClusterIP",
      { ports: [{ port: 1, nodePort: 30_000 }] },
      ["spec.ports[0].nodePort: FieldValueForbidden"],
    ],
    [
      "rejects a port without a number",
      { ports: [{ name: "a" }] },
      ["spec.ports[0].port: FieldValueInvalid", "spec.ports[0].targetPort: FieldValueInvalid"],
    ],
    [
      "rejects a malformed protocol, targetPort and appProtocol",
      { ports: [{ port: 1, protocol: "X", targetPort: "a--b", appProtocol: "a b" }] },
      [
        "spec.ports[0].protocol: FieldValueNotSupported",
        "spec.ports[0].targetPort: FieldValueInvalid",
        "spec.ports[0].appProtocol: FieldValueInvalid",
      ],
    ],
    [
      "rejects port 10250 with type LoadBalancer",
      { type: "LoadBalancer", ports: [{ port: 10_250 }] },
      ["spec.ports[0]: FieldValueInvalid"],
    ],
    [
      "rejects a headless Service with type NodePort",
      { type: "NodePort", clusterIP: "None", ports: [port] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "rejects a malformed selector",
      { ports: [port], selector: { "a b": "c" } },
      ["spec.selector: FieldValueInvalid"],
    ],
    [
      "rejects an unknown sessionAffinity",
      { ports: [port], sessionAffinity: "Cookie" },
      ["spec.sessionAffinity: FieldValueNotSupported"],
    ],
    [
      "rejects a ClientIP timeout above 86400 seconds",
      {
        ports: [port],
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
      },
      ["spec.sessionAffinityConfig.clientIP.timeoutSeconds: FieldValueInvalid"],
    ],
    [
      "rejects externalIPs that are malformed, unspecified, loopback, link-local or multicast",
      {
        ports: [port],
        externalIPs: ["1.2.3.4", "x", "127.0.0.1", "169.254.0.1", "::", "fe80::1", "ff02::5"],
      },
      [1, 2, 3, 4, 5, 6].map((index) => `spec.externalIPs[${index}]: FieldValueInvalid`),
    ],
    [
      "rejects loadBalancerSourceRanges with type ClusterIP",
      { ports: [port], loadBalancerSourceRanges: ["10.0.0.0/8"] },
      ["spec.LoadBalancerSourceRanges: FieldValueForbidden"],
    ],
    [
      "rejects a malformed range in loadBalancerSourceRanges",
      { type: "LoadBalancer", ports: [port], loadBalancerSourceRanges: [" 10.0.0.0/8 ", "10.0.0.0/33"] },
      ["spec.LoadBalancerSourceRanges: FieldValueInvalid"],
    ],
    [
      "rejects load balancer fields with type ClusterIP",
      { ports: [port], allocateLoadBalancerNodePorts: true, loadBalancerClass: "a/b" },
      [
        "spec.allocateLoadBalancerNodePorts: FieldValueForbidden",
        "spec.loadBalancerClass: FieldValueForbidden",
      ],
    ],
    [
      "rejects a malformed loadBalancerClass",
      { type: "LoadBalancer", ports: [port], loadBalancerClass: "a b" },
      ["spec.loadBalancerClass: FieldValueInvalid"],
    ],
    [
      "rejects externalTrafficPolicy and healthCheckNodePort with type ClusterIP",
      { ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 30_000 },
      ["spec.externalTrafficPolicy: FieldValueInvalid", "spec.healthCheckNodePort: FieldValueInvalid"],
    ],
    [
      "rejects unknown traffic policies",
      { type: "NodePort", ports: [port], externalTrafficPolicy: "X", internalTrafficPolicy: "Y" },
      [
        "spec.externalTrafficPolicy: FieldValueNotSupported",
        "spec.internalTrafficPolicy: FieldValueNotSupported",
      ],
    ],
    [
      "rejects a healthCheckNodePort above 65535",
      { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 70_000 },
      ["spec.healthCheckNodePort: FieldValueInvalid"],
    ],
    [
      "accepts an IPv4 and an IPv6 address",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] },
      [],
    ],
    [
      "rejects a clusterIP that differs from clusterIPs[0]",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "rejects clusterIPs without clusterIP",
      { ports: [port], clusterIPs: ["10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "rejects a malformed clusterIP",
      { ports: [port], clusterIP: "x" },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
    [
      "rejects a headless Service with an address",
      { ports: [port], clusterIP: "None", clusterIPs: ["None", "10.0.0.1"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "rejects two addresses of the same family",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "rejects three addresses",
      { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1", "fd00::2"] },
      ["spec.clusterIPs: FieldValueInvalid"],
    ],
    [
      "rejects duplicate and unknown ipFamilies, and an unknown ipFamilyPolicy",
      { ports: [port], ipFamilies: ["IPv4", "IPv4", "IPv5"], ipFamilyPolicy: "Some" },
      [
        "spec.ipFamilies[1]: FieldValueDuplicate",
        "spec.ipFamilies[2]: FieldValueNotSupported",
        "spec.ipFamilyPolicy: FieldValueNotSupported",
      ],
    ],
    [
      "rejects an address that is not in ipFamilies",
      { ports: [port], clusterIP: "10.0.0.1", ipFamilies: ["IPv6"] },
      ["spec.clusterIPs[0]: FieldValueInvalid"],
    ],
  ])("%s", (_name, spec, faults) => {
    expect(judgeNew(Service, service(spec)).faults.toSorted()).toEqual(faults.toSorted());
  });

  it("validates source ranges in the annotation load-balancer-source-ranges", () => {
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

  it("returns a truncated list of errors for 50,000 invalid ports", () => {
    const ports = Array.from({ length: 50_000 }, () => ({ port: 1 }));
    expect(judgeNew(Service, service({ ports })).faults.length).toBe(257);
  });
});
