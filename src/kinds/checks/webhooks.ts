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
export function webhookClient({ url, service }: WebhookClient, place: FieldReport): void {
  if ((url === undefined) === (service === undefined)) {
    place.required("exactly one of url or service is required");
  } else if (url !== undefined) {
    webhookUrl(url, place.at("url"));
  } else if (service !== undefined) {
    webhookService(service, place.at("service"));
  }
}

const urlForm = "; desired format: https://host[/path]";

function webhookUrl(text: string, place: FieldReport): void {
  // Split as in RFC 3986, appendix B, so that each part has its own fault.
  const match = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text);
  if (match === null || /\p{Cc}|%(?![\da-f]{2})/iu.test(text) || /\s/.test(match[2] ?? "")) {
    return place.required(`url must be a valid URL${urlForm}`);
  }
  const [, scheme = "", authority = "", , query = "", fragment = ""] = match;
  const at = authority.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https") {
    place.invalid(scheme, `'https' is the only allowed URL scheme${urlForm}`);
  }
  if (authority.slice(at + 1) === "") place.invalid("", `host must be specified${urlForm}`);
  if (at >= 0) place.invalid(authority.slice(0, at), "user information is not permitted in the URL");
  if (fragment !== "") place.invalid(fragment, "fragments are not permitted in the URL");
  if (query !== "") place.invalid(query, "query parameters are not permitted in the URL");
}

function webhookService({ name, namespace, path = "", port = 0 }: Service, place: FieldReport): void {
  if (name === "") place.at("name").required("service name is required");
  if (namespace === "") place.at("namespace").required("service namespace is required");
  if (port < 1 || port > 65535) {
    place.at("port").invalid(port, "port is not valid: must be between 1 and 65535, inclusive");
  }
  if (path !== "" && path !== "/") servicePath(path, place.at("path"));
}

function servicePath(path: string, place: FieldReport): void {
  if (path === "//") return place.invalid(path, "segment[0] may not be empty");
  if (!path.startsWith("/")) place.invalid(path, "must start with a '/'");
  for (const [index, segment] of path.replace(/\/$/, "").slice(1).split("/").entries()) {
    if (place.full) return;
    if (segment === "") place.invalid(path, `segment[${index}] may not be empty`);
    else
      for (const message of dnsSubdomainFaults(segment)) place.invalid(path, `segment[${index}]: ${message}`);
  }
}

const knownReviewVersions = ["v1", "v1beta1"];

/** Requires that the server supports one of the review versions that a webhook accepts. */
export function reviewVersions(versions: readonly string[] | null, place: FieldReport): void {
  const all = versions ?? [];
  if (all.length === 0) return place.required(`must specify one of ${knownReviewVersions.join(", ")}`);
  const seen = new Set<string>();
  for (const [index, version] of all.entries()) {
    if (place.full) return;
    if (seen.has(version)) {
      place.at(index).invalid(version, "duplicate version");
      continue;
    }
    seen.add(version);
    for (const message of dns1035LabelFaults(version)) place.at(index).invalid(version, message);
  }
  if (!knownReviewVersions.some((version) => seen.has(version))) {
    place.invalid(all, `must include at least one of ${knownReviewVersions.join(", ")}`);
  }
}
