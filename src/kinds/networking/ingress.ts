import { balancerAddresses } from "../cells.ts";
import { loadBalancerPoints, unambiguousPoints } from "../checks/load-balancer.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { each, notEmpty } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TypedLocalObjectReference } from "../core/references.ts";
import {
  checkBackend,
  checkClassOnce,
  checkPath,
  classAnnotation,
  hostName,
  ruleHost,
} from "./ingress-rules.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { replacedIn } from "../../schema/added-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, inlined, int32, list, string } from "../../schema/types.ts";

const IngressPortStatus = struct("IngressPortStatus", "Status of a port of a load balancer.", {
  port: field(1, int32, "Port number.").declaredRequired(),
  protocol: field(2, string, "Protocol of the port: TCP, UDP or SCTP.")
    .declaredRequired()
    .oneOf("SCTP", "TCP", "UDP"),
  error: field(
    3,
    string,
    "Reason for a failure of the port, in CamelCase or with a prefix such as `example.com/`.",
  ).nullable(),
});

const IngressLoadBalancerIngress = struct(
  "IngressLoadBalancerIngress",
  "An ingress point of a load balancer.",
  {
    ip: field(1, string, "IP address of the ingress point."),
    hostname: field(2, string, "Host name of the ingress point."),
    ports: field(4, list(IngressPortStatus), "Status of the ports of the ingress point.").atomic(),
  },
);

const IngressLoadBalancerStatus = struct(
  "IngressLoadBalancerStatus",
  "Status of the load balancer of an ingress.",
  {
    ingress: field(1, list(IngressLoadBalancerIngress), "Ingress points of the load balancer.").atomic(),
  },
);

const IngressStatus = struct("IngressStatus", "Observed state of an Ingress.", {
  loadBalancer: field(1, IngressLoadBalancerStatus, "Status of the load balancer.").emitEmpty(),
});

const ServiceBackendPort = struct("ServiceBackendPort", "A port of a Service, by name or number.", {
  name: field(1, string, "Name of the port; not together with `number`."),
  number: field(2, int32, "Port number; not together with `name`."),
});

const servicePort = field(2, ServiceBackendPort, "Port of the Service.").emitEmpty();

const IngressServiceBackend = struct(
  "IngressServiceBackend",
  "A Service and a port as a backend.",
  {
    name: field(1, string, "Name of the Service, in the namespace of the ingress.").declaredRequired(),
    port: servicePort,
  },
  // A port has a name or a number, so an applier of one must take over the other.
  { later: () => ({ port: replacedIn("1.31", servicePort.atomic()) }) },
);

const IngressBackend = struct(
  "IngressBackend",
  "The backend of requests: a Service or another object.",
  {
    resource: field(
      3,
      TypedLocalObjectReference,
      "Another object in the same namespace; not together with `service`.",
    ).nullable(),
    service: field(
      4,
      IngressServiceBackend,
      "Service in the same namespace; not together with `resource`.",
    ).nullable(),
  },
  { check: checkBackend },
);

const IngressTLS = struct("IngressTLS", "A TLS certificate and its hosts.", {
  hosts: field(1, list(string), "Host names in the certificate.").atomic().check(each(hostName)),
  secretName: field(2, string, "Name of the Secret with the certificate and its private key.").check(
    dnsSubdomain,
  ),
});

const HTTPIngressPath = struct(
  "HTTPIngressPath",
  "A path and its backend.",
  {
    path: field(1, string, "URL path to match; it starts with `/`."),
    backend: field(2, IngressBackend, "Backend of matching requests.").declaredRequired().unchecked(),
    pathType: field(3, string, "Method of matching the path: Exact, Prefix or ImplementationSpecific.")
      .declaredRequired()
      .nullable()
      .oneOf("Exact", "ImplementationSpecific", "Prefix")
      .unchecked(),
  },
  { check: checkPath },
);

const HTTPIngressRuleValue = struct("HTTPIngressRuleValue", "HTTP paths and their backends.", {
  paths: field(1, list(HTTPIngressPath), "The paths and their backends.").required().atomic().check(notEmpty),
});

