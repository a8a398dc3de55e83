import { describe } from "vitest";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

const long = "a".repeat(64);

describe("containers", () => {
  check([
    ["none", podWith({ containers: [] }), ["spec.containers: Required"]],
    ["no name", containerWith({ name: "" }), [`${c}.name: Required`]],
    ["name in upper case", containerWith({ name: "Main" }), [`${c}.name: Invalid`]],
    ["name too long", containerWith({ name: long }), [`${c}.name: Invalid`]],
    ["no image", containerWith({ image: "" }), [`${c}.image: Required`]],
    ["blanks around an image", containerWith({ image: " a " }), [`${c}.image: Invalid`]],
    ["name twice", podWith({ containers: [container, container] }), ["spec.containers[1].name: Duplicate"]],
    [
      "name of an init container",
      podWith({ initContainers: [container] }),
      ["spec.initContainers[0].name: Duplicate"],
    ],
    [
      "what init containers don't have",
      podWith({
        initContainers: [
          {
            name: "init",
            image: "a",
            lifecycle: { preStop: { exec: { command: ["a"] } } },
            livenessProbe: { exec: { command: ["a"] } },
            readinessProbe: { exec: { command: ["a"] } },
            startupProbe: { exec: { command: ["a"] } },
          },
        ],
      }),
      [
        "spec.initContainers[0].lifecycle: Forbidden",
        "spec.initContainers[0].livenessProbe: Forbidden",
        "spec.initContainers[0].readinessProbe: Forbidden",
        "spec.initContainers[0].startupProbe: Forbidden",
      ],
    ],
    ["pull policy", containerWith({ imagePullPolicy: "Often" }), [`${c}.imagePullPolicy: NotSupported`]],
    [
      "message policy",
      containerWith({ terminationMessagePolicy: "Mail" }),
      [`${c}.terminationMessagePolicy: NotSupported`],
    ],
  ]);
});

describe("ports", () => {
  const ports = (...list: Part[]) => containerWith({ ports: list });
  check([
    [
      "all well",
      ports({ name: "http", containerPort: 80 }, { name: "dns", containerPort: 53, protocol: "UDP" }),
      [],
    ],
    ["no number", ports({ name: "http" }), [`${c}.ports[0].containerPort: Required`]],
    ["number too great", ports({ containerPort: 65536 }), [`${c}.ports[0].containerPort: Invalid`]],
    ["host port", ports({ containerPort: 1, hostPort: -1 }), [`${c}.ports[0].hostPort: Invalid`]],
    ["name", ports({ containerPort: 1, name: "Web" }), [`${c}.ports[0].name: Invalid`]],
    ["protocol", ports({ containerPort: 1, protocol: "ICMP" }), [`${c}.ports[0].protocol: NotSupported`]],
    [
      "name twice",
      ports({ containerPort: 1, name: "a" }, { containerPort: 2, name: "a" }),
      [`${c}.ports[1].name: Duplicate`],
    ],
    [
      "host port twice",
      podWith({
        containers: [
          { ...container, ports: [{ containerPort: 1, hostPort: 9 }] },
          { ...container, name: "b", ports: [{ containerPort: 2, hostPort: 9 }] },
        ],
      }),
      ["spec.containers[1].ports[0].hostPort: Duplicate"],
    ],
    [
      "host port for two protocols, and of an init container",
      podWith({
        containers: [
          {
            ...container,
            ports: [
              { containerPort: 1, hostPort: 9 },
              { containerPort: 1, hostPort: 9, protocol: "UDP" },
            ],
          },
        ],
        initContainers: [{ name: "b", image: "a", ports: [{ containerPort: 2, hostPort: 9 }] }],
      }),
      [],
    ],
    [
      "another host port in the node's network",
      containerWith({ ports: [{ containerPort: 80, hostPort: 8080 }] }, { hostNetwork: true }),
      [`${c}.ports[0].containerPort: Invalid`],
    ],
  ]);
});

