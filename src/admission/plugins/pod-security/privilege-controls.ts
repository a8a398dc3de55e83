import {
  containersNamed,
  distinct,
  exceptInUserNamespace,
  exceptOnWindows,
  namesWhere,
  quoted,
  settersNamed,
  type CheckedPod,
  type Control,
  type Violation,
} from "./control.ts";

/** Forbids privileged containers. */
export const privileged: Control = {
  id: "privileged",
  level: "baseline",
  rules: [{ since: 0, check: isPrivileged }],
};

function isPrivileged(pod: CheckedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (names.length === 0) return undefined;
  const detail = `${containersNamed(names)} must not set securityContext.privileged=true`;
  return { reason: "privileged", detail };
}

/** Requires that processes can't gain more privileges than their parent. The field exists since 1.8. */
export const allowPrivilegeEscalation: Control = {
  id: "allowPrivilegeEscalation",
  level: "restricted",
  rules: [
    { since: 8, check: allowsEscalation },
    { since: 25, check: exceptOnWindows(allowsEscalation) },
  ],
};

function allowsEscalation(pod: CheckedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  const detail = `${containersNamed(names)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
}

/** Default capabilities of container runtimes. */
const ordinaryCapabilities: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

/** Forbids capabilities other than the default ones. */
export const baselineCapabilities: Control = {
  id: "capabilities_baseline",
  level: "baseline",
  rules: [{ since: 0, check: addsCapabilities }],
};

function addsCapabilities(pod: CheckedPod): Violation | undefined {
  const detail = addedBeyond(ordinaryCapabilities, pod);
  return detail === undefined ? undefined : { reason: "non-default capabilities", detail };
}

/** Requires to drop all capabilities; only NET_BIND_SERVICE may be added. */
export const restrictedCapabilities: Control = {
  id: "capabilities_restricted",
  level: "restricted",
  rules: [
    { since: 22, check: keepsCapabilities },
    { since: 25, check: exceptOnWindows(keepsCapabilities) },
  ],
  replaces: baselineCapabilities.id,
};

const harmlessCapabilities: ReadonlySet<string> = new Set(["NET_BIND_SERVICE"]);

function keepsCapabilities(pod: CheckedPod): Violation | undefined {
  const keeping = namesWhere(
    pod,
    ({ securityContext }) => securityContext?.capabilities?.drop?.includes("ALL") !== true,
  );
  const details =
    keeping.length === 0
      ? []
      : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`];
  const added = addedBeyond(harmlessCapabilities, pod);
  if (added !== undefined) details.push(added);
  return details.length === 0
    ? undefined
    : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

function addedBeyond(allowed: ReadonlySet<string>, pod: CheckedPod): string | undefined {
  const forbidden: string[] = [];
  const names = namesWhere(pod, ({ securityContext }) => {
    const added = (securityContext?.capabilities?.add ?? []).filter((one) => !allowed.has(one));
    forbidden.push(...added);
    return added.length > 0;
  });
  if (names.length === 0) return undefined;
  const which = quoted(distinct(forbidden));
  return `${containersNamed(names)} must not include ${which} in securityContext.capabilities.add`;
}

/** Requires `runAsNonRoot`, from v1.35 on except in a user namespace. */
export const runAsNonRoot: Control = {
  id: "runAsNonRoot",
  level: "restricted",
  rules: [
    { since: 0, check: mayRunAsRoot },
    { since: 35, check: exceptInUserNamespace(mayRunAsRoot) },
  ],
};

function mayRunAsRoot(pod: CheckedPod): Violation | undefined {
  const reason = "runAsNonRoot != true";
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const explicit = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (ofPod === false || explicit.length > 0) {
    const setters = settersNamed(ofPod === false, explicit);
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  if (ofPod === true) return undefined;
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` };
}

/** Forbids the user 0, from v1.35 on except in a user namespace. */
export const runAsUser: Control = {
  id: "runAsUser",
  level: "restricted",
  rules: [
    { since: 23, check: runsAsRoot },
    { since: 35, check: exceptInUserNamespace(runsAsRoot) },
  ],
};

function runsAsRoot(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.runAsUser === 0;
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  if (!ofPod && names.length === 0) return undefined;
  return { reason: "runAsUser=0", detail: `${settersNamed(ofPod, names)} must not set runAsUser=0` };
}
