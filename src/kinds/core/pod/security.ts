import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { dnsSubdomain } from "../../checks/names.ts";
import { userOrGroupId } from "../../checks/numbers.ts";
import { each } from "../../checks/values.ts";
import {
  checkEscalation,
  checkPrivileged,
  checkSeccompProfile,
  credentialSpec,
  notEmptyText,
  sysctls,
  windowsUser,
} from "./security-rules.ts";
import { bool, field, int64, list, string } from "../../../schema/types.ts";
import type { FieldReport } from "../../../schema/faults.ts";

/** Maximum length of a profile's name in characters. */
const maxProfileLength = 4095;

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string | null | undefined;
}

/** Requires the name of the profile for Localhost, and rejects it for other types. */
function checkProfile({ type, localhostProfile }: Profile, report: FieldReport): void {
  const at = report.at("localhostProfile");
  if (type === "Localhost") {
    if (localhostProfile === undefined || localhostProfile === null || localhostProfile === "") {
      at.required("when the type is Localhost");
      return;
    }
    if (localhostProfile !== localhostProfile.trim()) {
      at.invalid(localhostProfile, "must not have leading or trailing whitespace");
    }
    if (localhostProfile.length > maxProfileLength) at.tooLong(maxProfileLength, "characters");
  } else if (localhostProfile !== undefined && localhostProfile !== null) {
    at.invalid(localhostProfile, "may only be set when the type is Localhost");
  }
}

const AppArmorProfile = struct(
  "AppArmorProfile",
  "The AppArmor profile of a pod or container.",
  {
    type: field(1, string, "Type of the profile: RuntimeDefault, Localhost or Unconfined.")
      .required()
      .oneOf("Localhost", "RuntimeDefault", "Unconfined"),
    localhostProfile: field(
      2,
      string,
      "Name of a profile loaded on the node; only for the type Localhost.",
    ).nullable(),
  },
  { check: checkProfile },
);

const Capabilities = struct("Capabilities", "Linux capabilities to add and drop.", {
  add: field(1, list(string), "Capabilities to add.").atomic(),
  drop: field(2, list(string), "Capabilities to drop.").atomic(),
});

const SELinuxOptions = struct("SELinuxOptions", "SELinux context of a container.", {
  user: field(1, string, "User part of the SELinux context."),
  role: field(2, string, "Role part of the SELinux context."),
  type: field(3, string, "Type part of the SELinux context."),
  level: field(4, string, "Level part of the SELinux context."),
});

const WindowsSecurityContextOptions = struct(
  "WindowsSecurityContextOptions",
  "Security settings for Windows.",
  {
    gmsaCredentialSpecName: field(1, string, "Name of the GMSA credential spec.")
      .nullable()
      .check(dnsSubdomain),
    gmsaCredentialSpec: field(2, string, "Content of the GMSA credential spec.")
      .nullable()
      .check(credentialSpec),
    runAsUserName: field(3, string, "Windows user that runs the process. Default: that of the image.")
      .nullable()
      .check(windowsUser),
    hostProcess: field(
      4,
      bool,
      "Whether the container runs as a host process; equal for all containers of a pod.",
    ).nullable(),
  },
  {
    // Here an empty text differs from an absent one, and rules of fields skip empty texts.
    check(options, report) {
      notEmptyText(options.gmsaCredentialSpec, report.at("gmsaCredentialSpec"));
      notEmptyText(options.runAsUserName, report.at("runAsUserName"));
      if (options.gmsaCredentialSpecName === "") dnsSubdomain("", report.at("gmsaCredentialSpecName"));
    },
  },
);

const SeccompProfile = struct(
  "SeccompProfile",
  "The seccomp profile of a pod or container.",
  {
    type: field(1, string, "Type of the profile: RuntimeDefault, Localhost or Unconfined.")
      .required()
      .oneOf("Localhost", "RuntimeDefault", "Unconfined"),
    localhostProfile: field(
      2,
      string,
      "Profile file on the node, below the kubelet's seccomp directory; only for the type Localhost.",
    ).nullable(),
  },
  { check: checkSeccompProfile },
);

