import { labelKey } from "../../../vocabulary/names.ts";
import {
  containersNamed,
  distinct,
  exceptOnWindows,
  namesWhere,
  plural,
  quoted,
  settersNamed,
  type Check,
  type CheckedPod,
  type Control,
  type Violation,
} from "./control.ts";

/**
 * Forbids AppArmor profiles other than the default of the runtime and those of the node (`localhost/…`). Annotations define them, and
 * from release 1.30 on the field `securityContext.appArmorProfile`.
 */
export const appArmorProfile: Control = {
  id: "appArmorProfile",
  level: "baseline",
  rules: [{ since: 0, check: overridesAppArmor }],
};

function overridesAppArmor(pod: CheckedPod): Violation | undefined {
  const { annotations, domain, spec } = pod;
  const prefix = labelKey(domain, "", "container.apparmor.security.beta");
  const allowed = (profile: string) =>
    profile === "" || profile === "runtime/default" || profile.startsWith("localhost/");
  const forbidden = Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(prefix) && !allowed(profile))
    .map(([key, profile]) => `${key}=${JSON.stringify(profile)}`);
  const types: string[] = [];
  const isForbidden = (profile: { readonly type?: string } | undefined): boolean => {
    const type = profile?.type ?? "";
    if (type === "" || type === "RuntimeDefault" || type === "Localhost") return false;
    types.push(type);
    return true;
  };
  const ofPod = isForbidden(appArmorOf(spec.securityContext));
  const names = namesWhere(pod, ({ securityContext }) => isForbidden(appArmorOf(securityContext)));
  const details = forbidden.toSorted();
  if (types.length > 0) {
    const setters = settersNamed(ofPod, names);
    details.push(`${setters} must not set AppArmor profile type to ${quoted(distinct(types))}`);
  }
  if (details.length === 0) return undefined;
  const reason = plural([...forbidden, ...distinct(types)], "forbidden AppArmor profile");
  return { reason, detail: details.join(", ") };
}

/** Returns the AppArmor profile of a security context, a field of later releases. */
function appArmorOf(context: object | undefined): { readonly type?: string } | undefined {
  return (context as { readonly appArmorProfile?: { readonly type?: string } } | undefined)?.appArmorProfile;
}

const seLinuxTypes: ReadonlySet<string> = new Set(["", "container_t", "container_init_t", "container_kvm_t"]);
/** From release 1.31 on. */
const laterSeLinuxTypes: ReadonlySet<string> = new Set([...seLinuxTypes, "container_engine_t"]);

/** Forbids SELinux options with a user, a role, or a type other than those for containers. */
export const seLinuxOptions: Control = {
  id: "seLinuxOptions",
  level: "baseline",
  rules: [
    { since: 0, check: setsSeLinux(seLinuxTypes) },
    { since: 31, check: setsSeLinux(laterSeLinuxTypes) },
  ],
};

interface SeLinuxOptions {
  readonly user?: string | undefined;
  readonly role?: string | undefined;
  readonly type?: string | undefined;
}

function setsSeLinux(allowedTypes: ReadonlySet<string>): Check {
  return (pod) => seLinuxViolation(pod, allowedTypes);
}

function seLinuxViolation(pod: CheckedPod, allowedTypes: ReadonlySet<string>): Violation | undefined {
  const forbidden: SeLinuxOptions[] = [];
  const isForbidden = (options: SeLinuxOptions | undefined): boolean => {
    if (options === undefined) return false;
    const { user = "", role = "", type = "" } = options;
    if (user === "" && role === "" && allowedTypes.has(type)) return false;
    forbidden.push(options);
    return true;
  };
  const ofPod = isForbidden(pod.spec.securityContext?.seLinuxOptions);
  const names = namesWhere(pod, ({ securityContext }) => isForbidden(securityContext?.seLinuxOptions));
  if (forbidden.length === 0) return undefined;
  const types = distinct(forbidden.map(({ type = "" }) => type).filter((type) => !allowedTypes.has(type)));
  const what = types.length === 0 ? [] : [`${plural(types, "type")} ${quoted(types)}`];
  if (forbidden.some(({ user = "" }) => user !== "")) what.push("user may not be set");
  if (forbidden.some(({ role = "" }) => role !== "")) what.push("role may not be set");
  const setters = settersNamed(ofPod, names);
  const detail = `${setters} set forbidden securityContext.seLinuxOptions: ${what.join("; ")}`;
  return { reason: "seLinuxOptions", detail };
}

/** Forbids disabled seccomp profiles. Before release 1.19 annotations define them, then fields. */
export const baselineSeccomp: Control = {
  id: "seccompProfile_baseline",
  level: "baseline",
  rules: [
    { since: 0, check: annotatesSeccomp },
    { since: 19, check: setsSeccomp },
  ],
};

function annotatesSeccomp({ annotations, containers, domain }: CheckedPod): Violation | undefined {
  const isAllowed = (profile: string) =>
    profile === "runtime/default" || profile === "docker/default" || profile.startsWith("localhost/");
  const keys = [
    labelKey(domain, "pod", "seccomp.security.alpha"),
    ...containers.map(({ name }) => labelKey(domain, name, "container.seccomp.security.alpha")),
  ];
  const forbidden = distinct(
    keys.flatMap((key) => {
      const profile = annotations[key];
      return profile === undefined || isAllowed(profile) ? [] : [`${key}=${JSON.stringify(profile)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `forbidden ${plural(forbidden, "annotation")} ${forbidden.join(", ")}`,
  };
}

interface SeccompProfile {
  readonly type: string;
}

const isAllowedProfile = ({ type }: SeccompProfile): boolean =>
  type === "RuntimeDefault" || type === "Localhost";

function setsSeccomp(pod: CheckedPod): Violation | undefined {
  const types: string[] = [];
  const isForbidden = (profile: SeccompProfile | undefined): boolean => {
    if (profile === undefined || isAllowedProfile(profile)) return false;
    types.push(profile.type);
    return true;
  };
  const ofPod = isForbidden(pod.spec.securityContext?.seccompProfile);
  const names = namesWhere(pod, ({ securityContext }) => isForbidden(securityContext?.seccompProfile));
  if (types.length === 0) return undefined;
  const setters = settersNamed(ofPod, names);
  const which = quoted(distinct(types));
  return {
    reason: "seccompProfile",
    detail: `${setters} must not set securityContext.seccompProfile.type to ${which}`,
  };
}

/** Requires a seccomp profile. */
export const restrictedSeccomp: Control = {
  id: "seccompProfile_restricted",
  level: "restricted",
  rules: [
    { since: 19, check: lacksSeccomp },
    { since: 25, check: exceptOnWindows(lacksSeccomp) },
  ],
  replaces: baselineSeccomp.id,
};

function lacksSeccomp(pod: CheckedPod): Violation | undefined {
  const forbidden = setsSeccomp(pod);
  if (forbidden !== undefined || pod.spec.securityContext?.seccompProfile !== undefined) return forbidden;
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (names.length === 0) return undefined;
  const containers = containersNamed(names);
  return {
    reason: "seccompProfile",
    detail: `pod or ${containers} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}
