import { applies, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import { dnsSubdomainFaults, searchDomainFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { ipAddress } from "../../checks/addresses.ts";
import { rejectsAmbiguous, unambiguousAddress } from "../../checks/strict-addresses.ts";

interface HostAlias {
  readonly ip?: string | undefined;
  readonly hostnames?: readonly string[] | undefined;
}

const reportsIndex = applies(since("1.30"));

/** Checks lines of the hosts file; as in the reference, releases before 1.30 report them without index. */
export function hostAliases(
  aliases: readonly HostAlias[],
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  const hasIndex = reportsIndex(context);
  for (const [index, { ip = "", hostnames = [] }] of aliases.entries()) {
    if (report.full) return;
    const at = hasIndex ? report.at(index) : report;
    ipAddress(ip, at.at("ip"));
    for (const [position, name] of hostnames.entries()) {
      const names = at.at("hostnames");
      for (const message of dnsSubdomainFaults(name))
        (hasIndex ? names.at(position) : names).invalid(name, message);
    }
  }
}

/** Rejects addresses of a new pod or of a template that programs read differently. */
export function unambiguousPodAddresses(
  {
    hostAliases: aliases = [],
    dnsConfig: dns,
  }: { readonly hostAliases?: readonly HostAlias[] | undefined; readonly dnsConfig?: DnsConfig | undefined },
  report: FieldReport,
  context: KindContext,
): void {
  if (!rejectsAmbiguous(context)) return;
  for (const [index, { ip = "" }] of aliases.entries())
    unambiguousAddress(ip, report.at("hostAliases", index, "ip"), context);
  for (const [index, server] of (dns?.nameservers ?? []).entries())
    unambiguousAddress(server, report.at("dnsConfig", "nameservers", index), context);
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
  { enabled }: Pick<KindContext, "enabled">,
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
  checkSearches(searches, report.at("searches"), enabled("RelaxedDNSSearchValidation"));
  for (const [index, option] of options.entries()) {
    if (report.full) return;
    if ((option.name ?? "") === "") report.at("options", index).required("must not be empty");
  }
}

/** @param isRelaxed whether a single dot and underscores are allowed. */
function checkSearches(searches: readonly string[], report: FieldReport, isRelaxed: boolean): void {
  const faultsOf = isRelaxed ? searchDomainFaults : dnsSubdomainFaults;
  if (searches.length > maxSearches) {
    report.invalid(searches, `must not have more than ${maxSearches} search paths`);
  }
  const characters = searches.reduce((sum, search) => sum + search.length, Math.max(0, searches.length - 1));
  if (characters > maxSearchCharacters) {
    report.invalid(searches, `must not have more than ${maxSearchCharacters} characters, spaces included`);
  }
  for (const [index, search] of searches.entries()) {
    if (report.full) return;
    if (isRelaxed && search === ".") continue;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    for (const message of faultsOf(name)) report.at(index).invalid(search, message);
  }
}
