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
