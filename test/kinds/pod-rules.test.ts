import { describe, expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { judgeNew } from "./support.ts";

type Case = readonly [title: string, pod: Part, faults: readonly string[]];

/** Places below `spec`, so that the tables are short; other places are written out. */
function check(cases: readonly Case[], gates: readonly string[] = []): void {
  it.each(cases)("%s", (_title, pod, faults) => {
    const found = judgeNew(Pod, pod, { gates }).faults;
    expect(found.map((fault) => fault.replace("FieldValue", ""))).toEqual(faults);
  });
}

const c = "spec.containers[0]";
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

describe("probes and life cycle", () => {
  const live = (probe: Part) => containerWith({ livenessProbe: probe });
  const command = { exec: { command: ["true"] } };
  const p = `${c}.livenessProbe`;
  check([
    ["none of the ways", live({}), [`${p}: Required`]],
    ["two ways", live({ ...command, tcpSocket: { port: 1 } }), [`${p}.tcpSocket: Forbidden`]],
    ["no command", live({ exec: {} }), [`${p}.exec.command: Required`]],
    ["port by name", live({ tcpSocket: { port: "http" } }), []],
    ["port's name", live({ tcpSocket: { port: "Http" } }), [`${p}.tcpSocket.port: Invalid`]],
    ["no port", live({ httpGet: {} }), [`${p}.httpGet.port: Invalid`]],
    ["scheme", live({ httpGet: { port: 1, scheme: "FTP" } }), [`${p}.httpGet.scheme: NotSupported`]],
    [
      "header",
      live({ httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "" }] } }),
      [`${p}.httpGet.httpHeaders: Invalid`],
    ],
    ["health check without port", live({ grpc: {} }), [`${p}.grpc.port: Invalid`]],
    [
      "negative seconds",
      live({ ...command, initialDelaySeconds: -1 }),
      [`${p}.initialDelaySeconds: Invalid`],
    ],
    [
      "grace of nothing",
      live({ ...command, terminationGracePeriodSeconds: 0 }),
      [`${p}.terminationGracePeriodSeconds: Invalid`],
    ],
    ["several successes", live({ ...command, successThreshold: 2 }), [`${p}.successThreshold: Invalid`]],
    [
      "several successes of a start",
      containerWith({ startupProbe: { ...command, successThreshold: 2 } }),
      [`${c}.startupProbe.successThreshold: Invalid`],
    ],
    [
      "several successes of readiness",
      containerWith({ readinessProbe: { ...command, successThreshold: 2 } }),
      [],
    ],
    [
      "grace of readiness",
      containerWith({ readinessProbe: { ...command, terminationGracePeriodSeconds: 2 } }),
      [`${c}.readinessProbe.terminationGracePeriodSeconds: Invalid`],
    ],
    [
      "life cycle",
      containerWith({ lifecycle: { preStop: command, postStart: { httpGet: { port: 1 } } } }),
      [],
    ],
    [
      "life cycle without doing",
      containerWith({ lifecycle: { preStop: {} } }),
      [`${c}.lifecycle.preStop: Required`],
    ],
  ]);
});

