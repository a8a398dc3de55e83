import type { VocabularyBehavior } from "./behavior.ts";

/**
 * The product words of one naming of the API. No other file spells one of them: everything that a client can read and
 * that carries a product's name comes from here.
 */
export interface Vocabulary {
  readonly name: "platform" | "kubernetes";
  /** Suffix of API group names, for example `platform.io` in `rbac.authorization.platform.io`. */
  readonly groupSuffix: string;
  /** Domain of labels, annotations, taints, finalizers and signer names, for example `platform.io/metadata.name`. */
  readonly domain: string;
  /** Media type of the binary encoding (spec: conventions 4.7). */
  readonly protobufMediaType: string;
  /** Prefix of schema extensions, with its dash: `x-platform-`. */
  readonly schemaExtensionPrefix: string;
  /** Namespace of the system's own objects. */
  readonly systemNamespace: string;
  /** Namespace whose content everybody may read. */
  readonly publicNamespace: string;
  /** Namespace of the leases by which node agents show that they live. */
  readonly nodeLeaseNamespace: string;
  /** Name of the Service in the namespace `default` by which pods reach the API. */
  readonly apiServiceName: string;
  /** Name of the ConfigMap in every namespace by which pods know the server's authority. */
  readonly rootAuthorityConfigMap: string;
  /** How the names of the volumes begin by which pods get the token of their service account, with its dash. */
  readonly tokenVolumePrefix: string;
  /** Finalizer in `spec.finalizers` of a namespace; removed when its content is deleted. */
  readonly namespaceFinalizer: string;
  /** Prefix of the names of built-in system users, groups and roles, with its colon. */
  readonly systemPrefix: string;
  /** Default issuer of service account tokens, and so the default audience of the server. */
  readonly serviceAccountIssuer: string;
  /** Issuer of service accounts' tokens that lie in Secrets and never expire. */
  readonly legacyTokenIssuer: string;
  /** Names of the components that have system users and roles of their own. */
  readonly components: {
    readonly apiServer: string;
    readonly controllerManager: string;
    readonly scheduler: string;
    readonly proxy: string;
    readonly dns: string;
    readonly aggregator: string;
    readonly nodeAgentApiAdmin: string;
    readonly nodeAgentServing: string;
    readonly nodeAgentClient: string;
    readonly apiServerClient: string;
    readonly metricsCollector: string;
  };
  /** Label that aggregated default roles select on, without its last part (`admin`, `edit`, `view`). */
  readonly aggregateToLabelPrefix: string;
  /** Annotation that, set to "false", keeps a default role or binding from being reconciled at start. */
  readonly autoUpdateAnnotation: string;
  /** Label that marks the default roles and bindings; its value is `rbac-defaults`. */
  readonly bootstrappingLabel: string;
  /**
   * How the reference's command line applied before the server could (spec: conventions 4.10): it keeps what it applied in
   * an annotation. Absent where there is no such client; else the names of the annotation and of the manager under which
   * the same client applies on the server.
   */
  readonly clientSideApply?: { readonly annotation: string; readonly manager: string };
  /** Version that `/version` reports as `gitVersion`. */
  readonly gitVersion: string;
  /** What the server does where the specification and the reference differ. */
  readonly behavior: VocabularyBehavior;
  /** Prefix of the headers that tell clients which flow schema and priority level a request had, with its dash. */
  readonly flowHeaderPrefix: string;
}

/** The reference release whose behaviour and kinds are served. */
export const referenceRelease = { major: "1", minor: "26" } as const;
