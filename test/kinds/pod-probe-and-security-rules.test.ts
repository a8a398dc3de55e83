import { describe } from "vitest";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

describe("Container probes and lifecycle", () => {
  const live = (probe: Part) => containerWith({ livenessProbe: probe });
  const command = { exec: { command: ["true"] } };
  const p = `${c}.livenessProbe`;
  check([
    ["a probe without a handler", live({}), [`${p}: Required`]],
    [
      "a probe with two handlers",
      live({ ...command, tcpSocket: { port: 1 } }),
      [`${p}.tcpSocket: Forbidden`],
    ],
    ["an exec probe without a command", live({ exec: {} }), [`${p}.exec.command: Required`]],
    ["a tcpSocket probe with a named port", live({ tcpSocket: { port: "http" } }), []],
    ["a malformed port name", live({ tcpSocket: { port: "Http" } }), [`${p}.tcpSocket.port: Invalid`]],
    ["an httpGet probe without a port", live({ httpGet: {} }), [`${p}.httpGet.port: Invalid`]],
    [
      "an unknown scheme",
      live({ httpGet: { port: 1, scheme: "FTP" } }),
      [`${p}.httpGet.scheme: NotSupported`],
    ],
    [
      "a malformed header name",
      live({ httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "" }] } }),
      [`${p}.httpGet.httpHeaders: Invalid`],
    ],
    ["a grpc probe without a port", live({ grpc: {} }), [`${p}.grpc.port: Invalid`]],
    [
      "negative initialDelaySeconds",
      live({ ...command, initialDelaySeconds: -1 }),
      [`${p}.initialDelaySeconds: Invalid`],
    ],
    [
      "terminationGracePeriodSeconds 0 in a liveness probe",
      live({ ...command, terminationGracePeriodSeconds: 0 }),
      [`${p}.terminationGracePeriodSeconds: Invalid`],
    ],
    [
      "successThreshold 2 in a liveness probe",
      live({ ...command, successThreshold: 2 }),
      [`${p}.successThreshold: Invalid`],
    ],
    [
      "successThreshold 2 in a startup probe",
      containerWith({ startupProbe: { ...command, successThreshold: 2 } }),
      [`${c}.startupProbe.successThreshold: Invalid`],
    ],
    [
      "successThreshold 2 in a readiness probe",
      containerWith({ readinessProbe: { ...command, successThreshold: 2 } }),
      [],
    ],
    [
      "terminationGracePeriodSeconds in a readiness probe",
      containerWith({ readinessProbe: { ...command, terminationGracePeriodSeconds: 2 } }),
      [`${c}.readinessProbe.terminationGracePeriodSeconds: Invalid`],
    ],
    [
      "lifecycle with preStop and postStart",
      containerWith({ lifecycle: { preStop: command, postStart: { httpGet: { port: 1 } } } }),
      [],
    ],
    ["an empty preStop", containerWith({ lifecycle: { preStop: {} } }), [`${c}.lifecycle.preStop: Required`]],
  ]);
});

