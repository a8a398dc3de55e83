/** A Lease, with the fields that the console reads. */
export interface Lease {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

/** A lease, for people. */
export interface LeaseRow {
  readonly name: string;
  /** Empty if nobody holds it. */
  readonly holder: string;
  /** Whether it elects the server that runs the controllers. */
  readonly isElection: boolean;
  readonly isExpired: boolean;
  /** RFC 3339; empty if unknown. */
  readonly acquired: string;
  readonly renewed: string;
  readonly transitions: number | undefined;
}

/** Returns the namespace of the server's own leases, by the last words of its API groups. */
export function systemNamespace(groupSuffix: string): string {
  return groupSuffix === "k8s.io" ? "kube-system" : `${groupSuffix.split(".", 1)[0]!}-system`;
}

/** Returns the rows of leases: that of the controllers first, then by name. */
export function leaseRows(leases: readonly Lease[], nowMs: number): LeaseRow[] {
  const rows = leases.map(({ metadata: { name }, spec = {} }): LeaseRow => {
    const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
    const endMs = Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? Number.NaN) * 1000;
    return {
      name,
      holder: holderIdentity ?? "",
      isElection: /^(kube-)?apiserver-controllers$/.test(name),
      isExpired: endMs < nowMs,
      acquired: acquireTime ?? "",
      renewed: renewTime ?? "",
      transitions: leaseTransitions ?? undefined,
    };
  });
  return rows.toSorted(
    (one, other) => Number(other.isElection) - Number(one.isElection) || (one.name < other.name ? -1 : 1),
  );
}
