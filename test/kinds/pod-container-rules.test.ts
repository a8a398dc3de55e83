import { describe } from "vitest";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

const long = "a".repeat(64);

describe("Pod containers", () => {
  check([
    ["rejects an empty list of containers", podWith({ containers: [] }), ["spec.containers: Required"]],
    ["rejects an empty name", containerWith({ name: "" }), [`${c}.name: Required`]],
    ["rejects a name in upper case", containerWith({ name: "Main" }), [`${c}.name: Invalid`]],
    ["rejects a name above 63 characters", containerWith({ name: long }), [`${c}.name: Invalid`]],
    ["rejects an empty image", containerWith({ image: "" }), [`${c}.image: Required`]],
    ["rejects an image with surrounding spaces", containerWith({ image: " a " }), [`${c}.image: Invalid`]],
    [
      "rejects a duplicate name",
      podWith({ containers: [container, container] }),
      ["spec.containers[1].name: Duplicate"],
    ],
    [
      "rejects an init container with the name of a container",
      podWith({ initContainers: [container] }),
      ["spec.initContainers[0].name: Duplicate"],
    ],
    [
      "rejects an init container with lifecycle and probes",
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
    [
      "rejects an unknown imagePullPolicy",
      containerWith({ imagePullPolicy: "Often" }),
      [`${c}.imagePullPolicy: NotSupported`],
    ],
    [
      "rejects an unknown terminationMessagePolicy",
      containerWith({ terminationMessagePolicy: "Mail" }),
      [`${c}.terminationMessagePolicy: NotSupported`],
    ],
  ]);
});

describe("Container ports", () => {
  const ports = (...list: Part[]) => containerWith({ ports: list });
  check([
    [
      "accepts ports with names and protocols",
      ports({ name: "http", containerPort: 80 }, { name: "dns", containerPort: 53, protocol: "UDP" }),
      [],
    ],
    [
      "rejects a port without containerPort",
      ports({ name: "http" }),
      [`${c}.ports[0].containerPort: Required`],
    ],
    [
      "rejects a containerPort above 65535",
      ports({ containerPort: 65536 }),
      [`${c}.ports[0].containerPort: Invalid`],
    ],
    [
      "rejects a negative hostPort",
      ports({ containerPort: 1, hostPort: -1 }),
      [`${c}.ports[0].hostPort: Invalid`],
    ],
    [
      "rejects a malformed port name",
      ports({ containerPort: 1, name: "Web" }),
      [`${c}.ports[0].name: Invalid`],
    ],
    [
      "rejects an unknown protocol",
      ports({ containerPort: 1, protocol: "ICMP" }),
      [`${c}.ports[0].protocol: NotSupported`],
    ],
    [
      "rejects a duplicate port name",
      ports({ containerPort: 1, name: "a" }, { containerPort: 2, name: "a" }),
      [`${c}.ports[1].name: Duplicate`],
    ],
    [
      "rejects a duplicate hostPort",
      podWith({
        containers: [
          { ...container, ports: [{ containerPort: 1, hostPort: 9 }] },
          { ...container, name: "b", ports: [{ containerPort: 2, hostPort: 9 }] },
        ],
      }),
      ["spec.containers[1].ports[0].hostPort: Duplicate"],
    ],
    [
      "accepts a hostPort used with two protocols and in an init container",
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
      "rejects a hostPort that differs from containerPort with hostNetwork",
      containerWith({ ports: [{ containerPort: 80, hostPort: 8080 }] }, { hostNetwork: true }),
      [`${c}.ports[0].containerPort: Invalid`],
    ],
  ]);
});

describe("Container environment", () => {
  const env = (...list: Part[]) => containerWith({ env: list });
  const from = (valueFrom: Part, more: Part = {}) => env({ name: "A", valueFrom, ...more });
  const field = (fieldPath: string, apiVersion = "v1") => from({ fieldRef: { apiVersion, fieldPath } });
  const resource = (ref: Part) => from({ resourceFieldRef: ref });
  const at = `${c}.env[0].valueFrom`;
  check([
    ["accepts variables with values", env({ name: "A", value: "1" }, { name: "_b-c.D" }), []],
    ["rejects a variable without a name", env({ value: "1" }), [`${c}.env[0].name: Required`]],
    ["rejects a name that begins with a digit", env({ name: "1A" }), [`${c}.env[0].name: Invalid`]],
    ["rejects a name that begins with two dots", env({ name: "..A" }), [`${c}.env[0].name: Invalid`]],
    ["rejects an empty valueFrom", from({}), [`${at}: Invalid`]],
    [
      "rejects both value and valueFrom",
      from({ secretKeyRef: { name: "s", key: "k" } }, { value: "1" }),
      [`${at}: Invalid`],
    ],
    [
      "rejects two sources in valueFrom",
      from({ secretKeyRef: { name: "s", key: "k" }, configMapKeyRef: { name: "s", key: "k" } }),
      [`${at}: Invalid`],
    ],
    [
      "rejects a malformed secret key",
      from({ secretKeyRef: { name: "s", key: "a b" } }),
      [`${at}.secretKeyRef.key: Invalid`],
    ],
    [
      "rejects a configMapKeyRef without key",
      from({ configMapKeyRef: { name: "s" } }),
      [`${at}.configMapKeyRef.key: Required`],
    ],
    [
      "rejects a configMapKeyRef without name",
      from({ configMapKeyRef: { key: "s" } }),
      [`${at}.configMapKeyRef.name: Invalid`],
    ],
    ["accepts a fieldRef to one label", field("metadata.labels['app']"), []],
    ["accepts a fieldRef to status.podIPs", field("status.podIPs"), []],
    [
      "rejects a fieldRef to all labels",
      field("metadata.labels"),
      [`${at}.fieldRef.fieldPath: NotSupported`],
    ],
    ["rejects a fieldRef to an unknown field", field("spec.what"), [`${at}.fieldRef.fieldPath: Invalid`]],
    [
      "rejects a fieldRef with a key in a field that is not a map",
      field("metadata.name['a']"),
      [`${at}.fieldRef.fieldPath: Invalid`],
    ],
    [
      "rejects a fieldRef with a malformed label key",
      field("metadata.labels['a b']"),
      [`${at}.fieldRef: Invalid`],
    ],
    [
      "rejects a fieldRef with an unknown apiVersion",
      field("metadata.name", "v2"),
      [`${at}.fieldRef.fieldPath: Invalid`],
    ],
    ["rejects a fieldRef without fieldPath", from({ fieldRef: {} }), [`${at}.fieldRef.fieldPath: Required`]],
    ["accepts a resourceFieldRef", resource({ resource: "limits.cpu", divisor: "1m" }), []],
    [
      "accepts a resourceFieldRef to huge pages",
      resource({ resource: "requests.hugepages-2Mi", divisor: "1Mi" }),
      [],
    ],
    [
      "rejects a resourceFieldRef without resource",
      resource({}),
      [`${at}.resourceFieldRef.resource: Required`],
    ],
    [
      "rejects a resourceFieldRef to an unknown resource",
      resource({ resource: "limits.gpu" }),
      [`${at}.resourceFieldRef.resource: NotSupported`],
    ],
    [
      "rejects a divisor of another unit",
      resource({ resource: "limits.cpu", divisor: "1Mi" }),
      [`${at}.resourceFieldRef.divisor: Invalid`],
    ],
    [
      "accepts envFrom with a config map and a secret",
      containerWith({
        envFrom: [{ configMapRef: { name: "a" } }, { secretRef: { name: "b" }, prefix: "P_" }],
      }),
      [],
    ],
    ["rejects an empty envFrom entry", containerWith({ envFrom: [{}] }), [`${c}.envFrom: Invalid`]],
    [
      "rejects an envFrom entry with both configMapRef and secretRef",
      containerWith({ envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
      [`${c}.envFrom: Invalid`],
    ],
    [
      "rejects a configMapRef without name",
      containerWith({ envFrom: [{ configMapRef: {} }] }),
      [`${c}.envFrom[0].configMapRef.name: Required`],
    ],
    [
      "rejects a malformed prefix",
      containerWith({ envFrom: [{ configMapRef: { name: "a" }, prefix: "1" }] }),
      [`${c}.envFrom[0].prefix: Invalid`],
    ],
  ]);
});

describe("Container volumeMounts and volumeDevices", () => {
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
      "accepts two mounts of a volume",
      mount({ name: "data", mountPath: "/a", subPath: "b" }, { name: "data", mountPath: "/c" }),
      [],
    ],
    [
      "rejects a mount of an undeclared volume",
      mount({ name: "other", mountPath: "/a" }),
      [`${m}[0].name: NotFound`],
    ],
    [
      "rejects a mount without name",
      mount({ mountPath: "/a" }),
      [`${m}[0].name: Required`, `${m}[0].name: NotFound`],
    ],
    ["rejects a mount without mountPath", mount({ name: "data" }), [`${m}[0].mountPath: Required`]],
    [
      "rejects a duplicate mountPath",
      mount({ name: "data", mountPath: "/a" }, { name: "claim", mountPath: "/a" }),
      [`${m}[1].mountPath: Invalid`],
    ],
    [
      "rejects an absolute subPath",
      mount({ name: "data", mountPath: "/a", subPath: "/b" }),
      [`${m}[0].subPath: Invalid`],
    ],
    [
      "rejects a subPathExpr with ..",
      mount({ name: "data", mountPath: "/a", subPathExpr: "a/../b" }),
      [`${m}[0].subPathExpr: Invalid`],
    ],
    [
      "rejects both subPath and subPathExpr",
      mount({ name: "data", mountPath: "/a", subPath: "b", subPathExpr: "c" }),
      [`${m}[0].subPathExpr: Invalid`],
    ],
    [
      "rejects Bidirectional propagation in an unprivileged container",
      mount({ name: "data", mountPath: "/a", mountPropagation: "Bidirectional" }),
      [`${m}[0].mountPropagation: Forbidden`],
    ],
    [
      "accepts Bidirectional propagation in a privileged container",
      use({
        securityContext: { privileged: true },
        volumeMounts: [{ name: "data", mountPath: "/a", mountPropagation: "Bidirectional" }],
      }),
      [],
    ],
    [
      "rejects an unknown mountPropagation",
      mount({ name: "data", mountPath: "/a", mountPropagation: "Up" }),
      [`${m}[0].mountPropagation: NotSupported`],
    ],
    [
      "accepts a volumeDevice of a claim",
      use({ volumeDevices: [{ name: "claim", devicePath: "/dev/x" }] }),
      [],
    ],
    [
      "rejects a volumeDevice of an emptyDir",
      use({ volumeDevices: [{ name: "data", devicePath: "/dev/x" }] }),
      [`${d}[0].name: NotFound`],
    ],
    [
      "rejects a volumeDevice without devicePath",
      use({ volumeDevices: [{ name: "claim" }] }),
      [`${d}[0].devicePath: Required`],
    ],
    [
      "rejects a devicePath with ..",
      use({ volumeDevices: [{ name: "claim", devicePath: "/dev/../x" }] }),
      [`${d}[0].devicePath: Invalid`],
    ],
    [
      "rejects a duplicate volumeDevice",
      use({
        volumeDevices: [
          { name: "claim", devicePath: "/a" },
          { name: "claim", devicePath: "/a" },
        ],
      }),
      [`${d}[1].name: Invalid`, `${d}[1].devicePath: Invalid`],
    ],
    [
      "rejects a volume that is both mounted and used as a device",
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
