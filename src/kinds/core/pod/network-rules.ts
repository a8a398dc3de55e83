import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { ipAddress } from "../../checks/addresses.ts";

interface HostAlias {
  readonly ip?: string | undefined;
  readonly hostnames?: readonly string[] | undefined;
}

/** Checks lines of the hosts file; reported without index, as in the reference. */
export function hostAliases(aliases: readonly HostAlias[], report: FieldReport): void {
  for (const { ip = "", hostnames = [] } of aliases) {
    if (report.full) return;
    ipAddress(ip, report.at("ip"));
    for (const name of hostnames) {
      for (const message of dnsSubdomainFaults(name)) report.at("hostnames").invalid(name, message);
    }
  }
}

interface DnsConfig {
  readonly nameservers?: readonly string[] | undefined;
  readonly searches?: readonly string[] | undefined;
  readonly options?: readonly { readonly name?: string | undefined }[] | undefined;
}

const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;

/** Checks the DNS settings; with the policy None a name server is required. */
export function dnsConfig(
  config: DnsConfig | undefined,
  policy: string | undefined,
  report: FieldReport,
): void {
  if (policy === "None") {
    if (config === undefined) report.required("must provide `dnsConfig` when `dnsPolicy` is None");
    else if ((config.nameservers ?? []).length === 0) {
      report.at("nameservers").required("must provide at least one server when `dnsPolicy` is None");
    }
  }
  if (config === undefined) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (nameservers.length > maxNameservers) {
    report.at("nameservers").invalid(nameservers, `must not have more than ${maxNameservers} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) {
    if (report.full) return;
    ipAddress(server, report.at("nameservers", index));
  }
  checkSearches(searches, report.at("searches"));
  for (const [index, option] of options.entries()) {
    if (report.full) return;
    if ((option.name ?? "") === "") report.at("options", index).required("must not be empty");
  }
}

function checkSearches(searches: readonly string[], report: FieldReport): void {
  if (searches.length > maxSearches) {
    report.invalid(searches, `must not have more than ${maxSearches} search paths`);
  }
  const characters = searches.reduce((sum, search) => sum + search.length, Math.max(0, searches.length - 1));
  if (characters > maxSearchCharacters) {
    report.invalid(searches, `must not have more than ${maxSearchCharacters} characters, spaces included`);
  }
  for (const [index, search] of searches.entries()) {
    if (report.full) return;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    for (const message of dnsSubdomainFaults(name)) report.at(index).invalid(search, message);
  }
}
