import { describe } from "vitest";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

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
