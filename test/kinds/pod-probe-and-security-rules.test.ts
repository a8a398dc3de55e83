import { describe } from "vitest";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

describe("Container probes and lifecycle", () => {
  const live = (probe: Part) => containerWith({ livenessProbe: probe });
  const command = { exec: { command: ["true"] } };
  const p = `${c}.livenessProbe`;
  check([
    ["rejects a probe without a handler", live({}), [`${p}: Required`]],
    [
      "rejects a probe with two handlers",
      live({ ...command, tcpSocket: { port: 1 } }),
      [`${p}.tcpSocket: Forbidden`],
    ],
    ["rejects an exec probe without a command", live({ exec: {} }), [`${p}.exec.command: Required`]],
    ["accepts a tcpSocket probe with a named port", live({ tcpSocket: { port: "http" } }), []],
    [
      "rejects a malformed port name",
      live({ tcpSocket: { port: "Http" } }),
      [`${p}.tcpSocket.port: Invalid`],
    ],
    ["rejects an httpGet probe without a port", live({ httpGet: {} }), [`${p}.httpGet.port: Invalid`]],
    [
      "rejects an unknown scheme",
      live({ httpGet: { port: 1, scheme: "FTP" } }),
      [`${p}.httpGet.scheme: NotSupported`],
    ],
    [
      "rejects a malformed header name",
      live({ httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "" }] } }),
      [`${p}.httpGet.httpHeaders: Invalid`],
    ],
    ["rejects a grpc probe without a port", live({ grpc: {} }), [`${p}.grpc.port: Invalid`]],
    [
      "rejects negative initialDelaySeconds",
      live({ ...command, initialDelaySeconds: -1 }),
      [`${p}.initialDelaySeconds: Invalid`],
    ],
    [
      "rejects terminationGracePeriodSeconds 0 in a liveness probe",
      live({ ...command, terminationGracePeriodSeconds: 0 }),
      [`${p}.terminationGracePeriodSeconds: Invalid`],
    ],
    [
      "rejects successThreshold 2 in a liveness probe",
      live({ ...command, successThreshold: 2 }),
      [`${p}.successThreshold: Invalid`],
    ],
    [
      "rejects successThreshold 2 in a startup probe",
      containerWith({ startupProbe: { ...command, successThreshold: 2 } }),
      [`${c}.startupProbe.successThreshold: Invalid`],
    ],
    [
      "accepts successThreshold 2 in a readiness probe",
      containerWith({ readinessProbe: { ...command, successThreshold: 2 } }),
      [],
    ],
    [
      "rejects terminationGracePeriodSeconds in a readiness probe",
      containerWith({ readinessProbe: { ...command, terminationGracePeriodSeconds: 2 } }),
      [`${c}.readinessProbe.terminationGracePeriodSeconds: Invalid`],
    ],
    [
      "accepts lifecycle with preStop and postStart",
      containerWith({ lifecycle: { preStop: command, postStart: { httpGet: { port: 1 } } } }),
      [],
    ],
    [
      "rejects an empty preStop",
      containerWith({ lifecycle: { preStop: {} } }),
      [`${c}.lifecycle.preStop: Required`],
    ],
  ]);
});

