import { ContainerPort, VolumeDevice, VolumeMount } from "./container.ts";
import { EnvFromSource, EnvVar } from "./environment.ts";
import { Lifecycle, Probe } from "./probes.ts";
import { checkRequirements } from "./resource-rules.ts";
import { ResourceRequirements } from "./resources.ts";
import { SecurityContext } from "./security.ts";
import { struct } from "../v1.ts";
import { dnsLabel } from "../../checks/names.ts";
import { uniqueBy } from "../../checks/values.ts";
import { envFromSources } from "./environment-rules.ts";
import { fillPullPolicy } from "./image-name.ts";
import { type Static, bool, field, inlined, list, string } from "../../../schema/types.ts";

const EphemeralContainerCommon = struct(
  "EphemeralContainerCommon",
  "What a temporary container has in common with others.",
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
    ).filled("/dev/termination-log"),
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
      .filled("File"),
    volumeDevices: field(21, list(VolumeDevice), "Raw block devices that the container uses.")
      .mapBy("devicePath")
      .patchMerge("devicePath"),
    startupProbe: field(
      22,
      Probe,
      "Asks whether the container has started; the other probes wait for it.",
    ).nullable(),
  },
);

export const EphemeralContainer = struct(
  "EphemeralContainer",
  "A container that is added to a running pod for inspection and isn't restarted.",
  {
    ...inlined(1, EphemeralContainerCommon),
    targetContainerName: field(2, string, "Container whose processes are shared with this one."),
  },
  {
    fill: fillPullPolicy,
  },
);
export type EphemeralContainer = Static<typeof EphemeralContainer>;
