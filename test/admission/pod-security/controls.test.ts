import { describe, expect, test } from "vitest";
import { platform } from "../../../src/vocabulary/platform.ts";
import { checkedPod } from "../../../src/admission/plugins/pod-security/control.ts";
import {
  controls,
  detailsOf,
  Evaluator,
  reasonsOf,
} from "../../../src/admission/plugins/pod-security/evaluator.ts";
import { parseLevel, parseVersion } from "../../../src/admission/plugins/pod-security/levels.ts";
import type { PodSpecValue } from "../../../src/admission/pod-spec.ts";
import { restrictedSpec, withContext } from "./support.ts";

const evaluator = new Evaluator();

/** What a pod violates of a level such as `baseline:v1.20`. */
function violated(level: string, spec: PodSpecValue, annotations: Record<string, string> = {}): string {
  const [name, version] = level.split(":") as [string, string];
  const pod = checkedPod({ metadata: { annotations }, spec }, platform.domain);
  return detailsOf(evaluator.evaluate({ level: parseLevel(name)!, minor: parseVersion(version)! }, pod));
}

const container = (name: string, members: object) => ({
  ...withContext({}).containers[0]!,
  name,
  ...members,
});
const several = (member: string, ...names: string[]) => ({ [member]: names.map((name) => ({ name })) });