describe("Container resources", () => {
  const res = (resources: Part) => containerWith({ resources });
  const r = `${c}.resources`;
  check([
    [
      "limits and requests",
      res({ limits: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" }, requests: { cpu: "500m" } }),
      [],
    ],
    [
      "a request above the limit",
      res({ limits: { cpu: "1" }, requests: { cpu: "2" } }),
      [`${r}.requests: Invalid`],
    ],
    ["a request equal to the limit", res({ limits: { cpu: "1" }, requests: { cpu: "1000m" } }), []],
    ["a negative request", res({ requests: { cpu: "-1" } }), [`${r}.requests[cpu]: Invalid`]],
    [
      "a resource that is not for containers",
      res({ limits: { pods: "1" } }),
      [`${r}.limits[pods]: Invalid`, `${r}.requests[pods]: Invalid`],
    ],
    [
      "a malformed resource name",
      res({ requests: { "a b/c": "1" } }),
      [`${r}.requests[a b/c]: Invalid`, `${r}.requests[a b/c]: Invalid`, `${r}.limits: Required`],
    ],
    ["an extended resource", res({ limits: { "example.com/gpu": "2" } }), []],
    [
      "a fraction of an extended resource",
      res({ limits: { "example.com/gpu": "500m" } }),
      [`${r}.limits[example.com/gpu]: Invalid`, `${r}.requests[example.com/gpu]: Invalid`],
    ],
    [
      "an extended resource without a limit",
      res({ requests: { "example.com/gpu": "2" } }),
      [`${r}.limits: Required`],
    ],
    [
      "an extended resource with a request below the limit",
      res({ limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } }),
      [`${r}.requests: Invalid`],
    ],
    ["huge pages with memory", res({ limits: { "hugepages-2Mi": "4Mi", memory: "1Gi" } }), []],
    ["huge pages without cpu and memory", res({ limits: { "hugepages-2Mi": "4Mi" } }), [`${r}: Forbidden`]],
    [
      "huge pages that are not a multiple of the page size",
      res({ limits: { "hugepages-2Mi": "3Mi", cpu: "1" } }),
      [`${r}.limits[hugepages-2Mi]: Invalid`, `${r}.requests[hugepages-2Mi]: Invalid`],
    ],
    ["a pod overhead", podWith({ overhead: { cpu: "100m" } }), []],
    ["a negative pod overhead", podWith({ overhead: { cpu: "-1" } }), ["spec.overhead.limits[cpu]: Invalid"]],
  ]);
});

describe("Security context", () => {
  const own = (securityContext: Part, spec: Part = {}) => containerWith({ securityContext }, spec);
  const all = (securityContext: Part) => podWith({ securityContext });
  const s = `${c}.securityContext`;
  check([
    [
      "a container securityContext",
      own({ runAsUser: 0, capabilities: { add: ["NET_ADMIN"] }, seccompProfile: { type: "RuntimeDefault" } }),
      [],
    ],
    ["a negative runAsUser", own({ runAsUser: -1 }), [`${s}.runAsUser: Invalid`]],
    ["a runAsGroup above 2^31-1", own({ runAsGroup: 2 ** 31 }), [`${s}.runAsGroup: Invalid`]],
    [
      "allowPrivilegeEscalation false in a privileged container",
      own({ allowPrivilegeEscalation: false, privileged: true }),
      [`${s}: Invalid`],
    ],
    [
      "allowPrivilegeEscalation false with CAP_SYS_ADMIN",
      own({ allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } }),
      [`${s}: Invalid`],
    ],
    [
      "seccompProfile Localhost without localhostProfile",
      own({ seccompProfile: { type: "Localhost" } }),
      [`${s}.seccompProfile.localhostProfile: Required`],
    ],
    [
      "a localhostProfile with ..",
      own({ seccompProfile: { type: "Localhost", localhostProfile: "../a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "a localhostProfile with seccompProfile Unconfined",
      own({ seccompProfile: { type: "Unconfined", localhostProfile: "a" } }),
      [`${s}.seccompProfile.localhostProfile: Invalid`],
    ],
    [
      "an unknown seccompProfile type",
      own({ seccompProfile: { type: "Custom" } }),
      [`${s}.seccompProfile.type: NotSupported`],
    ],
    ["a Windows runAsUserName with a domain", own({ windowsOptions: { runAsUserName: "DOMAIN\\me" } }), []],
    [
      "an empty runAsUserName",
      own({ windowsOptions: { runAsUserName: "" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "a runAsUserName with two backslashes",
      own({ windowsOptions: { runAsUserName: "a\\b\\c" } }),
      [`${s}.windowsOptions.runAsUserName: Invalid`],
    ],
    [
      "an empty gmsaCredentialSpec",
      own({ windowsOptions: { gmsaCredentialSpec: "" } }),
      [`${s}.windowsOptions.gmsaCredentialSpec: Invalid`],
    ],
    [
      "a malformed gmsaCredentialSpecName",
      own({ windowsOptions: { gmsaCredentialSpecName: "A b" } }),
      [`${s}.windowsOptions.gmsaCredentialSpecName: Invalid`],
    ],
    [
      "a negative supplemental group",
      all({ supplementalGroups: [1, -1] }),
      ["spec.securityContext.supplementalGroups[1]: Invalid"],
    ],
    ["a negative fsGroup", all({ fsGroup: -1 }), ["spec.securityContext.fsGroup: Invalid"]],
    [
      "an unknown fsGroupChangePolicy",
      all({ fsGroupChangePolicy: "Never" }),
      ["spec.securityContext.fsGroupChangePolicy: NotSupported"],
    ],
    [
      "sysctls",
      all({
        sysctls: [
          { name: "net.ipv4.ip_local_port_range", value: "1" },
          { name: "kernel/shm", value: "" },
        ],
      }),
      [],
    ],
    [
      "a sysctl without a name",
      all({ sysctls: [{ value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Required"],
    ],
    [
      "a malformed sysctl name",
      all({ sysctls: [{ name: "Net", value: "1" }] }),
      ["spec.securityContext.sysctls[0].name: Invalid"],
    ],
    [
      "a duplicate sysctl",
      all({
        sysctls: [
          { name: "a", value: "1" },
          { name: "a", value: "1" },
        ],
      }),
      ["spec.securityContext.sysctls[1].name: Duplicate"],
    ],
    [
      "both hostPID and shareProcessNamespace",
      podWith({ hostPID: true, shareProcessNamespace: true }),
      ["spec.securityContext.shareProcessNamespace: Invalid"],
    ],
    [
      "windowsOptions with os linux",
      own({ windowsOptions: {} }, { os: { name: "linux" } }),
      [`${s}.windowsOptions: Forbidden`],
    ],
    [
      "runAsUser with os windows",
      own({ runAsUser: 1 }, { os: { name: "windows" } }),
      [`${s}.runAsUser: Forbidden`],
    ],
    [
      "fsGroup and hostPID with os windows",
      podWith({ os: { name: "windows" }, hostPID: true, securityContext: { fsGroup: 1 } }),
      ["spec.securityContext.fsGroup: Forbidden", "spec.hostPID: Forbidden"],
    ],
    ["an unknown os name", podWith({ os: { name: "plan9" } }), ["spec.os: NotSupported"]],
    ["an empty os", podWith({ os: {} }), ["spec.os.name: Required"]],
    [
      "a hostProcess container with hostNetwork",
      own({ windowsOptions: { hostProcess: true } }, { hostNetwork: true }),
      [],
    ],
    [
      "a hostProcess container without hostNetwork",
      own({ windowsOptions: { hostProcess: true } }),
      ["spec.hostNetwork: Invalid"],
    ],
    [
      "a hostProcess container beside other containers",
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
      "a container hostProcess that contradicts the pod",
      own(
        { windowsOptions: { hostProcess: true } },
        { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: false } } },
      ),
      [`${s}.windowsOptions.hostProcess: Invalid`],
    ],
  ]);
});
