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
    ["rejects an empty spec", {}, ["spec: FieldValueInvalid"]],
    ["accepts a rule with host, path and backend", rule({}, "a.example.com"), []],
    ["accepts a wildcard host", rule({}, "*.example.com"), []],
    ["accepts a rule with a host only", { rules: [{ host: "a.b" }] }, []],
    ["rejects an IP address as the host", rule({}, "1.2.3.4"), ["spec.rules[0].host: FieldValueInvalid"]],
    ["rejects a wildcard inside the host", rule({}, "a.*.b"), ["spec.rules[0].host: FieldValueInvalid"]],
    ["rejects a host in upper case", rule({}, "A"), ["spec.rules[0].host: FieldValueInvalid"]],
    [
      "rejects an empty list of paths",
      { rules: [{ http: { paths: [] } }] },
      ["spec.rules[0].http.paths: FieldValueRequired"],
    ],
    ["rejects missing paths", { rules: [{ http: {} }] }, ["spec.rules[0].http.paths: FieldValueRequired"]],
    ["rejects a missing pathType", rule({ pathType: undefined }), [`${place}.pathType: FieldValueRequired`]],
    // The fields of such a path are not validated further.
    [
      "rejects a missing pathType together with an empty backend",
      rule({ pathType: undefined, backend: {} }),
      [`${place}.pathType: FieldValueRequired`],
    ],
    ["rejects an empty backend", rule({ backend: {} }), [`${place}.backend: FieldValueInvalid`]],
    ["rejects pathType Regex", rule({ pathType: "Regex" }), [`${place}.pathType: FieldValueNotSupported`]],
    ["rejects an empty path", rule({ path: "" }), [`${place}.path: FieldValueInvalid`]],
    [
      "accepts an empty path with pathType ImplementationSpecific",
      rule({ path: "", pathType: "ImplementationSpecific" }),
      [],
    ],
    [
      "rejects a relative path with pathType ImplementationSpecific",
      rule({ path: "a", pathType: "ImplementationSpecific" }),
      [`${place}.path: FieldValueInvalid`],
    ],
    [
      "rejects a path with dot segments, an empty segment and an encoded slash",
      rule({ path: "/a/../b//c%2F/." }),
      [0, 1, 2, 3].map(() => `${place}.path: FieldValueInvalid`),
    ],
    [
      "accepts a path with dot segments and pathType ImplementationSpecific",
      rule({ path: "/a/../b", pathType: "ImplementationSpecific" }),
      [],
    ],
    ["rejects an empty backend", rule({ backend: {} }), [`${place}.backend: FieldValueInvalid`]],
    [
      "rejects a backend with both service and resource",
      rule({ backend: { ...web, resource: { apiGroup: "a.b", kind: "Bucket", name: "x" } } }),
      [`${place}.backend: FieldValueInvalid`],
    ],
    [
      "accepts a backend with a resource",
      { defaultBackend: { resource: { apiGroup: "a.b", kind: "Bucket", name: "x" } } },
      [],
    ],
    [
      "rejects a backend with an empty resource",
      { defaultBackend: { resource: {} } },
      [
        "spec.defaultBackend.resource.kind: FieldValueRequired",
        "spec.defaultBackend.resource.name: FieldValueRequired",
      ],
    ],
    [
      "rejects a backend with a malformed resource",
      { defaultBackend: { resource: { apiGroup: "A", kind: "a/b", name: ".." } } },
      ["apiGroup", "kind", "name"].map((name) => `spec.defaultBackend.resource.${name}: FieldValueInvalid`),
    ],
    [
      "rejects a backend with an empty service",
      { defaultBackend: { service: {} } },
      ["spec.defaultBackend.service.name: FieldValueRequired", "spec.defaultBackend: FieldValueRequired"],
    ],
    [
      "rejects a malformed service name and a port number above 65535",
      { defaultBackend: { service: { name: "1a", port: { number: 70_000 } } } },
      [
        "spec.defaultBackend.service.name: FieldValueInvalid",
        "spec.defaultBackend.service.port.number: FieldValueInvalid",
      ],
    ],
    [
      "rejects a malformed port name",
      { defaultBackend: { service: { name: "a", port: { name: "--" } } } },
      Array.from({ length: 3 }, () => "spec.defaultBackend.service.port.name: FieldValueInvalid"),
    ],
    [
      "rejects a port with both name and number",
      { defaultBackend: { service: { name: "a", port: { name: "b", number: 1 } } } },
      ["spec.defaultBackend: FieldValueInvalid"],
    ],
    [
      "rejects malformed hosts and secret names in tls",
      { defaultBackend: web, tls: [{}, { hosts: ["*.a.b", "A", "a*"], secretName: "B" }] },
      [
        "spec.tls[1].hosts[1]: FieldValueInvalid",
        "spec.tls[1].hosts[2]: FieldValueInvalid",
        "spec.tls[1].secretName: FieldValueInvalid",
      ],
    ],
    [
      "rejects a malformed ingressClassName",
      { defaultBackend: web, ingressClassName: "A" },
      ["spec.ingressClassName: FieldValueInvalid"],
    ],
  ])("%s", (_name, spec, faults) => {
    expect(judgeNew(Ingress, ingress(spec)).faults).toEqual(faults);
  });

  const annotated = { annotations: { "platform.io/ingress.class": "a" } };
  it("on create, ingressClassName and the class annotation are mutually exclusive", () => {
    const both = ingress({ defaultBackend: web, ingressClassName: "a" }, annotated);
    expect(judgeNew(Ingress, both).faults).toEqual([
      "annotations.platform.io/ingress.class: FieldValueInvalid",
    ]);
    expect(judgeUpdate(Ingress, ingress({ defaultBackend: web }), both).faults).toEqual([]);
  });

  it("returns a deprecation warning for the class annotation when it is added", () => {
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
  ])("shows its table cells for spec %j", (spec, status, cells) => {
    expect(cellsOf(Ingress, { ...ingress(spec), status })).toMatchObject({ Name: "i", ...cells });
  });
});

