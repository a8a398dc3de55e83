import { describe, expect, it } from "vitest";
import { ClusterCIDR } from "../../src/kinds/networking/cluster-cidr.ts";
import { IngressClass } from "../../src/kinds/networking/ingress-class.ts";
import { Ingress } from "../../src/kinds/networking/ingress.ts";
import { NetworkPolicy } from "../../src/kinds/networking/network-policy.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const context = { vocabulary: platform, enabled: () => false, subresource: "" };

const web = { service: { name: "web", port: { number: 80 } } };
const path = (change: object) => ({ path: "/", pathType: "Prefix", backend: web, ...change });
const rule = (change: object, host?: string) => ({ rules: [{ host, http: { paths: [path(change)] } }] });
const ingress = (spec: object, metadata: object = {}) => ({ metadata: { name: "i", ...metadata }, spec });

describe("Ingress", () => {
  it("a minimal object is valid, and the status of the request is ignored", () => {
    const { object, faults } = judgeNew(Ingress, {
      ...ingress({ defaultBackend: web }),
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
    });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ defaultBackend: web });
    expect(object["status"]).toEqual({ loadBalancer: {} });
  });

  const place = "spec.rules[0].http.paths[0]";
  it.each<[string, object, string[]]>([
    ["nothing", {}, ["spec: FieldValueInvalid"]],
    ["a rule", rule({}, "a.example.com"), []],
    ["every subdomain", rule({}, "*.example.com"), []],
    ["a rule without paths of its own", { rules: [{ host: "a.b" }] }, []],
    ["an address as host", rule({}, "1.2.3.4"), ["spec.rules[0].host: FieldValueInvalid"]],
    ["a star inside", rule({}, "a.*.b"), ["spec.rules[0].host: FieldValueInvalid"]],
    ["no host name", rule({}, "A"), ["spec.rules[0].host: FieldValueInvalid"]],
    ["no paths", { rules: [{ http: { paths: [] } }] }, ["spec.rules[0].http.paths: FieldValueRequired"]],
    ["paths that are missing", { rules: [{ http: {} }] }, ["spec.rules[0].http.paths: FieldValueRequired"]],
    ["no type", rule({ pathType: undefined }), [`${place}.pathType: FieldValueRequired`]],
    // It isn't looked into.
    [
      "no type and no backend",
      rule({ pathType: undefined, backend: {} }),
      [`${place}.pathType: FieldValueRequired`],
    ],
    ["no backend", rule({ backend: {} }), [`${place}.backend: FieldValueInvalid`]],
    ["another type", rule({ pathType: "Regex" }), [`${place}.pathType: FieldValueNotSupported`]],
    ["no path", rule({ path: "" }), [`${place}.path: FieldValueInvalid`]],
    ["no path where none is needed", rule({ path: "", pathType: "ImplementationSpecific" }), []],
    [
      "a relative path",
      rule({ path: "a", pathType: "ImplementationSpecific" }),
      [`${place}.path: FieldValueInvalid`],
    ],
    [
      "a path with steps",
      rule({ path: "/a/../b//c%2F/." }),
      [0, 1, 2, 3].map(() => `${place}.path: FieldValueInvalid`),
    ],
    [
      "a path with steps where they are allowed",
      rule({ path: "/a/../b", pathType: "ImplementationSpecific" }),
      [],
    ],
    ["no backend", rule({ backend: {} }), [`${place}.backend: FieldValueInvalid`]],
    [
      "two backends",
      rule({ backend: { ...web, resource: { apiGroup: "a.b", kind: "Bucket", name: "x" } } }),
      [`${place}.backend: FieldValueInvalid`],
    ],
    ["another object", { defaultBackend: { resource: { apiGroup: "a.b", kind: "Bucket", name: "x" } } }, []],
    [
      "another object without anything",
      { defaultBackend: { resource: {} } },
      [
        "spec.defaultBackend.resource.kind: FieldValueRequired",
        "spec.defaultBackend.resource.name: FieldValueRequired",
      ],
    ],
    [
      "another object with wrong names",
      { defaultBackend: { resource: { apiGroup: "A", kind: "a/b", name: ".." } } },
      ["apiGroup", "kind", "name"].map((name) => `spec.defaultBackend.resource.${name}: FieldValueInvalid`),
    ],
    [
      "a service without a name and port",
      { defaultBackend: { service: {} } },
      ["spec.defaultBackend.service.name: FieldValueRequired", "spec.defaultBackend: FieldValueRequired"],
    ],
    [
      "a service's name and port",
      { defaultBackend: { service: { name: "1a", port: { number: 70_000 } } } },
      [
        "spec.defaultBackend.service.name: FieldValueInvalid",
        "spec.defaultBackend.service.port.number: FieldValueInvalid",
      ],
    ],
    [
      "a port's name",
      { defaultBackend: { service: { name: "a", port: { name: "--" } } } },
      Array.from({ length: 3 }, () => "spec.defaultBackend.service.port.name: FieldValueInvalid"),
    ],
    [
      "a port with name and number",
      { defaultBackend: { service: { name: "a", port: { name: "b", number: 1 } } } },
      ["spec.defaultBackend: FieldValueInvalid"],
    ],
    [
      "certificates",
      { defaultBackend: web, tls: [{}, { hosts: ["*.a.b", "A", "a*"], secretName: "B" }] },
      [
        "spec.tls[1].hosts[1]: FieldValueInvalid",
        "spec.tls[1].hosts[2]: FieldValueInvalid",
        "spec.tls[1].secretName: FieldValueInvalid",
      ],
    ],
    ["a class", { defaultBackend: web, ingressClassName: "A" }, ["spec.ingressClassName: FieldValueInvalid"]],
  ])("rules: %s", (_name, spec, faults) => {
    expect(judgeNew(Ingress, ingress(spec)).faults).toEqual(faults);
  });

  const annotated = { annotations: { "platform.io/ingress.class": "a" } };
  it("a new one names its class in one place", () => {
    const both = ingress({ defaultBackend: web, ingressClassName: "a" }, annotated);
    expect(judgeNew(Ingress, both).faults).toEqual([
      "annotations.platform.io/ingress.class: FieldValueInvalid",
    ]);
    expect(judgeUpdate(Ingress, ingress({ defaultBackend: web }), both).faults).toEqual([]);
  });

  it("warns of the older place", () => {
    const object = readAs(Ingress, ingress({ defaultBackend: web }, annotated));
    expect(Ingress.warnings!(object, context, undefined)).toEqual([
      `annotation "platform.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ]);
    expect(Ingress.warnings!(object, context, object)).toEqual([]);
    expect(Ingress.warnings!(readAs(Ingress, ingress({})), context, undefined)).toEqual([]);
  });

  it("the status subresource changes only the status", () => {
    const before = ingress({ defaultBackend: web });
    const now = { ...ingress({}), status: { loadBalancer: { ingress: [{ ip: "x" }] } } };
    const { object, faults } = judgeUpdate(Ingress, before, now, { subresource: "status" });
    expect(object["spec"]).toEqual({ defaultBackend: web });
    expect(faults).toEqual(["status.loadBalancer.ingress[0].ip: FieldValueInvalid"]);
    expect(judgeUpdate(Ingress, before, now).object["status"]).toEqual({ loadBalancer: {} });
  });

  it.each<[object, object, object]>([
    [{}, {}, { Class: "<none>", Hosts: "*", Address: "", Ports: "80" }],
    [
      { ingressClassName: "a", rules: [{ host: "a" }, {}, { host: "b" }], tls: [{}] },
      { loadBalancer: { ingress: [{ ip: "2.2.2.2" }, { hostname: "1.example.com" }, { ip: "2.2.2.2" }] } },
      { Class: "a", Hosts: "a,b", Address: "1.example.com,2.2.2.2", Ports: "80, 443" },
    ],
    [{ rules: ["a", "b", "c", "d", ""].map((host) => ({ host })) }, {}, { Hosts: "a,b,c + 2 more..." }],
  ])("cells: %j", (spec, status, cells) => {
    expect(cellsOf(Ingress, { ...ingress(spec), status })).toMatchObject({ Name: "i", ...cells });
  });
});

describe("IngressClass", () => {
  const controller = "example.com/c";
  const parameters = { kind: "K", name: "n" };
  it("the smallest one, and the default of its parameters", () => {
    const { object, faults } = judgeNew(IngressClass, { spec: { controller, parameters } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ controller, parameters: { ...parameters, scope: "Cluster" } });
  });

  it.each<[string, object, string[]]>([
    ["no controller", {}, ["spec.controller: FieldValueRequired"]],
    ["a controller without a path", { controller: "a.b" }, ["spec.controller: FieldValueInvalid"]],
    [
      "a controller with bad parts",
      { controller: "A/b c" },
      [0, 1].map(() => "spec.controller: FieldValueInvalid"),
    ],
    ["a long controller", { controller: `a.b/${"c".repeat(250)}` }, ["spec.controller: FieldValueTooLong"]],
    [
      "parameters without anything",
      { controller, parameters: {} },
      ["spec.parameters.kind: FieldValueRequired", "spec.parameters.name: FieldValueRequired"],
    ],
    [
      "another scope",
      { controller, parameters: { ...parameters, scope: "Global" } },
      ["spec.parameters.scope: FieldValueNotSupported"],
    ],
    [
      "a namespace that is missing",
      { controller, parameters: { ...parameters, scope: "Namespace" } },
      ["spec.parameters.namespace: FieldValueRequired"],
    ],
    [
      "a namespace that is none",
      { controller, parameters: { ...parameters, scope: "Namespace", namespace: "a.b" } },
      ["spec.parameters.namespace: FieldValueInvalid"],
    ],
    [
      "a namespace that is too much",
      { controller, parameters: { ...parameters, namespace: "a" } },
      ["spec.parameters.namespace: FieldValueForbidden"],
    ],
  ])("rules: %s", (_name, spec, faults) => {
    expect(judgeNew(IngressClass, { spec }).faults.toSorted()).toEqual(faults.toSorted());
  });

  it("the controller stays", () => {
    const before = { spec: { controller } };
    expect(judgeUpdate(IngressClass, before, { spec: { controller, parameters } }).faults).toEqual([]);
    expect(judgeUpdate(IngressClass, before, { spec: { controller: "a.b/c" } }).faults).toEqual([
      "spec.controller: FieldValueInvalid",
    ]);
  });

  it("shows its table cells", () => {
    expect(cellsOf(IngressClass, { spec: { controller } })).toMatchObject({
      Controller: controller,
      Parameters: "<none>",
    });
    const spec = { controller, parameters: { ...parameters, apiGroup: "a.b" } };
    expect(cellsOf(IngressClass, { spec })).toMatchObject({ Parameters: "K.a.b/n" });
    expect(cellsOf(IngressClass, { spec: { parameters } })).toMatchObject({ Parameters: "K/n" });
  });
});

describe("NetworkPolicy", () => {
  it.each<[object, string[]]>([
    [{}, ["Ingress"]],
    [{ ingress: [{}] }, ["Ingress"]],
    [{ egress: [{}] }, ["Ingress", "Egress"]],
    [{ egress: [{}], policyTypes: ["Egress"] }, ["Egress"]],
  ])("the directions of %j", (spec, policyTypes) => {
    const { object, faults } = judgeNew(NetworkPolicy, { spec });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ podSelector: {}, ...spec, policyTypes });
    expect(object["status"]).toEqual({});
  });

  const from = (peer: object) => ({ ingress: [{ from: [peer] }] });
  const ports = (...all: object[]) => ({ egress: [{ ports: all }] });
  const peer = "spec.ingress[0].from[0]";
  const port = "spec.egress[0].ports[0]";
  it("the protocol's default", () => {
    const { object } = judgeNew(NetworkPolicy, { spec: ports({ port: 1 }) });
    expect(object["spec"]).toMatchObject(ports({ protocol: "TCP", port: 1 }));
  });

  it.each<[string, object, string[]]>([
    [
      "peers",
      {
        ingress: [
          {
            from: [
              { podSelector: {} },
              { namespaceSelector: {}, podSelector: { matchLabels: { a: "b" } } },
              { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
            ],
          },
        ],
      },
      [],
    ],
    ["nobody", from({}), [`${peer}: FieldValueRequired`]],
    [
      "somebody twice",
      from({ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }),
      [`${peer}: FieldValueForbidden`],
    ],
    [
      "a selector",
      from({ podSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
      [`${peer}.podSelector.matchExpressions[0].operator: FieldValueInvalid`],
    ],
    ["no range", from({ ipBlock: {} }), [`${peer}.ipBlock.cidr: FieldValueRequired`]],
    [
      "a range that is none",
      from({ ipBlock: { cidr: "10.0.0.0" } }),
      [`${peer}.ipBlock.cidr: FieldValueInvalid`],
    ],
    [
      "exceptions",
      from({
        ipBlock: {
          cidr: "10.0.0.0/8",
          except: ["10.0.0.0/8", "11.0.0.0/16", "10.0.0.0/7", "fd00::/64", "x"],
        },
      }),
      [0, 1, 2, 3, 4].map((index) => `${peer}.ipBlock.except[${index}]: FieldValueInvalid`),
    ],
    ["ranges of ports", ports({ port: 10, endPort: 20 }), []],
    ["a range that goes back", ports({ port: 10, endPort: 9 }), [`${port}.endPort: FieldValueInvalid`]],
    ["a range without a beginning", ports({ endPort: 9 }), [`${port}.endPort: FieldValueInvalid`]],
    ["a range from a name", ports({ port: "http", endPort: 9 }), [`${port}.endPort: FieldValueInvalid`]],
    ["a port", ports({ port: 70_000 }), [`${port}.port: FieldValueInvalid`]],
    ["a protocol", ports({ protocol: "X" }), [`${port}.protocol: FieldValueNotSupported`]],
    ["another direction", { policyTypes: ["Up"] }, ["spec.policyTypes[0]: FieldValueNotSupported"]],
    [
      "three directions",
      { policyTypes: ["Egress", "Ingress", "Egress"] },
      ["spec.policyTypes: FieldValueInvalid"],
    ],
  ])("rules: %s", (_name, spec, faults) => {
    expect(judgeNew(NetworkPolicy, { spec }).faults).toEqual(faults);
  });

  it("shows its table cells", () => {
    const podSelector = {
      matchLabels: { b: "1" },
      matchExpressions: [
        { key: "c", operator: "NotIn", values: ["y", "x"] },
        { key: "a", operator: "Exists" },
      ],
    };
    expect(cellsOf(NetworkPolicy, { spec: { podSelector } })).toMatchObject({
      "Pod-Selector": "a,b=1,c notin (x,y)",
    });
    expect(cellsOf(NetworkPolicy, {})).toMatchObject({ "Pod-Selector": "<none>" });
  });
});

describe("ClusterCIDR", () => {
  const spec = { ipv4: "10.0.0.0/16", perNodeHostBits: 8 };
  it.each<[string, object, string[]]>([
    ["the smallest one", spec, []],
    ["no range", { perNodeHostBits: 8 }, ["spec: FieldValueRequired"]],
    ["a range that is none", { ...spec, ipv4: "x" }, ["spec.IPv4: FieldValueInvalid"]],
    ["a range of the other family", { ...spec, ipv6: "10.0.0.0/8" }, ["spec.IPv6: FieldValueInvalid"]],
    ["too little for a node", { ...spec, perNodeHostBits: 3 }, ["spec.perNodeHostBits: FieldValueInvalid"]],
    ["too much for a node", { ...spec, perNodeHostBits: 17 }, ["spec.perNodeHostBits: FieldValueInvalid"]],
  ])("rules: %s", (_name, value, faults) => {
    expect(judgeNew(ClusterCIDR, { spec: value }).faults).toEqual(faults);
  });

  it("stays as it is", () => {
    const other = { ipv4: "10.0.0.0/12", ipv6: "fd00::/64", perNodeHostBits: 9, nodeSelector: selector };
    expect(judgeUpdate(ClusterCIDR, { spec }, { spec: other }).faults).toEqual(
      ["nodeSelector", "perNodeHostBits", "ipv4", "ipv6"].map((name) => `spec.${name}: FieldValueInvalid`),
    );
  });

  const selector = {
    nodeSelectorTerms: [
      {
        matchExpressions: [
          { key: "a", operator: "In", values: ["b", "c"] },
          { key: "d", operator: "Exists" },
        ],
        matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }],
      },
    ],
  };
  it("shows its table cells", () => {
    expect(cellsOf(ClusterCIDR, { spec })).toMatchObject({
      PerNodeHostBits: "8",
      IPv4: "10.0.0.0/16",
      IPv6: "<none>",
      NodeSelector: "<none>",
    });
    expect(cellsOf(ClusterCIDR, { spec: { ...spec, nodeSelector: selector } })).toMatchObject({
      NodeSelector: "MatchExpressions: [{a In [b c]} {d Exists []}],MatchFields: [{metadata.name In [n]}]",
    });
  });
});
