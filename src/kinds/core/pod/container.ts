import { since } from "../../../base/release-rows.ts";
import { EnvFromSource, EnvVar } from "./environment.ts";
import { Lifecycle, Probe } from "./probes.ts";
import { checkRequirements } from "./resource-rules.ts";
import { ResourceRequirements } from "./resources.ts";
import { SecurityContext } from "./security.ts";
import { struct } from "../v1.ts";
import { dnsLabel, portName } from "../../checks/names.ts";
import { portNumber } from "../../checks/numbers.ts";
import { uniqueBy } from "../../checks/values.ts";
import { envFromSources } from "./environment-rules.ts";
import { fillPullPolicy } from "./image-name.ts";
import { bindMountOptions } from "./mount-rules.ts";
import { requiredPort } from "./port-rules.ts";
import { ContainerResizePolicy, ContainerRestartRule, resizePolicy } from "./restart-policy.ts";
import { type Static, bool, field, int32, list, string } from "../../../schema/types.ts";

const ContainerPort = struct("ContainerPort", "A port of a container.", {
  name: field(1, string, "Name of the port, unique in the container; Services can refer to it.").check(
    portName,
  ),
  hostPort: field(2, int32, "Port of the node that forwards to the container.").check(portNumber),
  containerPort: field(3, int32, "Port of the container, 1 to 65535.").required().check(requiredPort),
  protocol: field(4, string, "Protocol of the port: TCP, UDP or SCTP. Default: TCP.")
    .default("TCP")
    .oneOf("SCTP", "TCP", "UDP"),
  hostIP: field(5, string, "IP address of the node to which the host port is bound."),
});

const VolumeMount = struct(
  "VolumeMount",
  "Mounts a volume in a container.",
  {
    name: field(1, string, "Name of the volume of the pod.").required(),
    readOnly: field(2, bool, "Whether the mount is read-only. Default: false."),
    mountPath: field(3, string, "Mount path in the container; it must not contain a colon.").required(),
    subPath: field(4, string, "Path in the volume to mount. Default: the root of the volume."),
    mountPropagation: field(
      5,
      string,
      "Propagation of mounts between node and container: None, HostToContainer or Bidirectional. Default: None.",
    )
      .nullable()
      .oneOf("Bidirectional", "HostToContainer", "None"),
    subPathExpr: field(6, string, "Like `subPath`, with `$(NAME)` expanded from environment variables."),
  },
  {
    later: () => ({
      recursiveReadOnly: since(
        "1.30",
        field(
          7,
          string,
          "Whether mounts below a read-only mount are read-only: Disabled, IfPossible or Enabled. Default: Disabled.",
        )
          .nullable()
          .oneOf("Disabled", "Enabled", "IfPossible")
          .gated("RecursiveReadOnlyMounts"),
      ),
      bindMountOptions: since(
        "1.37",
        field(8, list(string), "Mount options of the bind mount.")
          .set()
          .check(bindMountOptions)
          .gated("VolumeBindMountOptions"),
      ),
    }),
  },
);

const VolumeDevice = struct("VolumeDevice", "A raw block device of a container.", {
  name: field(1, string, "Name of a volume of the pod that is a claim.").required(),
  devicePath: field(2, string, "Path of the device in the container.").required(),
});

/** The fields of containers that later releases add. */
export const laterContainerFields = {
  resizePolicy: since(
    "1.27",
    field(23, list(ContainerResizePolicy), "Whether the container restarts when its resources are resized.")
      .atomic()
      .check(resizePolicy)
      .gated("InPlacePodVerticalScaling"),
  ),
  restartPolicy: since(
    "1.28",
    field(24, string, "Restart policy of the container; init containers with Always are sidecars.")
      .nullable()
      .gated("SidecarContainers"),
  ),
  restartPolicyRules: since(
    "1.34",
    field(25, list(ContainerRestartRule), "Rules that override the restart policy; the first match applies.")
      .atomic()
      .gated("ContainerRestartRules"),
  ),
};

export const Container = struct(
  "Container",
  "A container of a pod.",
  {
    name: field(1, string, "Name of the container, unique in the pod; immutable.").required().check(dnsLabel),
    image: field(2, string, "Name of the container image.").mustBeGiven(),
    command: field(
      3,
      list(string),
      "Command to run, without a shell. Default: the entry point of the image.",
    ).atomic(),
    args: field(4, list(string), "Arguments of the command. Default: those of the image.").atomic(),
    workingDir: field(5, string, "Working directory. Default: that of the image."),
    ports: field(
      6,
      list(ContainerPort),
      "Ports of the container; informational, as unlisted ports are reachable too.",
    )
      .mapBy("containerPort", "protocol")
      .patchMerge("containerPort")
      .check(uniqueBy((port) => port.name, "name")),
    env: field(7, list(EnvVar), "Environment variables of the container.").mapBy("name").patchMerge("name"),
    resources: field(8, ResourceRequirements, "Resource requests and limits of the container.")
      .emitEmpty()
      .check(checkRequirements),
    volumeMounts: field(9, list(VolumeMount), "Volumes to mount in the container.")
      .mapBy("mountPath")
      .patchMerge("mountPath"),
    livenessProbe: field(
      10,
      Probe,
      "Periodic check that the container is alive; it is restarted on failure.",
    ).nullable(),
    readinessProbe: field(
      11,
      Probe,
      "Periodic check that the container is ready; on failure Services send it no traffic.",
    ).nullable(),
    lifecycle: field(12, Lifecycle, "Actions after the container starts and before it stops.").nullable(),
    terminationMessagePath: field(
      13,
      string,
      "Path of the file from which the termination message is read. Default: `/dev/termination-log`.",
    ).unpublishedDefault("/dev/termination-log"),
    imagePullPolicy: field(
      14,
      string,
      "Pull policy: Always, IfNotPresent or Never. Default: Always for the tag `latest`, else IfNotPresent.",
    ).oneOf("Always", "IfNotPresent", "Never"),
    securityContext: field(
      15,
      SecurityContext,
      "Security settings of the container; they override those of the pod.",
    ).nullable(),
    stdin: field(16, bool, "Whether to keep standard input open. Default: false."),
    stdinOnce: field(
      17,
      bool,
      "Whether to close standard input after the first client disconnects. Default: false.",
    ),
    tty: field(18, bool, "Whether to allocate a terminal; requires `stdin`. Default: false."),
    envFrom: field(
      19,
      list(EnvFromSource),
      "Sources whose keys all become environment variables; later sources override earlier ones.",
    )
      .atomic()
      .check(envFromSources),
    terminationMessagePolicy: field(
      20,
      string,
      "Source of the termination message: File or FallbackToLogsOnError. Default: File.",
    )
      .oneOf("FallbackToLogsOnError", "File")
      .unpublishedDefault("File"),
    volumeDevices: field(21, list(VolumeDevice), "Raw block devices of the container.")
      .mapBy("devicePath")
      .patchMerge("devicePath"),
    startupProbe: field(
      22,
      Probe,
      "Check that the container has started; the other probes begin after its success.",
    ).nullable(),
  },
  {
    fill: fillPullPolicy,
    later: () => laterContainerFields,
  },
);
export type Container = Static<typeof Container>;