const IngressRuleValue = struct("IngressRuleValue", "Paths of a rule, by protocol.", {
  http: field(1, HTTPIngressRuleValue, "HTTP paths and their backends.").nullable(),
});

const IngressRule = struct("IngressRule", "A host and the backends of its paths.", {
  host: field(1, string, "Host name, possibly with the wildcard `*.`; empty matches every host.").check(
    ruleHost,
  ),
  ...inlined(2, IngressRuleValue),
});

const IngressSpec = struct(
  "IngressSpec",
  "Desired state of an Ingress.",
  {
    defaultBackend: field(1, IngressBackend, "Backend of requests that match no rule.").nullable(),
    tls: field(
      2,
      list(IngressTLS),
      "TLS certificates, selected by the host name of the connection.",
    ).atomic(),
    rules: field(3, list(IngressRule), "Rules that map hosts and paths to backends.").atomic(),
    ingressClassName: field(4, string, "Name of the IngressClass, which determines the controller.")
      .nullable()
      .checkedWhenEmpty()
      .check(dnsSubdomain),
  },
  {
    check(spec, report) {
      if (spec.rules !== undefined || spec.defaultBackend !== undefined) return;
      report.invalid(spec.rules, "either `defaultBackend` or `rules` must be specified");
    },
  },
);

export const Ingress = kind({
  name: "Ingress",
  resource: "ingresses",
  singular: "ingress",
  shortNames: ["ing"],
  scope: "Namespaced",
  doc: "Routes HTTP requests from outside the cluster to Services.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the Ingress.").emitEmpty(),
    spec: field(2, IngressSpec, "Desired state of the Ingress.").emitEmpty(),
    status: field(3, IngressStatus, "Observed state of the Ingress.").emitEmpty().unchecked(),
  },
  generationOf: ({ spec }) => spec,
  validate({ status }, report) {
    loadBalancerPoints(status?.loadBalancer?.ingress, report.at("status", "loadBalancer", "ingress"));
  },
  validateCreate(ingress, report, context) {
    checkClassOnce(ingress.metadata, ingress.spec?.ingressClassName, report, context);
  },
  validateUpdate(ingress, live, report, context) {
    const [points, existing] = [ingress, live].map(({ status }) => status?.loadBalancer?.ingress);
    unambiguousPoints(points, existing, report.at("status", "loadBalancer", "ingress"), context);
  },
  warnings(ingress, { vocabulary }, live) {
    const annotation = classAnnotation(vocabulary);
    if (live !== undefined || ingress.metadata.annotations?.[annotation] === undefined) return [];
    return [`annotation "${annotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
  status: {
    initial: () => ({ loadBalancer: {} }),
  },
  columns: [
    nameColumn,
    {
      name: "Class",
      type: "string",
      doc: "Name of the IngressClass.",
      cell: ({ spec }) => spec?.ingressClassName ?? "<none>",
    },
    {
      name: "Hosts",
      type: "string",
      doc: "First hosts of the rules.",
      cell: ({ spec }) => hostsText(spec?.rules ?? []),
    },
    {
      name: "Address",
      type: "string",
      doc: "Addresses of the load balancer.",
      cell: ({ status }) => balancerAddresses(status?.loadBalancer?.ingress).join(","),
    },
    {
      name: "Ports",
      type: "string",
      doc: "Ports of the ingress.",
      cell: ({ spec }) => (spec?.tls === undefined ? "80" : "80, 443"),
    },
    ageColumn,
  ],
});
export type Ingress = ObjectFor<typeof Ingress>;

const shownHosts = 3;

/** Returns the first hosts; after the limit every further rule is counted, including those without a host. */
function hostsText(rules: readonly { readonly host?: string | undefined }[]): string {
  const hosts: string[] = [];
  let more = false;
  for (const { host = "" } of rules) {
    if (hosts.length === shownHosts) more = true;
    else if (host !== "") hosts.push(host);
  }
  if (hosts.length === 0) return "*";
  return hosts.join(",") + (more ? ` + ${rules.length - shownHosts} more...` : "");
}
