/**
 * What the server does where the specification and the reference differ: one member for each difference. With `platform` names the
 * server follows the specification, with `kubernetes` names the reference, so that its clients run unchanged. The page
 * docs/vocabularies.md shows the same table; code reads the member and never the name of the vocabulary.
 */
export interface VocabularyBehavior {
  /**
   * Which class a new object gets that names none while several ingress or storage classes are marked as the default (spec:
   * conventions 4.13). True: the newest, of equally old ones the one whose name sorts first. False: every new Ingress or claim is
   * rejected, also one that names its class.
   */
  readonly newestDefaultClass: boolean;
  /**
   * Whether a fresh store gets a LimitRange by which containers in the namespace `default` request 0.1 CPU (spec: conventions 4.13).
   * One that was deleted is not created again.
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
   * Whether requests to the two signers for node agents may leave the usage `key encipherment` out, which only RSA keys have a use
   * for. Otherwise the usages must be exactly those of the signer (spec: conventions 2.6).
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
};
