/**
 * Behavior for which the specification and the reference differ: one member for each difference. With `platform` names the
 * server follows the specification, with `kubernetes` names the reference, so that its clients run unchanged.
 * docs/vocabularies.md shows the same table. Code checks these members, never the name of the vocabulary.
 */
export interface VocabularyBehavior {
  /**
   * How a new object without a class is handled if several ingress or storage classes are marked as default (spec: conventions
   * 4.13). True: it gets the newest of them, and the first by name of equally new ones. False: every new Ingress or claim is
   * rejected, even with a class.
   */
  readonly newestDefaultClass: boolean;
  /**
   * Whether a new store gets a LimitRange with a default request of 0.1 CPU for containers in the namespace `default` (spec:
   * conventions 4.13). The server doesn't recreate it after a deletion.
   */
  readonly defaultCpuRequest: boolean;
  /**
   * Whether the second column of custom kinds that declare no columns is `Age`. Otherwise it is `Created At`, as for every kind
   * without columns (spec: conventions 2.4).
   */
  readonly ageOfCustomObjects: boolean;
  /**
   * Whether a new pod may set the overhead that its runtime class has. Otherwise a pod that sets any overhead is rejected (spec:
   * conventions 4.13).
   */
  readonly overheadOfRuntimeClass: boolean;
  /**
   * Whether a new pod may have a toleration that contradicts one of its namespace: it then has both. Otherwise it is rejected (spec:
   * conventions 4.13).
   */
  readonly contradictingTolerations: boolean;
  /** Whether conditions of certificate requests may have other types than Approved, Denied and Failed (spec: conventions 2.6). */
  readonly otherRequestConditions: boolean;
  /**
   * Whether requests to the two signers for node agents may omit the usage `key encipherment`, which only RSA keys need. Otherwise the usages must be exactly those of the signer (spec: conventions 2.6).
   */
  readonly optionalKeyEncipherment: boolean;
  /**
   * Whether the groups claim of an ID token may be a string, which is one group, or null, which is none. Otherwise it must be an
   * array (spec: conventions 5.6).
   */
  readonly singleGroupClaim: boolean;
  /**
   * Whether the last line of a verbose health answer names its endpoint: `livez check passed`. Otherwise it is `healthz check passed`
   * at all three endpoints (spec: conventions 4.11).
   */
  readonly endpointInHealthResult: boolean;
  /**
   * Whether a group prefers a version in the release that introduces it. Otherwise a release that serves it beside the older one comes
   * first (spec: conventions 9.2, rule 4b).
   */
  readonly prefersNewVersions: boolean;
  /**
   * What a list or watch with `view=mine` shows: what its user may get, or only what its user may list or is granted by name, because
   * the right to get doesn't include the right to enumerate. `--views` overrides it.
   */
  readonly viewRule: "get" | "list";
  /**
   * Whether HEAD of a resource, and of the documents that the reference serves with GET only, is answered as GET without the body.
   * Otherwise, of resources only backends behind `proxy` have it.
   */
  readonly headOfResources: boolean;
}

/** The specification's side of the table. */
export const specifiedBehavior: VocabularyBehavior = {
  newestDefaultClass: false,
  defaultCpuRequest: true,
  ageOfCustomObjects: false,
  overheadOfRuntimeClass: false,
  contradictingTolerations: false,
  otherRequestConditions: false,
  optionalKeyEncipherment: false,
  singleGroupClaim: false,
  endpointInHealthResult: false,
  prefersNewVersions: false,
  viewRule: "get",
  headOfResources: true,
};

/** The reference's side of the table. */
export const referenceBehavior: VocabularyBehavior = {
  newestDefaultClass: true,
  defaultCpuRequest: false,
  ageOfCustomObjects: true,
  overheadOfRuntimeClass: true,
  contradictingTolerations: true,
  otherRequestConditions: true,
  optionalKeyEncipherment: true,
  singleGroupClaim: true,
  endpointInHealthResult: true,
  prefersNewVersions: true,
  viewRule: "list",
  headOfResources: false,
};
