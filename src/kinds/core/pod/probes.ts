import { struct } from "../v1.ts";
import { portNumberOrName } from "../../checks/names.ts";
import { nonNegative, portNumber, positive } from "../../checks/numbers.ts";
import { headerNames, oneHandler } from "./probe-rules.ts";
import { since } from "../../../schema/later-fields.ts";
import { field, inlined, int32, int64, intOrString, list, string } from "../../../schema/types.ts";

const ExecAction = struct("ExecAction", "A command that runs in the container.", {
  command: field(1, list(string), "The command and its arguments; exit code 0 means healthy.")
    .atomic()
    .mustBeGiven(),
});

const HTTPHeader = struct("HTTPHeader", "A header of an HTTP request.", {
  name: field(1, string, "Name of the header; it may be given several times.").declaredRequired(),
  value: field(2, string, "Its value.").declaredRequired(),
});

const HTTPGetAction = struct(
  "HTTPGetAction",
  "An HTTP GET request.",
  {
    path: field(1, string, "Path that is asked for.").unpublishedDefault("/"),
    port: field(2, intOrString, "Number or name of the container's port.").required().check(portNumberOrName),
    host: field(3, string, "Host to connect to; the pod's address when empty."),
    scheme: field(4, string, "Scheme of the connection.").oneOf("HTTP", "HTTPS").unpublishedDefault("HTTP"),
    httpHeaders: field(5, list(HTTPHeader), "Headers to send.").atomic().check(headerNames),
  },
  {
    later: () => ({
      protocol: since(
        "1.37",
        field(6, string, "Version of HTTP.").nullable().oneOf("HTTP1", "HTTP2").gated("H2CContainerProbe"),
      ),
    }),
  },
);

const TCPSocketAction = struct("TCPSocketAction", "The opening of a TCP connection.", {
  port: field(1, intOrString, "Number or name of the container's port.").required().check(portNumberOrName),
  host: field(2, string, "Host to connect to; the pod's address when empty."),
});

const GRPCAction = struct(
  "GRPCAction",
  "A gRPC health check.",
  {
    port: field(1, int32, "Number of the port.").required().check(portNumber),
    service: field(2, string, "Name of the service that is asked about; the default depends on the program.")
      .emitEmpty()
      .nullable()
      .unpublishedDefault(""),
  },
  {
    later: () => ({
      mode: since(
        "1.37",
        field(3, string, "Whether the connection is encrypted.")
          .nullable()
          .oneOf("Plaintext", "TLS")
          .gated("GRPCContainerProbeTLS"),
      ),
    }),
  },
);

const SleepAction = struct("SleepAction", "A pause.", {
  seconds: field(1, int64, "Length of the pause in seconds.").declaredRequired(),
});

const ProbeHandler = struct("ProbeHandler", "What a probe does; exactly one is given.", {
  exec: field(1, ExecAction, "A command to run.").nullable(),
  httpGet: field(2, HTTPGetAction, "An HTTP request to send.").nullable(),
  tcpSocket: field(3, TCPSocketAction, "A TCP connection to open.").nullable(),
  grpc: field(4, GRPCAction, "A gRPC health check to make.").nullable().gated("GRPCContainerProbe"),
});

export const Probe = struct(
  "Probe",
  "Asks a container how it is.",
  {
    ...inlined(1, ProbeHandler),
    initialDelaySeconds: field(2, int32, "Seconds after the container's start before the first probe.").check(
      nonNegative,
    ),
    timeoutSeconds: field(3, int32, "Seconds after which a probe has failed.")
      .unpublishedDefault(1)
      .check(nonNegative),
    periodSeconds: field(4, int32, "Seconds between probes.").unpublishedDefault(10).check(nonNegative),
    successThreshold: field(
      5,
      int32,
      "Successes in a row after which a failed container counts as healthy again.",
    )
      .unpublishedDefault(1)
      .check(nonNegative),
    failureThreshold: field(6, int32, "Failures in a row after which a healthy container counts as failed.")
      .unpublishedDefault(3)
      .check(nonNegative),
    terminationGracePeriodSeconds: field(
      7,
      int64,
      "Seconds that a failed container is given to end, instead of the pod's.",
    )
      .gated("ProbeTerminationGracePeriod")
      .nullable()
      .check(positive),
  },
  { check: oneHandler },
);

const LifecycleHandler = struct(
  "LifecycleHandler",
  "What is done at a point of a container's life; exactly one is given.",
  {
    exec: field(1, ExecAction, "A command to run.").nullable(),
    httpGet: field(2, HTTPGetAction, "An HTTP request to send.").nullable(),
    tcpSocket: field(3, TCPSocketAction, "Has no effect any more; kept for older objects.").nullable(),
  },
  {
    check: oneHandler,
    later: () => ({
      sleep: since("1.29", field(4, SleepAction, "A pause.").nullable().gated("PodLifecycleSleepAction")),
    }),
  },
);

export const Lifecycle = struct(
  "Lifecycle",
  "What is done when a container starts and ends.",
  {
    postStart: field(
      1,
      LifecycleHandler,
      "Done right after the start; the container is restarted when it fails.",
    ).nullable(),
    preStop: field(2, LifecycleHandler, "Done before the container is stopped from outside.").nullable(),
  },
  {
    later: () => ({
      stopSignal: since(
        "1.33",
        field(3, string, "Signal that stops the container.").nullable().gated("ContainerStopSignals"),
      ),
    }),
  },
);