describe("environment", () => {
  const env = (...list: Part[]) => containerWith({ env: list });
  const from = (valueFrom: Part, more: Part = {}) => env({ name: "A", valueFrom, ...more });
  const field = (fieldPath: string, apiVersion = "v1") => from({ fieldRef: { apiVersion, fieldPath } });
  const resource = (ref: Part) => from({ resourceFieldRef: ref });
  const at = `${c}.env[0].valueFrom`;
  check([
    ["all well", env({ name: "A", value: "1" }, { name: "_b-c.D" }), []],
    ["no name", env({ value: "1" }), [`${c}.env[0].name: Required`]],
    ["name with a digit in front", env({ name: "1A" }), [`${c}.env[0].name: Invalid`]],
    ["name with dots in front", env({ name: "..A" }), [`${c}.env[0].name: Invalid`]],
    ["no source", from({}), [`${at}: Invalid`]],
    ["value and source", from({ secretKeyRef: { name: "s", key: "k" } }, { value: "1" }), [`${at}: Invalid`]],
    [
      "two sources",
      from({ secretKeyRef: { name: "s", key: "k" }, configMapKeyRef: { name: "s", key: "k" } }),
      [`${at}: Invalid`],
    ],
    [
      "key of a secret",
      from({ secretKeyRef: { name: "s", key: "a b" } }),
      [`${at}.secretKeyRef.key: Invalid`],
    ],
    ["no key", from({ configMapKeyRef: { name: "s" } }), [`${at}.configMapKeyRef.key: Required`]],
    ["no name of a map", from({ configMapKeyRef: { key: "s" } }), [`${at}.configMapKeyRef.name: Invalid`]],
    ["one label", field("metadata.labels['app']"), []],
    ["status.podIPs", field("status.podIPs"), []],
    ["all labels", field("metadata.labels"), [`${at}.fieldRef.fieldPath: NotSupported`]],
    ["unknown field", field("spec.what"), [`${at}.fieldRef.fieldPath: Invalid`]],
    ["key of a field without keys", field("metadata.name['a']"), [`${at}.fieldRef.fieldPath: Invalid`]],
    ["key that is no label", field("metadata.labels['a b']"), [`${at}.fieldRef: Invalid`]],
    ["unknown version", field("metadata.name", "v2"), [`${at}.fieldRef.fieldPath: Invalid`]],
    ["no path", from({ fieldRef: {} }), [`${at}.fieldRef.fieldPath: Required`]],
    ["resource", resource({ resource: "limits.cpu", divisor: "1m" }), []],
    ["pages", resource({ resource: "requests.hugepages-2Mi", divisor: "1Mi" }), []],
    ["no resource", resource({}), [`${at}.resourceFieldRef.resource: Required`]],
    [
      "unknown resource",
      resource({ resource: "limits.gpu" }),
      [`${at}.resourceFieldRef.resource: NotSupported`],
    ],
    [
      "unit that doesn't fit",
      resource({ resource: "limits.cpu", divisor: "1Mi" }),
      [`${at}.resourceFieldRef.divisor: Invalid`],
    ],
    [
      "sources of several",
      containerWith({
        envFrom: [{ configMapRef: { name: "a" } }, { secretRef: { name: "b" }, prefix: "P_" }],
      }),
      [],
    ],
    ["neither map nor secret", containerWith({ envFrom: [{}] }), [`${c}.envFrom: Invalid`]],
    [
      "both map and secret",
      containerWith({ envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
      [`${c}.envFrom: Invalid`],
    ],
    [
      "unnamed map",
      containerWith({ envFrom: [{ configMapRef: {} }] }),
      [`${c}.envFrom[0].configMapRef.name: Required`],
    ],
    [
      "prefix",
      containerWith({ envFrom: [{ configMapRef: { name: "a" }, prefix: "1" }] }),
      [`${c}.envFrom[0].prefix: Invalid`],
    ],
  ]);
});

describe("mounts", () => {
  const volumes = [
    { name: "data", emptyDir: {} },
    { name: "claim", persistentVolumeClaim: { claimName: "x" } },
  ];
  const use = (part: Part) => containerWith(part, { volumes });
  const mount = (...volumeMounts: Part[]) => use({ volumeMounts });
  const m = `${c}.volumeMounts`;
  const d = `${c}.volumeDevices`;
  check([
    [
      "all well",
      mount({ name: "data", mountPath: "/a", subPath: "b" }, { name: "data", mountPath: "/c" }),
      [],
    ],
    ["undeclared", mount({ name: "other", mountPath: "/a" }), [`${m}[0].name: NotFound`]],
    ["no name", mount({ mountPath: "/a" }), [`${m}[0].name: Required`, `${m}[0].name: NotFound`]],
    ["no path", mount({ name: "data" }), [`${m}[0].mountPath: Required`]],
    [
      "path twice",
      mount({ name: "data", mountPath: "/a" }, { name: "claim", mountPath: "/a" }),
      [`${m}[1].mountPath: Invalid`],
    ],
    ["absolute part", mount({ name: "data", mountPath: "/a", subPath: "/b" }), [`${m}[0].subPath: Invalid`]],
    [
      "part outside",
      mount({ name: "data", mountPath: "/a", subPathExpr: "a/../b" }),
      [`${m}[0].subPathExpr: Invalid`],
    ],
    [
      "two parts",
      mount({ name: "data", mountPath: "/a", subPath: "b", subPathExpr: "c" }),
      [`${m}[0].subPathExpr: Invalid`],
    ],
    [
      "propagation to the node",
      mount({ name: "data", mountPath: "/a", mountPropagation: "Bidirectional" }),
      [`${m}[0].mountPropagation: Forbidden`],
    ],
    [
      "propagation to the node with all rights",
      use({
        securityContext: { privileged: true },
        volumeMounts: [{ name: "data", mountPath: "/a", mountPropagation: "Bidirectional" }],
      }),
      [],
    ],
    [
      "unknown propagation",
      mount({ name: "data", mountPath: "/a", mountPropagation: "Up" }),
      [`${m}[0].mountPropagation: NotSupported`],
    ],
    ["device", use({ volumeDevices: [{ name: "claim", devicePath: "/dev/x" }] }), []],
    [
      "device of a directory",
      use({ volumeDevices: [{ name: "data", devicePath: "/dev/x" }] }),
      [`${d}[0].name: NotFound`],
    ],
    ["no path of a device", use({ volumeDevices: [{ name: "claim" }] }), [`${d}[0].devicePath: Required`]],
    [
      "path of a device outside",
      use({ volumeDevices: [{ name: "claim", devicePath: "/dev/../x" }] }),
      [`${d}[0].devicePath: Invalid`],
    ],
    [
      "device twice",
      use({
        volumeDevices: [
          { name: "claim", devicePath: "/a" },
          { name: "claim", devicePath: "/a" },
        ],
      }),
      [`${d}[1].name: Invalid`, `${d}[1].devicePath: Invalid`],
    ],
    [
      "device and mount at once",
      use({
        volumeMounts: [{ name: "claim", mountPath: "/a" }],
        volumeDevices: [{ name: "claim", devicePath: "/a" }],
      }),
      [
        `${m}[0].name: Invalid`,
        `${m}[0].mountPath: Invalid`,
        `${d}[0].name: Invalid`,
        `${d}[0].devicePath: Invalid`,
      ],
    ],
  ]);
});