describe("resources", () => {
  const res = (resources: Part) => containerWith({ resources });
  const r = `${c}.resources`;
  check([
    [
      "all well",
      res({ limits: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" }, requests: { cpu: "500m" } }),
      [],
    ],
    ["more than allowed", res({ limits: { cpu: "1" }, requests: { cpu: "2" } }), [`${r}.requests: Invalid`]],
    ["as much as allowed", res({ limits: { cpu: "1" }, requests: { cpu: "1000m" } }), []],
    ["negative", res({ requests: { cpu: "-1" } }), [`${r}.requests[cpu]: Invalid`]],
    [
      "not of containers",
      res({ limits: { pods: "1" } }),
      [`${r}.limits[pods]: Invalid`, `${r}.requests[pods]: Invalid`],
    ],
    [
      "not a name",
      res({ requests: { "a b/c": "1" } }),
      [`${r}.requests[a b/c]: Invalid`, `${r}.requests[a b/c]: Invalid`, `${r}.limits: Required`],
    ],
    ["device", res({ limits: { "example.com/gpu": "2" } }), []],
    [
      "part of a device",
      res({ limits: { "example.com/gpu": "500m" } }),
      [`${r}.limits[example.com/gpu]: Invalid`, `${r}.requests[example.com/gpu]: Invalid`],
    ],
    ["device without limit", res({ requests: { "example.com/gpu": "2" } }), [`${r}.limits: Required`]],
    [
      "fewer devices than allowed",
      res({ limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } }),
      [`${r}.requests: Invalid`],
    ],
    ["pages", res({ limits: { "hugepages-2Mi": "4Mi", memory: "1Gi" } }), []],
    ["pages alone", res({ limits: { "hugepages-2Mi": "4Mi" } }), [`${r}: Forbidden`]],
    [
      "half a page",
      res({ limits: { "hugepages-2Mi": "3Mi", cpu: "1" } }),
      [`${r}.limits[hugepages-2Mi]: Invalid`, `${r}.requests[hugepages-2Mi]: Invalid`],
    ],
    ["overhead", podWith({ overhead: { cpu: "100m" } }), []],
    ["negative overhead", podWith({ overhead: { cpu: "-1" } }), ["spec.overhead.limits[cpu]: Invalid"]],
  ]);
});

describe("security", () => {
  const own = (securityContext: Part, spec: Part = {}) => containerWith({ securityContext }, spec);
  const all = (securityContext: Part) => podWith({ securityContext });
  const s = `${c}.securityContext`;
  check([
    [
      "all well",
      own({ runAsUser: 0, capabilities: { add: ["NET_ADMIN"] }, seccompProfile: { type: "RuntimeDefault" } }),
      [],
    ],
    ["user", own({ runAsUser: -1 }), [`${s}.runAsUser: Invalid`]],
    ["group", own({ runAsGroup: 2 ** 31 }), [`${s}.runAsGroup: Invalid`]],
    [
      "escalation with all rights",
      own({ allowPrivilegeEscalation: false, privileged: true }),
      [`${s}: Invalid`],
    ],
    [
      "escalation with the capability for it",
      own({ allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } }),
      [`${s}: Invalid`],
    ],
    [
      "profile of the node",
      own({ seccompProfile: { type: "Localhost" } }),
      [`${s}.seccompProfile.localhostProfile: Required`],
    ],
    [
      "profile outside",
      own({ seccompProfile: { type: "Localhost", localhostProfile: "../a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "profile of another kind",
      own({ seccompProfile: { type: "Unconfined", localhostProfile: "a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "kind of profile",
      own({ seccompProfile: { type: "Custom" } }),
      [`${s}.seccompProfile.type: NotSupported`],
    ],
    ["Windows user", own({ windowsOptions: { runAsUserName: "DOMAIN\\me" } }), []],
    [
      "no Windows user",
      own({ windowsOptions: { runAsUserName: "" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "Windows user in two domains",
      own({ windowsOptions: { runAsUserName: "a\\b\\c" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "credential spec",
      own({ windowsOptions: { gmsaCredentialSpec: "" } }),
      [`${s}.windowsOptions.gmsaCredentialSpec: Invalid`],
    ],
    [
      "name of a credential spec",
      own({ windowsOptions: { gmsaCredentialSpecName: "A b" } }),
      [`${s}.windowsOptions.gmsaCredentialSpecName: Invalid`],
    ],
    [
      "pod's groups",
      all({ supplementalGroups: [1, -1] }),
      ["spec.securityContext.supplementalGroups[1]: Invalid"],
    ],
    ["pod's group of files", all({ fsGroup: -1 }), ["spec.securityContext.fsGroup: Invalid"]],
    [
      "change of files",
      all({ fsGroupChangePolicy: "Never" }),
      ["spec.securityContext.fsGroupChangePolicy: NotSupported"],
    ],
    [
      "kernel parameters",
      all({
        sysctls: [
          { name: "net.ipv4.ip_local_port_range", value: "1" },
          { name: "kernel/shm", value: "" },
        ],
      }),
      [],
    ],
    [
      "unnamed parameter",
      all({ sysctls: [{ value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Required"],
    ],
    [
      "name of a parameter",
      all({ sysctls: [{ name: "Net", value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Invalid"],
    ],
    [
      "parameter twice",
      all({
        sysctls: [
          { name: "a", value: "1" },
          { name: "a", value: "1" },
        ],
      }),
      ["spec.securityContext.sysctls[1].name: Duplicate"],
    ],
    [
      "processes shared twice",
      podWith({ hostPID: true, shareProcessNamespace: true }),
      ["spec.securityContext.shareProcessNamespace: Invalid"],
    ],
    [
      "Windows options on Linux",
      own({ windowsOptions: {} }, { os: { name: "linux" } }),
      [`${s}.windowsOptions: Forbidden`],
    ],
    [
      "users of Linux on Windows",
      own({ runAsUser: 1 }, { os: { name: "windows" } }),
      [`${s}.runAsUser: Forbidden`],
    ],
    [
      "pod of Windows",
      podWith({ os: { name: "windows" }, hostPID: true, securityContext: { fsGroup: 1 } }),
      ["spec.securityContext.fsGroup: Forbidden", "spec.hostPID: Forbidden"],
    ],
    ["unknown system", podWith({ os: { name: "plan9" } }), ["spec.os: NotSupported"]],
    ["no system", podWith({ os: {} }), ["spec.os.name: Required"]],
    ["host process", own({ windowsOptions: { hostProcess: true } }, { hostNetwork: true }), []],
    [
      "host process in a network of its own",
      own({ windowsOptions: { hostProcess: true } }),
      ["spec.hostNetwork: Invalid"],
    ],
    [
      "host process beside others",
      podWith({
        hostNetwork: true,
        containers: [
          { ...container, securityContext: { windowsOptions: { hostProcess: true } } },
          { ...container, name: "b" },
        ],
      }),
      ["spec: Invalid"],
    ],
    [
      "host process against the pod's word",
      own(
        { windowsOptions: { hostProcess: true } },
        { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: false } } },
      ),
      [`${s}.windowsOptions.hostProcess: Invalid`],
    ],
  ]);
});

describe("names, network and time", () => {
  check([
    ["deadline", podWith({ activeDeadlineSeconds: 0 }), ["spec.activeDeadlineSeconds: Invalid"]],
    ["restarts", podWith({ restartPolicy: "Sometimes" }), ["spec.restartPolicy: NotSupported"]],
    ["node", podWith({ nodeName: "A_b" }), ["spec.nodeName: Invalid"]],
    ["node's labels", podWith({ nodeSelector: { "a b": "c" } }), ["spec.nodeSelector: Invalid"]],
    ["account", podWith({ serviceAccountName: "A" }), ["spec.serviceAccountName: Invalid"]],
    ["host name", podWith({ hostname: "a.b" }), ["spec.hostname: Invalid"]],
    ["subdomain", podWith({ subdomain: "a.b" }), ["spec.subdomain: Invalid"]],
    ["priority class", podWith({ priorityClassName: "A" }), ["spec.priorityClassName: Invalid"]],
    ["runtime class", podWith({ runtimeClassName: "A" }), ["spec.runtimeClassName: Invalid"]],
    ["preemption", podWith({ preemptionPolicy: "Maybe" }), ["spec.preemptionPolicy: NotSupported"]],
    ["DNS policy", podWith({ dnsPolicy: "Mine" }), ["spec.dnsPolicy: NotSupported"]],
    ["no DNS policy and no settings", podWith({ dnsPolicy: "None" }), ["spec.dnsConfig: Required"]],
    [
      "no DNS policy and no server",
      podWith({ dnsPolicy: "None", dnsConfig: {} }),
      ["spec.dnsConfig.nameservers: Required"],
    ],
    [
      "DNS servers",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "x"] } }),
      ["spec.dnsConfig.nameservers[1]: Invalid"],
    ],
    [
      "too many servers",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] } }),
      ["spec.dnsConfig.nameservers: Invalid"],
    ],
    [
      "DNS domains",
      podWith({ dnsConfig: { searches: ["a.example.", "A"] } }),
      ["spec.dnsConfig.searches[1]: Invalid"],
    ],
    [
      "too many domains",
      podWith({ dnsConfig: { searches: Array.from({ length: 33 }, () => "a") } }),
      ["spec.dnsConfig.searches: Invalid"],
    ],
    [
      "DNS options",
      podWith({ dnsConfig: { options: [{ value: "1" }] } }),
      ["spec.dnsConfig.options[0]: Required"],
    ],
    [
      "host aliases",
      podWith({ hostAliases: [{ ip: "x", hostnames: ["A"] }] }),
      ["spec.hostAliases.ip: Invalid", "spec.hostAliases.hostnames: Invalid"],
    ],
    [
      "readiness gate",
      podWith({ readinessGates: [{ conditionType: "a b" }] }),
      ["spec.readinessGates[0].conditionType: Invalid"],
    ],
    [
      "mirror of nothing",
      { metadata: { annotations: { "platform.io/config.mirror": "x" } }, ...podWith({}) },
      ["metadata.annotations[platform.io/config.mirror]: Invalid"],
    ],
    [
      "profile of another container",
      {
        metadata: { annotations: { "container.apparmor.security.beta.platform.io/x": "unconfined" } },
        ...podWith({}),
      },
      ["metadata.annotations[container.apparmor.security.beta.platform.io/x]: Invalid"],
    ],
  ]);
});

describe("placing", () => {
  const node = (term: Part) =>
    podWith({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
      },
    });
  const n = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const near = (term: Part) =>
    podWith({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
  const a = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
  const tolerate = (...tolerations: Part[]) => podWith({ tolerations });
  const t = "spec.tolerations[0]";
  const spread = (...list: Part[]) => podWith({ topologySpreadConstraints: list });
  const zone = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
  const u = "spec.topologySpreadConstraints[0]";
  check([
    [
      "expressions",
      node({
        matchExpressions: [
          { key: "a", operator: "In", values: ["b"] },
          { key: "c", operator: "Gt", values: ["1"] },
        ],
      }),
      [],
    ],
    [
      "no terms",
      podWith({
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      }),
      [`${n}: Required`],
    ],
    [
      "no values",
      node({ matchExpressions: [{ key: "a", operator: "In" }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "values too many",
      node({ matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] }),
      [`${n}[0].matchExpressions[0].values: Forbidden`],
    ],
    [
      "two numbers",
      node({ matchExpressions: [{ key: "a", operator: "Lt", values: ["1", "2"] }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "operator",
      node({ matchExpressions: [{ key: "a", operator: "Like" }] }),
      [`${n}[0].matchExpressions[0].operator: Invalid`],
    ],
    [
      "key",
      node({ matchExpressions: [{ key: "a b", operator: "Exists" }] }),
      [`${n}[0].matchExpressions[0].key: Invalid`],
    ],
    ["field", node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }), []],
    [
      "other field",
      node({ matchFields: [{ key: "metadata.uid", operator: "In", values: ["n"] }] }),
      [`${n}[0].matchFields[0].key: Invalid`],
    ],
    [
      "two names",
      node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n", "m"] }] }),
      [`${n}[0].matchFields[0].values: Required`],
    ],
    [
      "weight",
      podWith({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }],
          },
        },
      }),
      ["spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid"],
    ],
    [
      "near pods",
      near({ topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } }, namespaces: ["x"] }),
      [],
    ],
    [
      "near pods nowhere",
      near({}),
      [`${a}.topologyKey: Required`, `${a}.topologyKey: Invalid`, `${a}.topologyKey: Invalid`],
    ],
    ["namespace of pods", near({ topologyKey: "zone", namespaces: ["A"] }), [`${a}.namespace: Invalid`]],
    [
      "selector of pods",
      near({ topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      [`${a}.labelSelector.matchExpressions[0].values: Required`],
    ],
    [
      "weight of pods",
      podWith({
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { topologyKey: "a" } }],
          },
        },
      }),
      ["spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid"],
    ],
    [
      "tolerations",
      tolerate({ operator: "Exists" }, { key: "a", value: "b", effect: "NoExecute", tolerationSeconds: 5 }),
      [],
    ],
    ["no key", tolerate({ value: "b" }), [`${t}.operator: Invalid`]],
    ["taint's key", tolerate({ key: "a b", operator: "Exists" }), [`${t}.key: Invalid`]],
    ["value and Exists", tolerate({ key: "a", operator: "Exists", value: "b" }), [`${t}.operator: Invalid`]],
    ["taint's value", tolerate({ key: "a", value: "b c" }), [`${t}.operator: Invalid`]],
    ["unknown operator", tolerate({ key: "a", operator: "Like" }), [`${t}.operator: NotSupported`]],
    ["seconds without end", tolerate({ key: "a", tolerationSeconds: 5 }), [`${t}.effect: Invalid`]],
    ["effect", tolerate({ key: "a", effect: "Nothing" }), [`${t}.effect: NotSupported`]],
    ["spread", spread(zone, { ...zone, whenUnsatisfiable: "ScheduleAnyway" }), []],
    ["spread twice", spread(zone, zone), [`${u}.{topologyKey, whenUnsatisfiable}: Duplicate`]],
    ["no skew", spread({ ...zone, maxSkew: 0 }), [`${u}.maxSkew: Invalid`]],
    ["no parts", spread({ ...zone, topologyKey: "" }), [`${u}.topologyKey: Required`]],
    ["consequence", spread({ ...zone, whenUnsatisfiable: "Cry" }), [`${u}.whenUnsatisfiable: NotSupported`]],
    ["inclusion", spread({ ...zone, nodeTaintsPolicy: "Maybe" }), [`${u}.nodeTaintsPolicy: NotSupported`]],
    ["least parts", spread({ ...zone, minDomains: 0 }), [`${u}.minDomains: Invalid`]],
    [
      "least parts for a wish",
      spread({ ...zone, whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 }),
      [`${u}.minDomains: Invalid`],
    ],
    [
      "label keys",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { b: "c" } } }),
      [],
    ],
    [
      "label keys without selector",
      spread({ ...zone, matchLabelKeys: ["a"] }),
      [`${u}.matchLabelKeys: Forbidden`],
    ],
    [
      "label keys of the selector",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { a: "c" } } }),
      [`${u}.matchLabelKeys[0]: Invalid`],
    ],
    [
      "gates",
      podWith({ schedulingGates: [{ name: "a b" }, { name: "c" }, { name: "c" }] }),
      ["spec.schedulingGates[0]: Invalid", "spec.schedulingGates[2]: Duplicate"],
    ],
  ]);
});

