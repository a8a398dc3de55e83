import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { portNumberOrName } from "../../checks/names.ts";
import { nonNegative, portNumber, positive } from "../../checks/numbers.ts";
import { field, inlined, int32, int64, intOrString, list, string } from "../../../schema/types.ts";
import type { FieldReport } from "../../../schema/faults.ts";

const handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

type Handlers = { readonly [name in (typeof handlers)[number]]?: object | undefined };

/** Requires exactly one handler of a probe or hook. */
function oneHandler(holder: Handlers, report: FieldReport): void {
  const present = handlers.filter((name) => holder[name] !== undefined);
  if (present.length === 0) report.required("must specify a handler type");
  for (const name of present.slice(1)) report.at(name).forbidden("may not specify more than 1 handler type");
}

const headerName = /^[-A-Za-z0-9]+$/;

/** Checks names of headers; reported at the list, as in the reference. */
function headerNames(headers: readonly { readonly name: string }[], report: FieldReport): void {
  for (const { name } of headers) {
    if (report.full) return;
    if (!headerName.test(name)) report.invalid(name, "a header's name has only letters, digits and '-'");
  }
}

const ExecAction = struct("ExecAction", "A command to run in the container.", {
  command: field(1, list(string), "Command and arguments, run without a shell; exit status 0 means success.")
    .atomic()
    .mustBeGiven(),
});

const HTTPHeader = struct("HTTPHeader", "A header of an HTTP request.", {
  name: field(1, string, "Name of the header; repeated names send several headers.").declaredRequired(),
  value: field(2, string, "Value of the header.").declaredRequired(),
});

const HTTPGetAction = struct(
  "HTTPGetAction",
  "An HTTP GET request.",
  {
    path: field(1, string, "URL path of the request. Default: `/`.").unpublishedDefault("/"),
    port: field(2, intOrString, "Port number, or name of a container port.")
      .required()
      .check(portNumberOrName),
    host: field(3, string, "Host to connect to. Default: the pod's IP address."),
    scheme: field(4, string, "URL scheme: HTTP or HTTPS. Default: HTTP.")
      .oneOf("HTTP", "HTTPS")
      .unpublishedDefault("HTTP"),
    httpHeaders: field(5, list(HTTPHeader), "Headers of the request.").atomic().check(headerNames),
  },
  {
    later: () => ({
      protocol: since(
        "1.37",
        field(6, string, "Version of HTTP for the request: HTTP1 or HTTP2.")
          .nullable()
          .oneOf("HTTP1", "HTTP2")
          .gated("H2CContainerProbe"),
      ),
    }),
  },
);

const TCPSocketAction = struct("TCPSocketAction", "A TCP connection attempt.", {
  port: field(1, intOrString, "Port number, or name of a container port.").required().check(portNumberOrName),
  host: field(2, string, "Host to connect to. Default: the pod's IP address."),
});

const GRPCAction = struct(
  "GRPCAction",
  "A gRPC health check request.",
  {
    port: field(1, int32, "Port number, 1 to 65535.").required().check(portNumber),
    service: field(2, string, "Service name in the health check request. Default: empty.")
      .emitEmpty()
      .nullable()
      .unpublishedDefault(""),
  },
  {
    later: () => ({
      mode: since(
        "1.37",
        field(3, string, "Security of the connection: Plaintext or TLS.")
          .nullable()
          .oneOf("Plaintext", "TLS")
          .gated("GRPCContainerProbeTLS"),
      ),
    }),
  },
);

const SleepAction = struct("SleepAction", "A pause of fixed length.", {
  seconds: field(1, int64, "Length of the pause in seconds.").declaredRequired(),
});

const ProbeHandler = struct("ProbeHandler", "Action of a probe; exactly one field is set.", {
  exec: field(1, ExecAction, "A command to run.").nullable(),
  httpGet: field(2, HTTPGetAction, "An HTTP request to send.").nullable(),
  tcpSocket: field(3, TCPSocketAction, "TCP connection to open; success if the port accepts it.").nullable(),
  grpc: field(4, GRPCAction, "A gRPC health check to send.").nullable().gated("GRPCContainerProbe"),
});

export const Probe = struct(
  "Probe",
  "A periodic check of a container.",
  {
    ...inlined(1, ProbeHandler),
    initialDelaySeconds: field(
      2,
      int32,
      "Seconds from the start of the container to the first probe. Default: 0.",
    ).check(nonNegative),
    timeoutSeconds: field(3, int32, "Timeout of the probe in seconds. Default: 1.")
      .unpublishedDefault(1)
      .check(nonNegative),
    periodSeconds: field(4, int32, "Interval between probes in seconds. Default: 10.")
      .unpublishedDefault(10)
      .check(nonNegative),
    successThreshold: field(
      5,
      int32,
      "Consecutive successes after a failure to count as success. Default: 1.",
    )
      .unpublishedDefault(1)
      .check(nonNegative),
    failureThreshold: field(6, int32, "Consecutive failures after a success to count as failure. Default: 3.")
      .unpublishedDefault(3)
      .check(nonNegative),
    terminationGracePeriodSeconds: field(
      7,
      int64,
      "Grace period in seconds when this probe fails. Default: that of the pod.",
    )
      .gated("ProbeTerminationGracePeriod")
      .nullable()
      .check(positive),
  },
  { check: oneHandler },
);

const LifecycleHandler = struct(
  "LifecycleHandler",
  "Action of a lifecycle hook; exactly one field is set.",
  {
    exec: field(1, ExecAction, "A command to run.").nullable(),
    httpGet: field(2, HTTPGetAction, "An HTTP request to send.").nullable(),
    tcpSocket: field(3, TCPSocketAction, "Deprecated; it has no effect.").nullable(),
  },
  {
    check: oneHandler,
    later: () => ({
      sleep: since(
        "1.29",
        field(4, SleepAction, "A pause of fixed length.").nullable().gated("PodLifecycleSleepAction"),
      ),
    }),
  },
);

export const Lifecycle = struct(
  "Lifecycle",
  "Lifecycle hooks of a container.",
  {
    postStart: field(
      1,
      LifecycleHandler,
      "Hook right after the container starts; the container is killed if it fails.",
    ).nullable(),
    preStop: field(
      2,
      LifecycleHandler,
      "Hook before the container is stopped by a deletion, probe failure or preemption.",
    ).nullable(),
  },
  {
    later: () => ({
      stopSignal: since(
        "1.33",
        field(3, string, "Signal that stops the container. Default: that of the image.")
          .nullable()
          .gated("ContainerStopSignals"),
      ),
    }),
  },
);