export const SecurityContext = struct(
  "SecurityContext",
  "Security settings of a container.",
  {
    capabilities: field(1, Capabilities, "Linux capabilities to add and drop.").nullable(),
    privileged: field(
      2,
      bool,
      "Whether the container is privileged, with root-like access to the host. Default: false.",
    )
      .nullable()
      .check(checkPrivileged),
    seLinuxOptions: field(3, SELinuxOptions, "SELinux context of the container.").nullable(),
    runAsUser: field(4, int64, "User ID of the process. Default: that of the image.")
      .nullable()
      .check(userOrGroupId),
    runAsNonRoot: field(5, bool, "Whether the container must run as a user other than root.").nullable(),
    readOnlyRootFilesystem: field(
      6,
      bool,
      "Whether the root file system is read-only. Default: false.",
    ).nullable(),
    allowPrivilegeEscalation: field(
      7,
      bool,
      "Whether a process can gain more privileges than its parent.",
    ).nullable(),
    runAsGroup: field(8, int64, "Group ID of the process. Default: that of the runtime.")
      .nullable()
      .check(userOrGroupId),
    procMount: field(9, string, "Type of the mount of `/proc`: Default or Unmasked.")
      .nullable()
      .oneOf("Default", "Unmasked")
      .gated("ProcMountType", "Default"),
    windowsOptions: field(10, WindowsSecurityContextOptions, "Windows-specific settings.").nullable(),
    seccompProfile: field(
      11,
      SeccompProfile,
      "Seccomp profile of the container; overrides that of the pod.",
    ).nullable(),
  },
  { check: checkEscalation, later: () => ({ appArmorProfile: appArmorProfile(12) }) },
);

/** The AppArmor profile of a pod or container, with this field number. */
function appArmorProfile(number: number) {
  const profile = field(number, AppArmorProfile, "AppArmor profile of the processes.");
  return since("1.30", profile.nullable().gated("AppArmorFields"));
}

const Sysctl = struct("Sysctl", "A kernel parameter (sysctl).", {
  name: field(1, string, "Name of the parameter, such as `net.core.somaxconn`.").required(),
  value: field(2, string, "Value of the parameter.").declaredRequired(),
});

export const PodSecurityContext = struct(
  "PodSecurityContext",
  "Security settings of a pod; its containers can override some of them.",
  {
    seLinuxOptions: field(1, SELinuxOptions, "SELinux context of all containers.").nullable(),
    runAsUser: field(2, int64, "User ID of the processes. Default: that of the image.")
      .nullable()
      .check(userOrGroupId),
    runAsNonRoot: field(3, bool, "Whether the containers must run as a user other than root.").nullable(),
    supplementalGroups: field(4, list(int64), "Additional group IDs of the containers' processes.")
      .atomic()
      .check(each(userOrGroupId)),
    fsGroup: field(5, int64, "Group ID that owns the volumes of the pod.").nullable().check(userOrGroupId),
    runAsGroup: field(6, int64, "Group ID of the processes. Default: that of the runtime.")
      .nullable()
      .check(userOrGroupId),
    sysctls: field(7, list(Sysctl), "Kernel parameters (sysctls) of the pod.").atomic().check(sysctls),
    windowsOptions: field(8, WindowsSecurityContextOptions, "Windows-specific settings.").nullable(),
    fsGroupChangePolicy: field(
      9,
      string,
      "Condition for changing the ownership of volumes to `fsGroup`: Always or OnRootMismatch. Default: Always.",
    )
      .nullable()
      .oneOf("Always", "OnRootMismatch"),
    seccompProfile: field(10, SeccompProfile, "Seccomp profile of the containers.").nullable(),
  },
  {
    later: () => ({
      appArmorProfile: appArmorProfile(11),
      supplementalGroupsPolicy: since(
        "1.31",
        field(
          12,
          string,
          "Whether groups of the image are added to `supplementalGroups`: Merge or Strict. Default: Merge.",
        )
          .nullable()
          .oneOf("Merge", "Strict")
          .gated("SupplementalGroupsPolicy"),
      ),
      seLinuxChangePolicy: since(
        "1.32",
        field(13, string, "Method of applying the SELinux label to volumes: MountOption or Recursive.")
          .nullable()
          .oneOf("MountOption", "Recursive")
          .gated("SELinuxChangePolicy"),
      ),
    }),
  },
);
