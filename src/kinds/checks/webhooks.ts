import { dns1035LabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

/** The address of a webhook. */
export interface WebhookClient {
  readonly url?: string | undefined;
  readonly service?: Service | undefined;
}

/** Requires exactly one of a URL and a service. */
export function webhookClient({ url, service }: WebhookClient, report: FieldReport): void {
  if ((url === undefined) === (service === undefined)) {
    report.required("exactly one of url or service is required");
  } else if (url !== undefined) {
    webhookUrl(url, report.at("url"));
  } else if (service !== undefined) {
    webhookService(service, report.at("service"));
  }
}

const urlForm = "; desired format: https://host[/path]";

function webhookUrl(text: string, report: FieldReport): void {
  // Split as in RFC 3986, appendix B, so that each part has its own fault.
  const match = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text);
  if (match === null || /\p{Cc}|%(?![\da-f]{2})/iu.test(text) || /\s/.test(match[2] ?? "")) {
    return report.required(`url must be a valid URL${urlForm}`);
  }
  const [, scheme = "", authority = "", , query = "", fragment = ""] = match;
  const at = authority.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https") {
    report.invalid(scheme, `'https' is the only allowed URL scheme${urlForm}`);
  }
  if (authority.slice(at + 1) === "") report.invalid("", `host must be specified${urlForm}`);
  if (at >= 0) report.invalid(authority.slice(0, at), "user information is not permitted in the URL");
  if (fragment !== "") report.invalid(fragment, "fragments are not permitted in the URL");
  if (query !== "") report.invalid(query, "query parameters are not permitted in the URL");
}

function webhookService({ name, namespace, path = "", port = 0 }: Service, report: FieldReport): void {
  if (name === "") report.at("name").required("service name is required");
  if (namespace === "") report.at("namespace").required("service namespace is required");
  if (port < 1 || port > 65535) {
    report.at("port").invalid(port, "port is not valid: must be between 1 and 65535, inclusive");
  }
  if (path !== "" && path !== "/") servicePath(path, report.at("path"));
}

function servicePath(path: string, report: FieldReport): void {
  if (path === "//") return report.invalid(path, "segment[0] may not be empty");
  if (!path.startsWith("/")) report.invalid(path, "must start with a '/'");
  for (const [index, segment] of path.replace(/\/$/, "").slice(1).split("/").entries()) {
    if (report.full) return;
    if (segment === "") report.invalid(path, `segment[${index}] may not be empty`);
    else
      for (const message of dnsSubdomainFaults(segment))
        report.invalid(path, `segment[${index}]: ${message}`);
  }
}

const knownReviewVersions = ["v1", "v1beta1"];

/** Requires that the server supports one of the review versions that a webhook accepts. */
export function reviewVersions(versions: readonly string[] | null, report: FieldReport): void {
  const all = versions ?? [];
  if (all.length === 0) return report.required(`must specify one of ${knownReviewVersions.join(", ")}`);
  const seen = new Set<string>();
  for (const [index, version] of all.entries()) {
    if (report.full) return;
    if (seen.has(version)) {
      report.at(index).invalid(version, "duplicate version");
      continue;
    }
    seen.add(version);
    for (const message of dns1035LabelFaults(version)) report.at(index).invalid(version, message);
  }
  if (!knownReviewVersions.some((version) => seen.has(version))) {
    report.invalid(all, `must include at least one of ${knownReviewVersions.join(", ")}`);
  }
}
