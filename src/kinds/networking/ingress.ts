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
import { IngressStatus } from "./ingress-status.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { replacedIn } from "../../schema/later-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, inlined, int32, list, string } from "../../schema/types.ts";

const ServiceBackendPort = struct("ServiceBackendPort", "A port of a service, by name or by number.", {
  name: field(1, string, "Name of the port."),
  number: field(2, int32, "Number of the port."),
});

const servicePort = field(2, ServiceBackendPort, "Port of the service.").emitEmpty();

const IngressServiceBackend = struct(
  "IngressServiceBackend",
  "A port of a service as a backend.",
  {
    name: field(1, string, "Name of the service, of the same namespace.").declaredRequired(),
    port: servicePort,
  },
  // A port has a name or a number, so an applier of one must take over the other.
  { later: () => ({ port: replacedIn("1.31", servicePort.atomic()) }) },
);

const IngressBackend = struct(
  "IngressBackend",
  "Where requests go: a service or another object, not both.",
  {
    resource: field(
      3,
      TypedLocalObjectReference,
      "An object of the same namespace, for controllers that know its kind.",
    ).nullable(),
    service: field(4, IngressServiceBackend, "A service of the same namespace.").nullable(),
  },
  { check: checkBackend },
);

const IngressTLS = struct("IngressTLS", "A certificate and the hosts it is for.", {
  hosts: field(1, list(string), "Hosts that the certificate is for.").atomic().check(each(hostName)),
  secretName: field(2, string, "Secret with the certificate and its key.").check(dnsSubdomain),
});

const HTTPIngressPath = struct(
  "HTTPIngressPath",
  "A path and where its requests go.",
  {
    path: field(1, string, "Path of requests; it begins with a slash."),
    backend: field(2, IngressBackend, "Where the requests go.").declaredRequired().unchecked(),
    pathType: field(3, string, "How the path is compared with that of a request.")
      .declaredRequired()
      .nullable()
      .oneOf("Exact", "ImplementationSpecific", "Prefix")
      .unchecked(),
  },
  { check: checkPath },
);

const HTTPIngressRuleValue = struct("HTTPIngressRuleValue", "Paths of a host and where their requests go.", {
  paths: field(1, list(HTTPIngressPath), "The paths.").required().atomic().check(notEmpty),
});

const IngressRuleValue = struct("IngressRuleValue", "What a rule says beside its host.", {
  http: field(1, HTTPIngressRuleValue, "Where requests over HTTP go.").nullable(),
});

const IngressRule = struct("IngressRule", "Where requests for one host go.", {
  host: field(1, string, "Name of the host, which may begin with `*.`; empty for every host.").check(
    ruleHost,
  ),
  ...inlined(2, IngressRuleValue),
});

const IngressSpec = struct(
  "IngressSpec",
  "What an ingress should be.",
  {
    defaultBackend: field(1, IngressBackend, "Where requests go that no rule matches.").nullable(),
    tls: field(2, list(IngressTLS), "Certificates, chosen by the host that a client asks for.").atomic(),
    rules: field(3, list(IngressRule), "Where requests go, by host.").atomic(),
    ingressClassName: field(4, string, "Class of the ingress, which says what controller serves it.")
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
  doc: "Rules by which requests from outside reach services.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ingress.").emitEmpty(),
    spec: field(2, IngressSpec, "What the ingress should be.").emitEmpty(),
    status: field(3, IngressStatus, "What the ingress is like now.").emitEmpty().unchecked(),
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
      doc: "Class of the ingress.",
      cell: ({ spec }) => spec?.ingressClassName ?? "<none>",
    },
    {
      name: "Hosts",
      type: "string",
      doc: "The first of the hosts.",
      cell: ({ spec }) => hostsText(spec?.rules ?? []),
    },
    {
      name: "Address",
      type: "string",
      doc: "Where it takes traffic in.",
      cell: ({ status }) => balancerAddresses(status?.loadBalancer?.ingress).join(","),
    },
    {
      name: "Ports",
      type: "string",
      doc: "Ports on which it takes traffic in.",
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
