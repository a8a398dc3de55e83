import type { Domain, GroupSuffix } from "./names.ts";
import type { VocabularyBehavior } from "./behavior.ts";

/**
 * Names that contain the product's name, in one naming of the API. All such names that a client can read come from here; no
 * other file contains one.
 */
export interface Vocabulary {
  readonly name: "platform" | "kubernetes";
  /** Suffix of API group names, for example `platform.io` in `rbac.authorization.platform.io`. */
  readonly groupSuffix: GroupSuffix;
  /** Domain of labels, annotations, taints, finalizers and signer names, for example `platform.io/metadata.name`. */
  readonly domain: Domain;
  /** Media type of the binary encoding (spec: conventions 4.7). */
  readonly protobufMediaType: string;
  /** Media type of CBOR; undefined unless the server supports it. */
  readonly cborMediaType?: string;
  /** Prefix of schema extensions, with its dash: `x-platform-`. */
  readonly schemaExtensionPrefix: string;
  /** Namespace of the system's own objects. */
  readonly systemNamespace: string;
  /** Namespace that all users may read. */
  readonly publicNamespace: string;
  /** Namespace of the heartbeat leases of node agents. */
  readonly nodeLeaseNamespace: string;
  /** Name of the Service in the namespace `default` through which pods reach the API. */
  readonly apiServiceName: string;
  /** Name of the ConfigMap in each namespace with the CA certificates of the server. */
  readonly rootAuthorityConfigMap: string;
  /** Prefix of the names of volumes with service account tokens, with its dash. */
  readonly tokenVolumePrefix: string;
  /** Finalizer in `spec.finalizers` of a namespace; removed when its content is deleted. */
  readonly namespaceFinalizer: string;
  /** Prefix of the names of built-in system users, groups and roles, with its colon. */
  readonly systemPrefix: string;
  /** Default issuer of service account tokens, and so the default audience of the server. */
  readonly serviceAccountIssuer: string;
  /** Issuer of service account tokens in Secrets, which never expire. */
  readonly legacyTokenIssuer: string;
  /** Names of the components with their own system users and roles. */
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
  /** Prefix of the labels that aggregated default roles select, followed by `admin`, `edit` or `view`. */
  readonly aggregateToLabelPrefix: string;
  /** Annotation with which `"false"` disables the reconciliation of a default role or binding at start. */
  readonly autoUpdateAnnotation: string;
  /** Label that marks the default roles and bindings; its value is `rbac-defaults`. */
  readonly bootstrappingLabel: string;
  /**
   * Client-side apply of kubectl (spec: conventions 4.10): the annotation with the last applied configuration, and the field manager
   * of the same client for server-side apply. Undefined if no client of the vocabulary applies this way.
   */
  readonly clientSideApply?: { readonly annotation: string; readonly manager: string };
  /** Behavior for which the specification and the reference differ. */
  readonly behavior: VocabularyBehavior;
  /** Prefix of the response headers with flow schema and priority level of the request, with its dash. */
  readonly flowHeaderPrefix: string;
}
