import type { Domain } from "../../../vocabulary/names.ts";
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
  if (isWithin(prefix, `node-restriction.${domain}`)) return true;
  if (!isWithin(prefix, domain) && !isWithin(prefix, groupSuffix)) return false;
  return (
    !maintained(domain).has(key) &&
    !isWithin(prefix, `kubelet.${domain}`) &&
    !isWithin(prefix, `node.${domain}`)
  );
}

/** Whether a DNS name is a domain or a subdomain of it. */
function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** Labels by which agents describe their node. */
function maintained(domain: Domain): ReadonlySet<string> {
  return new Set([
    `${domain}/hostname`,
    `${domain}/arch`,
    `${domain}/os`,
    `beta.${domain}/arch`,
    `beta.${domain}/os`,
    `beta.${domain}/instance-type`,
    `node.${domain}/instance-type`,
    `failure-domain.beta.${domain}/region`,
    `failure-domain.beta.${domain}/zone`,
    `topology.${domain}/region`,
    `topology.${domain}/zone`,
  ]);
}
