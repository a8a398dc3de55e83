import { type Domain, isInDomain, labelKey, subdomain } from "../../../vocabulary/names.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * Returns the changed labels that an agent may not change on its Node: those of the domain `node-restriction.*`, and those of the
 * product's domains except the ones that agents maintain.
 */
export function forbiddenLabels(now: Labels, before: Labels, vocabulary: Vocabulary): string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...keys]
    .filter((key) => now[key] !== before[key] || Object.hasOwn(now, key) !== Object.hasOwn(before, key))
    .filter((key) => isRestricted(key, vocabulary))
    .toSorted();
}

function isRestricted(key: string, { domain, groupSuffix }: Vocabulary): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return false;
  const prefix = key.slice(0, slash);
  if (isInDomain(subdomain(domain, "node-restriction"), prefix)) return true;
  if (!isInDomain(domain, prefix) && !isInDomain(groupSuffix, prefix)) return false;
  return (
    !maintained(domain).has(key) &&
    !isInDomain(subdomain(domain, "kubelet"), prefix) &&
    !isInDomain(subdomain(domain, "node"), prefix)
  );
}

/** Labels by which agents describe their node. */
function maintained(domain: Domain): ReadonlySet<string> {
  return new Set([
    labelKey(domain, "hostname"),
    labelKey(domain, "arch"),
    labelKey(domain, "os"),
    labelKey(domain, "arch", "beta"),
    labelKey(domain, "os", "beta"),
    labelKey(domain, "instance-type", "beta"),
    labelKey(domain, "instance-type", "node"),
    labelKey(domain, "region", "failure-domain.beta"),
    labelKey(domain, "zone", "failure-domain.beta"),
    labelKey(domain, "region", "topology"),
    labelKey(domain, "zone", "topology"),
  ]);
}