describe("IngressClass", () => {
  const controller = "example.com/c";
  const parameters = { kind: "K", name: "n" };
  it("a minimal object is valid, and the scope of its parameters defaults to Cluster", () => {
    const { object, faults } = judgeNew(IngressClass, { spec: { controller, parameters } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ controller, parameters: { ...parameters, scope: "Cluster" } });
  });

  it.each<[string, object, string[]]>([
    ["rejects a missing controller", {}, ["spec.controller: FieldValueRequired"]],
    ["rejects a controller without a path", { controller: "a.b" }, ["spec.controller: FieldValueInvalid"]],
    [
      "rejects a controller with a malformed domain and path",
      { controller: "A/b c" },
      [0, 1].map(() => "spec.controller: FieldValueInvalid"),
    ],
    [
      "rejects a controller above 250 characters",
      { controller: `a.b/${"c".repeat(250)}` },
      ["spec.controller: FieldValueTooLong"],
    ],
    [
      "rejects empty parameters",
      { controller, parameters: {} },
      ["spec.parameters.kind: FieldValueRequired", "spec.parameters.name: FieldValueRequired"],
    ],
    [
      "rejects an unknown scope",
      { controller, parameters: { ...parameters, scope: "Global" } },
      ["spec.parameters.scope: FieldValueNotSupported"],
    ],
    [
      "rejects parameters of scope Namespace without a namespace",
      { controller, parameters: { ...parameters, scope: "Namespace" } },
      ["spec.parameters.namespace: FieldValueRequired"],
    ],
    [
      "rejects parameters with a malformed namespace",
      { controller, parameters: { ...parameters, scope: "Namespace", namespace: "a.b" } },
      ["spec.parameters.namespace: FieldValueInvalid"],
    ],
    [
      "rejects parameters of scope Cluster with a namespace",
      { controller, parameters: { ...parameters, namespace: "a" } },
      ["spec.parameters.namespace: FieldValueForbidden"],
    ],
  ])("%s", (_name, spec, faults) => {
    expect(judgeNew(IngressClass, { spec }).faults.toSorted()).toEqual(faults.toSorted());
  });

  it("spec.controller is immutable", () => {
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
  ])("sets the default policyTypes of %j", (spec, policyTypes) => {
    const { object, faults } = judgeNew(NetworkPolicy, { spec });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ podSelector: {}, ...spec, policyTypes });
    expect(object["status"]).toEqual({});
  });

  const from = (peer: object) => ({ ingress: [{ from: [peer] }] });
  const ports = (...all: object[]) => ({ egress: [{ ports: all }] });
  const peer = "spec.ingress[0].from[0]";
  const port = "spec.egress[0].ports[0]";
  it("defaults the protocol of a port to TCP", () => {
    const { object } = judgeNew(NetworkPolicy, { spec: ports({ port: 1 }) });
    expect(object["spec"]).toMatchObject(ports({ protocol: "TCP", port: 1 }));
  });

  it.each<[string, object, string[]]>([
    [
      "accepts peers with selectors and an ipBlock",
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
    ["rejects an empty peer", from({}), [`${peer}: FieldValueRequired`]],
    [
      "rejects a peer with both podSelector and ipBlock",
      from({ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }),
      [`${peer}: FieldValueForbidden`],
    ],
    [
      "rejects a podSelector with an unknown operator",
      from({ podSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
      [`${peer}.podSelector.matchExpressions[0].operator: FieldValueInvalid`],
    ],
    ["rejects an ipBlock without cidr", from({ ipBlock: {} }), [`${peer}.ipBlock.cidr: FieldValueRequired`]],
    [
      "rejects an ipBlock with a malformed cidr",
      from({ ipBlock: { cidr: "10.0.0.0" } }),
      [`${peer}.ipBlock.cidr: FieldValueInvalid`],
    ],
    [
      "rejects ranges in except that are not inside the cidr",
      from({
        ipBlock: {
          cidr: "10.0.0.0/8",
          except: ["10.0.0.0/8", "11.0.0.0/16", "10.0.0.0/7", "fd00::/64", "x"],
        },
      }),
      [0, 1, 2, 3, 4].map((index) => `${peer}.ipBlock.except[${index}]: FieldValueInvalid`),
    ],
    ["accepts a port range", ports({ port: 10, endPort: 20 }), []],
    ["rejects endPort below port", ports({ port: 10, endPort: 9 }), [`${port}.endPort: FieldValueInvalid`]],
    ["rejects an endPort without a port", ports({ endPort: 9 }), [`${port}.endPort: FieldValueInvalid`]],
    [
      "rejects an endPort with a named port",
      ports({ port: "http", endPort: 9 }),
      [`${port}.endPort: FieldValueInvalid`],
    ],
    ["rejects a port above 65535", ports({ port: 70_000 }), [`${port}.port: FieldValueInvalid`]],
    ["rejects an unknown protocol", ports({ protocol: "X" }), [`${port}.protocol: FieldValueNotSupported`]],
    ["rejects policyType Up", { policyTypes: ["Up"] }, ["spec.policyTypes[0]: FieldValueNotSupported"]],
    [
      "rejects more than two policyTypes",
      { policyTypes: ["Egress", "Ingress", "Egress"] },
      ["spec.policyTypes: FieldValueInvalid"],
    ],
  ])("%s", (_name, spec, faults) => {
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
    ["accepts a minimal object", spec, []],
    ["rejects a missing IP range", { perNodeHostBits: 8 }, ["spec: FieldValueRequired"]],
    ["rejects a malformed IPv4 range", { ...spec, ipv4: "x" }, ["spec.IPv4: FieldValueInvalid"]],
    ["rejects an IPv4 range in spec.ipv6", { ...spec, ipv6: "10.0.0.0/8" }, ["spec.IPv6: FieldValueInvalid"]],
    [
      "rejects perNodeHostBits below 4",
      { ...spec, perNodeHostBits: 3 },
      ["spec.perNodeHostBits: FieldValueInvalid"],
    ],
    [
      "rejects perNodeHostBits above the host bits of the range",
      { ...spec, perNodeHostBits: 17 },
      ["spec.perNodeHostBits: FieldValueInvalid"],
    ],
  ])("%s", (_name, value, faults) => {
    expect(judgeNew(ClusterCIDR, { spec: value }).faults).toEqual(faults);
  });

  it("spec is immutable", () => {
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
