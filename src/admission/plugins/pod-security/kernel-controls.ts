import {
  containersNamed,
  distinct,
  exceptInUserNamespace,
  namesWhere,
  quoted,
  type Check,
  type CheckedPod,
  type Control,
  type Violation,
} from "./control.ts";

/** Forbids an unmasked `/proc`, from v1.35 on only to pods among the users of the host. */
export const procMount: Control = {
  id: "procMount",
  level: "baseline",
  rules: [
    { since: 0, check: unmasksProc },
    { since: 35, check: exceptInUserNamespace(unmasksProc) },
  ],
};

/** Forbids an unmasked `/proc` to all pods, where `baseline` doesn't. */
export const restrictedProcMount: Control = {
  id: "procMount_restricted",
  level: "restricted",
  rules: [{ since: 35, check: unmasksProc }],
  replaces: procMount.id,
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

/** Kernel parameters that are local to the pod, by the minor release from which on they are allowed. */
const safeSysctls: readonly { readonly since: number; readonly names: readonly string[] }[] = [
  {
    since: 0,
    names: [
      "kernel.shm_rmid_forced",
      "net.ipv4.ip_local_port_range",
      "net.ipv4.tcp_syncookies",
      "net.ipv4.ping_group_range",
      "net.ipv4.ip_unprivileged_port_start",
    ],
  },
  { since: 27, names: ["net.ipv4.ip_local_reserved_ports"] },
  {
    since: 29,
    names: [
      "net.ipv4.tcp_keepalive_time",
      "net.ipv4.tcp_fin_timeout",
      "net.ipv4.tcp_keepalive_intvl",
      "net.ipv4.tcp_keepalive_probes",
    ],
  },
  { since: 32, names: ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] },
];

/** Forbids kernel parameters that affect other pods of the node. */
export const sysctls: Control = {
  id: "sysctls",
  level: "baseline",
  rules: safeSysctls.map(({ since }) => ({ since, check: setsOtherSysctls(sysctlsUntil(since)) })),
};

function sysctlsUntil(minor: number): ReadonlySet<string> {
  return new Set(safeSysctls.flatMap(({ since, names }) => (since <= minor ? names : [])));
}

function setsOtherSysctls(allowed: ReadonlySet<string>): Check {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !allowed.has(name));
    return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
  };
}
