import { struct } from "../v1.ts";
import { field, list, string } from "../../../schema/types.ts";

export const HostAlias = struct("HostAlias", "An entry of the pod's hosts file.", {
  ip: field(1, string, "IP address of the entry."),
  hostnames: field(2, list(string), "Host names for the address.").atomic(),
});

const PodDNSConfigOption = struct("PodDNSConfigOption", "An option of the DNS resolver.", {
  name: field(1, string, "Name of the option."),
  value: field(2, string, "Value of the option.").nullable(),
});

export const PodDNSConfig = struct("PodDNSConfig", "Configuration of the DNS resolver.", {
  nameservers: field(
    1,
    list(string),
    "IP addresses of name servers, added to those of `dnsPolicy`.",
  ).atomic(),
  searches: field(2, list(string), "Search domains for host names, added to those of `dnsPolicy`.").atomic(),
  options: field(
    3,
    list(PodDNSConfigOption),
    "Resolver options; they override those of `dnsPolicy` with the same name.",
  ).atomic(),
});

export const PodIP = struct("PodIP", "An IP address of a pod.", {
  ip: field(1, string, "IPv4 or IPv6 address."),
});