describe("Container resources", () => {
  const res = (resources: Part) => containerWith({ resources });
  const r = `${c}.resources`;
  check([
    [
      "accepts limits and requests",
      res({ limits: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" }, requests: { cpu: "500m" } }),
      [],
    ],
    [
      "rejects a request above the limit",
      res({ limits: { cpu: "1" }, requests: { cpu: "2" } }),
      [`${r}.requests: Invalid`],
    ],
    ["accepts a request equal to the limit", res({ limits: { cpu: "1" }, requests: { cpu: "1000m" } }), []],
    ["rejects a negative request", res({ requests: { cpu: "-1" } }), [`${r}.requests[cpu]: Invalid`]],
    [
      "rejects a resource that is not for containers",
      res({ limits: { pods: "1" } }),
      [`${r}.limits[pods]: Invalid`, `${r}.requests[pods]: Invalid`],
    ],
    [
      "rejects a malformed resource name",
      res({ requests: { "a b/c": "1" } }),
      [`${r}.requests[a b/c]: Invalid`, `${r}.requests[a b/c]: Invalid`, `${r}.limits: Required`],
    ],
    ["accepts an extended resource", res({ limits: { "example.com/gpu": "2" } }), []],
    [
      "rejects a fraction of an extended resource",
      res({ limits: { "example.com/gpu": "500m" } }),
      [`${r}.limits[example.com/gpu]: Invalid`, `${r}.requests[example.com/gpu]: Invalid`],
    ],
    [
      "rejects an extended resource without a limit",
      res({ requests: { "example.com/gpu": "2" } }),
      [`${r}.limits: Required`],
    ],
    [
      "rejects an extended resource with a request below the limit",
      res({ limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } }),
      [`${r}.requests: Invalid`],
    ],
    ["accepts huge pages with memory", res({ limits: { "hugepages-2Mi": "4Mi", memory: "1Gi" } }), []],
    [
      "rejects huge pages without cpu and memory",
      res({ limits: { "hugepages-2Mi": "4Mi" } }),
      [`${r}: Forbidden`],
    ],
    [
      "rejects huge pages that are not a multiple of the page size",
      res({ limits: { "hugepages-2Mi": "3Mi", cpu: "1" } }),
      [`${r}.limits[hugepages-2Mi]: Invalid`, `${r}.requests[hugepages-2Mi]: Invalid`],
    ],
    ["accepts a pod overhead", podWith({ overhead: { cpu: "100m" } }), []],
    [
      "rejects a negative pod overhead",
      podWith({ overhead: { cpu: "-1" } }),
      ["spec.overhead.limits[cpu]: Invalid"],
    ],
  ]);
});

describe("Security context", () => {
  const own = (securityContext: Part, spec: Part = {}) => containerWith({ securityContext }, spec);
  const all = (securityContext: Part) => podWith({ securityContext });
  const s = `${c}.securityContext`;
  check([
    [
      "accepts a container securityContext",
      own({ runAsUser: 0, capabilities: { add: ["NET_ADMIN"] }, seccompProfile: { type: "RuntimeDefault" } }),
      [],
    ],
    ["rejects a negative runAsUser", own({ runAsUser: -1 }), [`${s}.runAsUser: Invalid`]],
    ["rejects a runAsGroup above 2^31-1", own({ runAsGroup: 2 ** 31 }), [`${s}.runAsGroup: Invalid`]],
    [
      "rejects allowPrivilegeEscalation false in a privileged container",
      own({ allowPrivilegeEscalation: false, privileged: true }),
      [`${s}: Invalid`],
    ],
    [
      "rejects allowPrivilegeEscalation false with CAP_SYS_ADMIN",
      own({ allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } }),
      [`${s}: Invalid`],
    ],
    [
      "rejects seccompProfile Localhost without localhostProfile",
      own({ seccompProfile: { type: "Localhost" } }),
      [`${s}.seccompProfile.localhostProfile: Required`],
    ],
    [
      "rejects a localhostProfile with ..",
      own({ seccompProfile: { type: "Localhost", localhostProfile: "../a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "rejects a localhostProfile with seccompProfile Unconfined",
      own({ seccompProfile: { type: "Unconfined", localhostProfile: "a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "rejects an unknown seccompProfile type",
      own({ seccompProfile: { type: "Custom" } }),
      [`${s}.seccompProfile.type: NotSupported`],
    ],
    [
      "accepts a Windows runAsUserName with a domain",
      own({ windowsOptions: { runAsUserName: "DOMAIN\\me" } }),
      [],
    ],
    [
      "rejects an empty runAsUserName",
      own({ windowsOptions: { runAsUserName: "" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "rejects a runAsUserName with two backslashes",
      own({ windowsOptions: { runAsUserName: "a\\b\\c" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "rejects an empty gmsaCredentialSpec",
      own({ windowsOptions: { gmsaCredentialSpec: "" } }),
      [`${s}.windowsOptions.gmsaCredentialSpec: Invalid`],
    ],
    [
      "rejects a malformed gmsaCredentialSpecName",
      own({ windowsOptions: { gmsaCredentialSpecName: "A b" } }),
      [`${s}.windowsOptions.gmsaCredentialSpecName: Invalid`],
    ],
    [
      "rejects a negative supplemental group",
      all({ supplementalGroups: [1, -1] }),
      ["spec.securityContext.supplementalGroups[1]: Invalid"],
    ],
    ["rejects a negative fsGroup", all({ fsGroup: -1 }), ["spec.securityContext.fsGroup: Invalid"]],
    [
      "rejects an unknown fsGroupChangePolicy",
      all({ fsGroupChangePolicy: "Never" }),
      ["spec.securityContext.fsGroupChangePolicy: NotSupported"],
    ],
    [
      "accepts sysctls",
      all({
        sysctls: [
          { name: "net.ipv4.ip_local_port_range", value: "1" },
          { name: "kernel/shm", value: "" },
        ],
      }),
      [],
    ],
    [
      "rejects a sysctl without a name",
      all({ sysctls: [{ value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Required"],
    ],
    [
      "rejects a malformed sysctl name",
      all({ sysctls: [{ name: "Net", value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Invalid"],
    ],
    [
      "rejects a duplicate sysctl",
      all({
        sysctls: [
          { name: "a", value: "1" },
          { name: "a", value: "1" },
        ],
      }),
      ["spec.securityContext.sysctls[1].name: Duplicate"],
    ],
    [
      "rejects both hostPID and shareProcessNamespace",
      podWith({ hostPID: true, shareProcessNamespace: true }),
      ["spec.securityContext.shareProcessNamespace: Invalid"],
    ],
    [
      "rejects windowsOptions with os linux",
      own({ windowsOptions: {} }, { os: { name: "linux" } }),
      [`${s}.windowsOptions: Forbidden`],
    ],
    [
      "rejects runAsUser with os windows",
      own({ runAsUser: 1 }, { os: { name: "windows" } }),
      [`${s}.runAsUser: Forbidden`],
    ],
    [
      "rejects fsGroup and hostPID with os windows",
      podWith({ os: { name: "windows" }, hostPID: true, securityContext: { fsGroup: 1 } }),
      ["spec.securityContext.fsGroup: Forbidden", "spec.hostPID: Forbidden"],
    ],
    ["rejects an unknown os name", podWith({ os: { name: "plan9" } }), ["spec.os: NotSupported"]],
    ["rejects an empty os", podWith({ os: {} }), ["spec.os.name: Required"]],
    [
      "accepts a hostProcess container with hostNetwork",
      own({ windowsOptions: { hostProcess: true } }, { hostNetwork: true }),
      [],
    ],
    [
      "rejects a hostProcess container without hostNetwork",
      own({ windowsOptions: { hostProcess: true } }),
      ["spec.hostNetwork: Invalid"],
    ],
    [
      "rejects a hostProcess container beside other containers",
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
      "rejects a container hostProcess that contradicts the pod",
      own(
        { windowsOptions: { hostProcess: true } },
        { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: false } } },
      ),
      [`${s}.windowsOptions.hostProcess: Invalid`],
    ],
  ]);
});
