import { struct } from "../v1.ts";
import { field, list, string } from "../../../schema/types.ts";

export const HostAlias = struct("HostAlias", "Host names of an address, for the pod's hosts file.", {
  ip: field(1, string, "The address."),
  hostnames: field(2, list(string), "Its names.").atomic(),
});

const PodDNSConfigOption = struct("PodDNSConfigOption", "An option of the name resolver.", {
  name: field(1, string, "Name of the option."),
  value: field(2, string, "Its value.").nullable(),
});

export const PodDNSConfig = struct("PodDNSConfig", "Settings of the name resolver.", {
  nameservers: field(1, list(string), "Addresses of name servers, after those of the policy.").atomic(),
  searches: field(
    2,
    list(string),
    "Domains in which short names are looked up, after those of the policy.",
  ).atomic(),
  options: field(
    3,
    list(PodDNSConfigOption),
    "Options; they replace those of the policy with the same name.",
  ).atomic(),
});

export const PodIP = struct("PodIP", "An address of a pod.", {
  ip: field(1, string, "The address."),
});