/** A pod that breaks one control, from which release on, and what it is told. */
const cases: [id: string, level: string, since: number, spec: PodSpecValue, told: string][] = [
  [
    "hostNamespaces",
    "baseline",
    0,
    restrictedSpec({ hostNetwork: true, hostPID: true, hostIPC: true }),
    "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)",
  ],
  [
    "hostPathVolumes",
    "baseline",
    0,
    restrictedSpec({
      volumes: [
        { name: "a", hostPath: { path: "/" } },
        { name: "b", hostPath: { path: "/" } },
      ],
    }),
    'hostPath volumes (volumes "a", "b")',
  ],
  [
    "hostPorts",
    "baseline",
    0,
    restrictedSpec({
      containers: [
        container("a", { ports: [{ containerPort: 1, hostPort: 80 }, { containerPort: 2 }] }),
        container("b", { ports: [{ containerPort: 1, hostPort: 443 }] }),
      ],
    }),
    'hostPort (containers "a", "b" use hostPorts 443, 80)',
  ],
  [
    "windowsHostProcess",
    "baseline",
    0,
    withContext(
      { windowsOptions: { hostProcess: true } },
      { securityContext: { windowsOptions: { hostProcess: true } } },
    ),
    'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    "privileged",
    "baseline",
    0,
    withContext({ privileged: true }),
    'privileged (container "c" must not set securityContext.privileged=true)',
  ],
  [
    "capabilities_baseline",
    "baseline",
    0,
    withContext({ capabilities: { add: ["SYS_ADMIN", "NET_RAW", "CHOWN"], drop: ["ALL"] } }),
    'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  [
    "seLinuxOptions",
    "baseline",
    0,
    withContext(
      { seLinuxOptions: { type: "spc_t", user: "u" } },
      { securityContext: { seLinuxOptions: { role: "r" } } },
    ),
    'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  ],
  [
    "procMount",
    "baseline",
    0,
    withContext({ procMount: "Unmasked" }),
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    "sysctls",
    "baseline",
    0,
    restrictedSpec({
      securityContext: {
        sysctls: [
          { name: "kernel.msgmax", value: "1" },
          { name: "net.ipv4.tcp_syncookies", value: "1" },
        ],
      },
    }),
    "forbidden sysctls (kernel.msgmax)",
  ],
  [
    "seccompProfile_baseline",
    "baseline",
    19,
    withContext({ seccompProfile: { type: "Unconfined" } }),
    'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    "restrictedVolumes",
    "restricted",
    0,
    restrictedSpec({
      volumes: [
        { name: "a", nfs: { server: "s", path: "/" } },
        { name: "b", emptyDir: {} },
        { name: "d", hostPath: { path: "/" } },
      ],
    }),
    'restricted volume types (volumes "a", "d" use restricted volume types "hostPath", "nfs")',
  ],
  [
    "allowPrivilegeEscalation",
    "restricted",
    8,
    withContext({ allowPrivilegeEscalation: undefined }),
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
  ],
  [
    "capabilities_restricted",
    "restricted",
    22,
    restrictedSpec({
      containers: [
        container("a", {
          securityContext: { ...withContext({}).containers[0]!.securityContext, capabilities: {} },
        }),
        container("b", {
          securityContext: {
            ...withContext({}).containers[0]!.securityContext,
            capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE", "CHOWN"] },
          },
        }),
      ],
    }),
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "b" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    "runAsNonRoot",
    "restricted",
    0,
    withContext({ runAsNonRoot: undefined }),
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  ],
  [
    "runAsUser",
    "restricted",
    23,
    withContext({ runAsUser: 0 }, { securityContext: { runAsUser: 0 } }),
    'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
  ],
  [
    "seccompProfile_restricted",
    "restricted",
    19,
    withContext({ seccompProfile: undefined }),
    'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
];

describe("what each control forbids, and since which release", () => {
  test.each(cases)("%s: %s from v1.%i on", (_, level, since, spec, told) => {
    expect(violated(`${level}:latest`, spec)).toBe(told);
    expect(violated(`${level}:v1.30`, spec)).toBe(told);
    for (let minor = 0; minor <= 27; minor++) {
      expect(violated(`${level}:v1.${minor}`, spec), `v1.${minor}`).toBe(minor < since ? "" : told);
    }
    expect(violated("privileged:latest", spec)).toBe("");
    // What baseline forbids is forbidden by restricted, too; the other way round it isn't.
    if (level === "baseline") expect(violated("restricted:latest", spec)).not.toBe("");
    else expect(violated("baseline:latest", spec)).not.toContain(told.split(" ")[0]);
  });

  // The 13 capabilities of the baseline standard, and all others that there are.
  const baseline = [
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE",
    "SETFCAP SETGID SETPCAP SETUID SYS_CHROOT",
  ].flatMap((names) => names.split(" "));
  const others = [
    "ALL AUDIT_CONTROL AUDIT_READ BLOCK_SUSPEND BPF CHECKPOINT_RESTORE DAC_READ_SEARCH IPC_LOCK IPC_OWNER",
    "LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE NET_ADMIN NET_BROADCAST NET_RAW PERFMON SYS_ADMIN SYS_BOOT",
    "SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG SYSLOG WAKE_ALARM",
  ].flatMap((names) => names.split(" "));
  const adding = (name: string) => withContext({ capabilities: { add: [name], drop: ["ALL"] } });

  test.each(baseline)("baseline allows the capability %s", (name) => {
    expect(violated("baseline:latest", adding(name))).toBe("");
  });

  test.each(others)("baseline forbids the capability %s", (name) => {
    expect(violated("baseline:latest", adding(name))).toBe(
      `non-default capabilities (container "c" must not include "${name}" in securityContext.capabilities.add)`,
    );
  });

  test("every control has a case", () => {
    // verdicts.test.ts has those of the last.
    const others = ["appArmorProfile", "hostProbesAndHostLifecycle", "procMount_restricted"];
    expect([...cases.map(([id]) => id), ...others].toSorted()).toEqual(
      controls.map(({ id }) => id).toSorted(),
    );
  });

  test("appArmorProfile: annotations that turn profiles off", () => {
    const key = (name: string) => `container.apparmor.security.beta.platform.io/${name}`;
    const annotated = (annotations: Record<string, string>) =>
      violated("baseline:v1.0", restrictedSpec(), annotations);
    expect(annotated({ [key("c")]: "unconfined" })).toBe(
      `forbidden AppArmor profile (${key("c")}="unconfined")`,
    );
    expect(annotated({ [key("d")]: "unconfined", [key("c")]: "other" })).toBe(
      `forbidden AppArmor profiles (${key("c")}="other", ${key("d")}="unconfined")`,
    );
    expect(annotated({ [key("a")]: "", [key("b")]: "runtime/default", [key("c")]: "localhost/x" })).toBe("");
    expect(annotated({ "container.apparmor.security.beta.example.com/c": "unconfined" })).toBe("");
  });

  test("seccompProfile_baseline: annotations before v1.19", () => {
    const pod = "seccomp.security.alpha.platform.io/pod";
    const ofContainer = "container.seccomp.security.alpha.platform.io/c";
    const annotations = {
      [pod]: "unconfined",
      [ofContainer]: "unconfined",
      "container.other/c": "unconfined",
    };
    expect(violated("baseline:v1.18", restrictedSpec(), annotations)).toBe(
      `seccompProfile (forbidden annotations ${ofContainer}="unconfined", ${pod}="unconfined")`,
    );
    expect(violated("restricted:v1.18", restrictedSpec(), annotations)).toContain("forbidden annotations");
    expect(violated("baseline:v1.19", restrictedSpec(), annotations)).toBe("");
    const allowed = { [pod]: "docker/default", [ofContainer]: "localhost/x" };
    expect(violated("baseline:v1.18", restrictedSpec(), allowed)).toBe("");
  });
});

describe("rules of later releases", () => {
  const later = new Evaluator("1.37");
  const violations = (evaluated: Evaluator, version: string, spec: PodSpecValue) =>
    detailsOf(
      evaluated.evaluate(
        { level: "baseline", minor: parseVersion(version)! },
        checkedPod({ spec }, platform.domain),
      ),
    );
  const sysctl = (name: string) => restrictedSpec({ securityContext: { sysctls: [{ name, value: "1" }] } });
  const probing = (members: object) => restrictedSpec({ containers: [container("a", members)] });
  const httpGet = { port: 80, host: "169.254.169.254" };

  test.each<[what: string, since: number, forbids: boolean, spec: PodSpecValue]>([
    ["net.ipv4.ip_local_reserved_ports", 27, false, sysctl("net.ipv4.ip_local_reserved_ports")],
    ["net.ipv4.tcp_keepalive_probes", 29, false, sysctl("net.ipv4.tcp_keepalive_probes")],
    ["net.ipv4.tcp_rmem", 32, false, sysctl("net.ipv4.tcp_rmem")],
    [
      "the SELinux type container_engine_t",
      31,
      false,
      restrictedSpec({ securityContext: { seLinuxOptions: { type: "container_engine_t" } } }),
    ],
    ["the host of a probe", 34, true, probing({ livenessProbe: { httpGet } })],
    ["the host of a TCP probe", 34, true, probing({ startupProbe: { tcpSocket: httpGet } })],
    ["the host of a handler", 34, true, probing({ lifecycle: { preStop: { httpGet } } })],
  ])("%s: from v1.%i on", (_what, since, forbids, spec) => {
    for (let minor = 20; minor <= 37; minor++) {
      const isForbidden = violations(later, `v1.${minor}`, spec) !== "";
      expect(isForbidden, `v1.${minor}`).toBe(minor >= since ? forbids : !forbids);
    }
    expect(violations(later, "latest", spec) !== "").toBe(forbids);
    // A server of an earlier release evaluates later versions by its own rules.
    for (const version of ["latest", "v1.37"])
      expect(violations(evaluator, version, spec) !== "").toBe(!forbids);
  });

  test("a probe without host is allowed, and the message names container and host", () => {
    expect(violations(later, "latest", probing({ livenessProbe: { httpGet: { port: 80 } } }))).toBe("");
    expect(violations(later, "latest", probing({ readinessProbe: { httpGet } }))).toBe(
      'probe or lifecycle host (container "a" must not set host "169.254.169.254" in probes or lifecycle handlers)',
    );
  });

  test("a field forbids what an annotation forbids: an AppArmor profile that is off", () => {
    const profile = (type: string) => ({ appArmorProfile: { type } });
    expect(
      violations(
        later,
        "latest",
        withContext(profile("Unconfined"), { securityContext: profile("Unconfined") }),
      ),
    ).toBe(
      'forbidden AppArmor profile (pod and container "c" must not set AppArmor profile type to "Unconfined")',
    );
    for (const type of ["RuntimeDefault", "Localhost"])
      expect(violations(later, "latest", withContext(profile(type)))).toBe("");
  });
});

describe("restricted", () => {
  test("allows a pod with all required settings in every version", () => {
    for (let minor = 0; minor <= 27; minor++) {
      expect(violated(`restricted:v1.${minor}`, restrictedSpec())).toBe("");
    }
  });

  test("pod settings apply to containers without their own setting", () => {
    const spec = withContext(
      { runAsNonRoot: undefined, seccompProfile: undefined },
      {
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "Localhost", localhostProfile: "p" } },
      },
    );
    expect(violated("restricted:latest", spec)).toBe("");
    const contradicting = withContext(
      { runAsNonRoot: false, seccompProfile: { type: "Unconfined" } },
      { securityContext: { runAsNonRoot: false, seccompProfile: { type: "RuntimeDefault" } } },
    );
    expect(violated("restricted:latest", contradicting)).toBe(
      'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false), ' +
        'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    );
  });

  test("a Windows pod needs no Linux-only settings from v1.25 on", () => {
    const bare = withContext(
      { allowPrivilegeEscalation: undefined, capabilities: undefined, seccompProfile: undefined },
      { os: { name: "windows" } },
    );
    expect(violated("restricted:v1.25", bare)).toBe("");
    expect(violated("restricted:latest", bare)).toBe("");
    expect(violated("restricted:v1.24", bare)).toMatch(
      /^allowPrivilegeEscalation.*unrestricted capabilities.*seccompProfile/,
    );
    expect(violated("restricted:latest", { ...bare, os: { name: "linux" } })).not.toBe("");
  });

  test("init, normal and ephemeral containers are checked in this order", () => {
    const spec = restrictedSpec({
      ...several("initContainers", "i"),
      ...several("containers", "c"),
      ...several("ephemeralContainers", "e"),
    });
    expect(violated("restricted:v1.8", spec)).toContain('containers "i", "c", "e" must set');
  });

  test("baseline violations come first, and a restricted control replaces the baseline control that it overrides", () => {
    const spec = withContext(
      { privileged: true, capabilities: { add: ["SYS_ADMIN"] }, runAsNonRoot: undefined },
      { hostNetwork: true, volumes: [{ name: "v", hostPath: { path: "/" } }] },
    );
    const reasons = (level: "baseline" | "restricted", minor: number) =>
      reasonsOf(evaluator.evaluate({ level, minor }, checkedPod({ spec }, platform.domain)));
    expect(reasons("restricted", Infinity)).toBe(
      "host namespaces, privileged, unrestricted capabilities, restricted volume types, runAsNonRoot != true",
    );
    expect(reasons("restricted", 21)).toBe(
      "non-default capabilities, host namespaces, privileged, restricted volume types, runAsNonRoot != true",
    );
    expect(reasons("baseline", Infinity)).toBe(
      "non-default capabilities, host namespaces, hostPath volumes, privileged",
    );
  });
});
