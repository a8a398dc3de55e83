import type { Container } from "../../../kinds/core/pod/container.ts";
import { containersNamed, distinct, namesWhere, plural, quoted, settersNamed } from "./control.ts";
import type { CheckedPod, Control, Violation } from "./control.ts";

/** Forbids the network, process and IPC namespaces of the host. */
export const hostNamespaces: Control = {
  id: "hostNamespaces",
  level: "baseline",
  rules: [{ since: 0, check: sharesNamespaces }],
};

function sharesNamespaces({ spec }: CheckedPod): Violation | undefined {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") };
}

/** Forbids hostPath volumes. */
export const hostPathVolumes: Control = {
  id: "hostPathVolumes",
  level: "baseline",
  rules: [{ since: 0, check: mountsHostPaths }],
};

function mountsHostPaths({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural(names, "volume")} ${quoted(names)}` };
}

/** Forbids ports of the host. */
export const hostPorts: Control = {
  id: "hostPorts",
  level: "baseline",
  rules: [{ since: 0, check: takesHostPorts }],
};

function takesHostPorts(pod: CheckedPod): Violation | undefined {
  const used: string[] = [];
  const names = namesWhere(pod, ({ ports = [] }) => {
    const withHostPort = ports.filter(({ hostPort = 0 }) => hostPort !== 0);
    used.push(...withHostPort.map(({ hostPort }) => String(hostPort)));
    return withHostPort.length > 0;
  });
  if (names.length === 0) return undefined;
  const ports = distinct(used);
  const verb = names.length === 1 ? "uses" : "use";
  const detail = `${containersNamed(names)} ${verb} ${plural(ports, "hostPort")} ${ports.join(", ")}`;
  return { reason: "hostPort", detail };
}

/** Forbids another host than the pod for probes and lifecycle handlers: the node agent would connect to it. */
export const hostProbes: Control = {
  id: "hostProbesAndHostLifecycle",
  level: "baseline",
  rules: [{ since: 34, check: namesHosts }],
};

function namesHosts(pod: CheckedPod): Violation | undefined {
  const used: string[] = [];
  const names = namesWhere(pod, (container) => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container as Partial<Container>;
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
    const hosts = handlers
      .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
      .filter((host) => host !== undefined && host !== "");
    used.push(...(hosts as string[]));
    return hosts.length > 0;
  });
  if (names.length === 0) return undefined;
  const hosts = distinct(used);
  const detail = `${containersNamed(names)} must not set ${plural(hosts, "host")} ${quoted(hosts)} in probes or lifecycle handlers`;
  return { reason: "probe or lifecycle host", detail };
}

/** Forbids Windows host processes. */
export const windowsHostProcess: Control = {
  id: "windowsHostProcess",
  level: "baseline",
  rules: [{ since: 0, check: isHostProcess }],
};

function isHostProcess(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const names = namesWhere(
    pod,
    ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true,
  );
  if (!ofPod && names.length === 0) return undefined;
  const setters = settersNamed(ofPod, names);
  return {
    reason: "hostProcess",
    detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  };
}
