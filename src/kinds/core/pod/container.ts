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
import { since } from "../../../schema/later-fields.ts";
import { type Static, bool, field, int32, list, string } from "../../../schema/types.ts";

const ContainerPort = struct("ContainerPort", "A port on which a container listens.", {
  name: field(1, string, "Name of the port, unique within the container; services may refer to it.").check(
    portName,
  ),
  hostPort: field(2, int32, "Port of the node under which the port can be reached.").check(portNumber),
  containerPort: field(3, int32, "Number of the port inside the pod.").required().check(requiredPort),
  protocol: field(4, string, "Protocol of the port.").default("TCP").oneOf("SCTP", "TCP", "UDP"),
  hostIP: field(5, string, "Address of the node to which the host port is bound."),
});

const VolumeMount = struct(
  "VolumeMount",
  "Mounts a volume in a container.",
  {
    name: field(1, string, "Name of one of the pod's volumes.").required(),
    readOnly: field(2, bool, "Whether the container may only read it."),
    mountPath: field(3, string, "Path of the volume in the container; must not contain a colon.").required(),
    subPath: field(4, string, "Path inside the volume that is mounted instead of its root."),
    mountPropagation: field(5, string, "How mounts spread between the node and the container.")
      .nullable()
      .oneOf("Bidirectional", "HostToContainer", "None"),
    subPathExpr: field(6, string, "As subPath, with $(NAME) replaced by environment variables."),
  },
  {
    later: () => ({
      recursiveReadOnly: since(
        "1.30",
        field(7, string, "Whether mounts below a read-only one are read-only too.")
          .nullable()
          .oneOf("Disabled", "Enabled", "IfPossible")
          .gated("RecursiveReadOnlyMounts"),
      ),
      bindMountOptions: since(
        "1.37",
        field(8, list(string), "Options of the bind mount.")
          .set()
          .check(bindMountOptions)
          .gated("VolumeBindMountOptions"),
      ),
    }),
  },
);

const VolumeDevice = struct("VolumeDevice", "A raw block device in a container.", {
  name: field(1, string, "Name of a volume that is a claim.").required(),
  devicePath: field(2, string, "Path of the device inside the container.").required(),
});

/** The fields of containers that later releases add. */
export const laterContainerFields = {
  resizePolicy: since(
    "1.27",
    field(23, list(ContainerResizePolicy), "Whether the container is restarted when its resources change.")
      .atomic()
      .check(resizePolicy)
      .gated("InPlacePodVerticalScaling"),
  ),
  restartPolicy: since(
    "1.28",
    field(24, string, "When the container is restarted; an init container with Always is a sidecar.")
      .nullable()
      .gated("SidecarContainers"),
  ),
  restartPolicyRules: since(
    "1.34",
    field(25, list(ContainerRestartRule), "Rules that go before the restart policy; the first match counts.")
      .atomic()
      .gated("ContainerRestartRules"),
  ),
};

export const Container = struct(
  "Container",
  "A program that runs in a pod.",
  {
    name: field(1, string, "Name of the container, unique within the pod; it can't be changed.")
      .required()
      .check(dnsLabel),
    image: field(2, string, "Name of the image that is run.").mustBeGiven(),
    command: field(
      3,
      list(string),
      "Program to run instead of the image's entry point; not run by a shell.",
    ).atomic(),
    args: field(4, list(string), "Arguments of the program, instead of the image's.").atomic(),
    workingDir: field(5, string, "Directory in which the program starts."),
    ports: field(
      6,
      list(ContainerPort),
      "Ports on which the container listens; for information, others can be reached too.",
    )
      .mapBy("containerPort", "protocol")
      .patchMerge("containerPort")
      .check(uniqueBy((port) => port.name, "name")),
    env: field(7, list(EnvVar), "Environment variables.").mapBy("name").patchMerge("name"),
    resources: field(8, ResourceRequirements, "Compute resources that the container needs and may use.")
      .emitEmpty()
      .check(checkRequirements),
    volumeMounts: field(9, list(VolumeMount), "Volumes in the container's files.")
      .mapBy("mountPath")
      .patchMerge("mountPath"),
    livenessProbe: field(
      10,
      Probe,
      "Asks whether the container is alive; it is restarted when not.",
    ).nullable(),
    readinessProbe: field(
      11,
      Probe,
      "Asks whether the container can serve; services leave it out when not.",
    ).nullable(),
    lifecycle: field(
      12,
      Lifecycle,
      "What is done after the container starts and before it is stopped.",
    ).nullable(),
    terminationMessagePath: field(
      13,
      string,
      "File into which the container writes its last message.",
    ).unpublishedDefault("/dev/termination-log"),
    imagePullPolicy: field(14, string, "When the image is fetched.").oneOf("Always", "IfNotPresent", "Never"),
    securityContext: field(
      15,
      SecurityContext,
      "Security settings of the container; they go before those of the pod.",
    ).nullable(),
    stdin: field(16, bool, "Whether a buffer for standard input is kept open."),
    stdinOnce: field(17, bool, "Whether standard input is closed after its first use."),
    tty: field(18, bool, "Whether the container gets a terminal; needs stdin."),
    envFrom: field(
      19,
      list(EnvFromSource),
      "Sources whose every key becomes an environment variable; later ones go before earlier ones.",
    )
      .atomic()
      .check(envFromSources),
    terminationMessagePolicy: field(20, string, "Where the container's last message is taken from.")
      .oneOf("FallbackToLogsOnError", "File")
      .unpublishedDefault("File"),
    volumeDevices: field(21, list(VolumeDevice), "Raw block devices that the container uses.")
      .mapBy("devicePath")
      .patchMerge("devicePath"),
    startupProbe: field(
      22,
      Probe,
      "Asks whether the container has started; the other probes wait for it.",
    ).nullable(),
  },
  {
    fill: fillPullPolicy,
    later: () => laterContainerFields,
  },
);
export type Container = Static<typeof Container>;
