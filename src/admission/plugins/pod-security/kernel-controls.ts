import {
  containersNamed,
  distinct,
  namesWhere,
  quoted,
  type CheckedPod,
  type Control,
  type Violation,
} from "./control.ts";

/** Forbids an unmasked `/proc`. */
export const procMount: Control = {
  id: "procMount",
  level: "baseline",
  rules: [{ since: 0, check: unmasksProc }],
};

function unmasksProc(pod: CheckedPod): Violation | undefined {
  const types: string[] = [];
  const names = namesWhere(pod, ({ securityContext }) => {
    const type = securityContext?.procMount;
    if (type === undefined || type === "Default") return false;
    types.push(type);
    return true;
  });
  if (names.length === 0) return undefined;
  const which = quoted(distinct(types));
  const detail = `${containersNamed(names)} must not set securityContext.procMount to ${which}`;
  return { reason: "procMount", detail };
}

/** Kernel parameters that are local to the pod. */
const safeSysctls: ReadonlySet<string> = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
]);

/** Forbids kernel parameters that affect other pods of the node. */
export const sysctls: Control = {
  id: "sysctls",
  level: "baseline",
  rules: [{ since: 0, check: setsUnsafeSysctls }],
};

function setsUnsafeSysctls({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !safeSysctls.has(name));
  return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
}
