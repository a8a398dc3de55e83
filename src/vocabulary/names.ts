declare const part: unique symbol;

/** Domain of labels, annotations, taints and finalizers. Its type differs from that of {@link GroupSuffix}, because the texts may differ. */
export type Domain = string & { readonly [part]: "domain" };

/** Suffix of the names of API groups. */
export type GroupSuffix = string & { readonly [part]: "group suffix" };

/** Returns the key of a label or annotation in the domain: `apf.platform.io/autoupdate-spec`. @param prefix part of the domain before it. */
export function labelKey(domain: Domain, name: string, prefix?: string): string {
  return prefix === undefined ? `${domain}/${name}` : `${prefix}.${domain}/${name}`;
}

/** Returns the full name of an API group: `rbac.authorization.platform.io`. @param base the name without the suffix. */
export function apiGroup(suffix: GroupSuffix, base: string): string {
  return `${base}.${suffix}`;
}

/** Returns the key of an annotation of an API group: `audit.k8s.io/truncated`. @param base the name of the group without the suffix. */
export function groupAnnotation(suffix: GroupSuffix, name: string, base?: string): string {
  return base === undefined ? `${suffix}/${name}` : `${apiGroup(suffix, base)}/${name}`;
}

/** Returns the version of an API group as in `apiVersion`: `meta.platform.io/v1`. @param base the name of the group without the suffix. */
export function groupVersion(suffix: GroupSuffix, base: string, version: string): string {
  return `${apiGroup(suffix, base)}/${version}`;
}

/** Returns a domain below another one: `node-restriction.platform.io`. @param prefix part of the name before it. */
export function subdomain(domain: Domain, prefix: string): Domain {
  return `${prefix}.${domain}` as Domain;
}

/** Whether a name is a domain, or a name below it. */
export function isInDomain(domain: Domain | GroupSuffix, name: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** Returns the name of a group without the suffix; the whole name if it has another one. */
export function baseOfGroup(suffix: GroupSuffix, group: string): string {
  return group.endsWith(`.${suffix}`) ? group.slice(0, -suffix.length - 1) : group;
}

/** Returns the folder of a container in which it finds the token of its service account. */
export function tokenFolder(domain: Domain): string {
  return `/var/run/secrets/${domain}/serviceaccount`;
}
