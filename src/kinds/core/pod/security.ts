import { struct } from "../v1.ts";
import { dnsSubdomain } from "../../checks/names.ts";
import { AppArmorProfile } from "./app-armor.ts";
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
import { since } from "../../../schema/later-fields.ts";
import { bool, field, int64, list, string } from "../../../schema/types.ts";

const Capabilities = struct("Capabilities", "Rights of the process that are added or taken away.", {
  add: field(1, list(string), "Capabilities that are added.").atomic(),
  drop: field(2, list(string), "Capabilities that are taken away.").atomic(),
});

const SELinuxOptions = struct("SELinuxOptions", "An SELinux label.", {
  user: field(1, string, "User part of the label."),
  role: field(2, string, "Role part of the label."),
  type: field(3, string, "Type part of the label."),
  level: field(4, string, "Level part of the label."),
});

const WindowsSecurityContextOptions = struct(
  "WindowsSecurityContextOptions",
  "Security settings for Windows.",
  {
    gmsaCredentialSpecName: field(1, string, "Name of the group managed account's credential spec.")
      .nullable()
      .check(dnsSubdomain),
    gmsaCredentialSpec: field(2, string, "Content of the credential spec.").nullable().check(credentialSpec),
    runAsUserName: field(3, string, "User under which the program runs.").nullable().check(windowsUser),
    hostProcess: field(
      4,
      bool,
      "Whether the container runs as a process of the host; all of a pod's or none.",
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
  "Which system calls are allowed.",
  {
    type: field(1, string, "Where the profile comes from.")
      .required()
      .oneOf("Localhost", "RuntimeDefault", "Unconfined"),
    localhostProfile: field(
      2,
      string,
      "File of a profile on the node, below the configured directory; for Localhost only.",
    ).nullable(),
  },
  { check: checkSeccompProfile },
);

export const SecurityContext = struct(
  "SecurityContext",
  "Security settings of a container.",
  {
    capabilities: field(1, Capabilities, "Rights that are added and taken away.").nullable(),
    privileged: field(2, bool, "Whether the container has all rights on the host.")
      .nullable()
      .check(checkPrivileged),
    seLinuxOptions: field(3, SELinuxOptions, "SELinux label of the container.").nullable(),
    runAsUser: field(4, int64, "Numeric id of the user that runs the program.")
      .nullable()
      .check(userOrGroupId),
    runAsNonRoot: field(5, bool, "Whether the container must not run as user 0.").nullable(),
    readOnlyRootFilesystem: field(
      6,
      bool,
      "Whether the container's root file system can only be read.",
    ).nullable(),
    allowPrivilegeEscalation: field(
      7,
      bool,
      "Whether a process can get more rights than its parent.",
    ).nullable(),
    runAsGroup: field(8, int64, "Numeric id of the group that runs the program.")
      .nullable()
      .check(userOrGroupId),
    procMount: field(9, string, "How the process file system is mounted.")
      .nullable()
      .oneOf("Default", "Unmasked")
      .gated("ProcMountType", "Default"),
    windowsOptions: field(10, WindowsSecurityContextOptions, "Settings for Windows containers.").nullable(),
    seccompProfile: field(11, SeccompProfile, "System calls that the container may make.").nullable(),
  },
  { check: checkEscalation, later: () => ({ appArmorProfile: appArmorProfile(12) }) },
);

/** The AppArmor profile of a pod or container, with this field number. */
function appArmorProfile(number: number) {
  const profile = field(number, AppArmorProfile, "AppArmor profile of the programs.");
  return since("1.30", profile.nullable().gated("AppArmorFields"));
}

const Sysctl = struct("Sysctl", "A kernel parameter.", {
  name: field(1, string, "Name of the parameter.").required(),
  value: field(2, string, "Value to set.").declaredRequired(),
});

export const PodSecurityContext = struct(
  "PodSecurityContext",
  "Security settings of a pod and, unless they say otherwise, of its containers.",
  {
    seLinuxOptions: field(1, SELinuxOptions, "SELinux label of all containers.").nullable(),
    runAsUser: field(2, int64, "Numeric id of the user that runs the programs.")
      .nullable()
      .check(userOrGroupId),
    runAsNonRoot: field(3, bool, "Whether the containers must not run as user 0.").nullable(),
    supplementalGroups: field(4, list(int64), "Further groups of every container's first process.")
      .atomic()
      .check(each(userOrGroupId)),
    fsGroup: field(5, int64, "Group that owns the pod's volumes.").nullable().check(userOrGroupId),
    runAsGroup: field(6, int64, "Numeric id of the group that runs the programs.")
      .nullable()
      .check(userOrGroupId),
    sysctls: field(7, list(Sysctl), "Kernel parameters of the pod's namespaces.").atomic().check(sysctls),
    windowsOptions: field(8, WindowsSecurityContextOptions, "Settings for Windows containers.").nullable(),
    fsGroupChangePolicy: field(9, string, "When owner and permissions of volumes are changed.")
      .nullable()
      .oneOf("Always", "OnRootMismatch"),
    seccompProfile: field(10, SeccompProfile, "System calls that the containers may make.").nullable(),
  },
  {
    later: () => ({
      appArmorProfile: appArmorProfile(11),
      supplementalGroupsPolicy: since(
        "1.31",
        field(12, string, "Whether the groups of the image are added to supplementalGroups.")
          .nullable()
          .oneOf("Merge", "Strict")
          .gated("SupplementalGroupsPolicy"),
      ),
      seLinuxChangePolicy: since(
        "1.32",
        field(13, string, "How volumes get their SELinux label.")
          .nullable()
          .oneOf("MountOption", "Recursive")
          .gated("SELinuxChangePolicy"),
      ),
    }),
  },
);