describe("claims and user namespaces", () => {
  const claims = (resourceClaims: Part[], used: Part[]) =>
    containerWith({ resources: { claims: used } }, { resourceClaims });
  const one = { name: "gpu", source: { resourceClaimName: "x" } };
  check([
    ["used", claims([one], [{ name: "gpu" }]), []],
    [
      "used twice",
      claims([one], [{ name: "gpu" }, { name: "gpu" }]),
      [`${c}.resources.claims[1]: Duplicate`],
    ],
    ["unknown", claims([one], [{ name: "fpga" }]), [`${c}.resources.claims[0]: NotFound`]],
    ["unnamed", claims([one], [{}]), [`${c}.resources.claims[0]: Required`]],
    ["no source", claims([{ name: "gpu" }], []), ["spec.resourceClaims[0].source: Invalid"]],
    ["name twice", claims([one, one], []), ["spec.resourceClaims[1].name: Duplicate"]],
    ["own users", podWith({ hostUsers: false, volumes: [{ name: "a", emptyDir: {} }] }), []],
    [
      "own users in the node's network",
      podWith({ hostUsers: false, hostNetwork: true }),
      ["spec.hostNetwork: Forbidden"],
    ],
    [
      "own users and lasting volumes",
      podWith({ hostUsers: false, volumes: [{ name: "a", hostPath: { path: "/a" } }] }),
      ["spec.volumes[0]: Forbidden"],
    ],
  ]);
});
