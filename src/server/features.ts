import { FeatureGateError, FeatureGates, type Feature } from "../base/feature-gates.ts";
import { idleFeatures } from "./idle-features.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions } from "./options.ts";

const alpha: Feature = { stage: "alpha", on: false };
const beta: Feature = { stage: "beta", on: true };
const betaOff: Feature = { stage: "beta", on: false };
const stable: Feature = { stage: "stable", on: true };
const deprecated: Feature = { stage: "deprecated", on: false };

/**
 * The feature gates of the reference release. Those of node agents and other programs are known too, so that one
 * setting can be given to all; here they change nothing (`idle-features.ts`).
 */
export const features: Readonly<Record<string, Feature>> = {
  APIListChunking: beta,
  APIPriorityAndFairness: beta,
  APIResponseCompression: beta,
  APISelfSubjectReview: alpha,
  APIServerIdentity: beta,
  APIServerTracing: alpha,
  AdvancedAuditing: stable,
  AggregatedDiscoveryEndpoint: alpha,
  AllowInsecureBackendProxy: beta,
  AnyVolumeDataSource: beta,
  AppArmor: beta,
  CPUManager: stable,
  CPUManagerPolicyAlphaOptions: alpha,
  CPUManagerPolicyBetaOptions: beta,
  CPUManagerPolicyOptions: beta,
  CSIMigration: stable,
  CSIMigrationAWS: stable,
  CSIMigrationAzureDisk: stable,
  CSIMigrationAzureFile: stable,
  CSIMigrationGCE: stable,
  CSIMigrationPortworx: betaOff,
  CSIMigrationRBD: alpha,
  CSIMigrationvSphere: stable,
  CSINodeExpandSecret: alpha,
  CSIStorageCapacity: stable,
  CSIVolumeHealth: alpha,
  ComponentSLIs: alpha,
  ContainerCheckpoint: alpha,
  CronJobTimeZone: beta,
  CrossNamespaceVolumeDataSource: alpha,
  CustomResourceValidationExpressions: beta,
  DaemonSetUpdateSurge: stable,
  DefaultPodTopologySpread: stable,
  DelegateFSGroupToCSIDriver: stable,
  DevicePlugins: stable,
  DisableCloudProviders: alpha,
  DisableKubeletCloudCredentialProviders: alpha,
  DownwardAPIHugePages: beta,
  DryRun: stable,
  DynamicResourceAllocation: alpha,
  EfficientWatchResumption: stable,
  EndpointSliceTerminatingCondition: stable,
  EphemeralContainers: stable,
  EventedPLEG: alpha,
  ExecProbeTimeout: stable,
  ExpandedDNSConfig: beta,
  ExperimentalHostUserNamespaceDefaulting: deprecated,
  GRPCContainerProbe: beta,
  GracefulNodeShutdown: beta,
  GracefulNodeShutdownBasedOnPodPriority: beta,
  HPAContainerMetrics: alpha,
  HPAScaleToZero: alpha,
  HonorPVReclaimPolicy: alpha,
  IPTablesOwnershipCleanup: alpha,
  IdentifyPodOS: stable,
  InTreePluginAWSUnregister: alpha,
  InTreePluginAzureDiskUnregister: alpha,
  InTreePluginAzureFileUnregister: alpha,
  InTreePluginGCEUnregister: alpha,
  InTreePluginOpenStackUnregister: alpha,
  InTreePluginPortworxUnregister: alpha,
  InTreePluginRBDUnregister: alpha,
  InTreePluginvSphereUnregister: alpha,
  JobMutableNodeSchedulingDirectives: beta,
  JobPodFailurePolicy: beta,
  JobReadyPods: beta,
  JobTrackingWithFinalizers: stable,
  KMSv2: alpha,
  KubeletCredentialProviders: stable,
  KubeletInUserNamespace: alpha,
  KubeletPodResources: beta,
  KubeletPodResourcesGetAllocatable: beta,
  KubeletTracing: alpha,
  LegacyServiceAccountTokenNoAutoGeneration: stable,
  LegacyServiceAccountTokenTracking: alpha,
  LocalStorageCapacityIsolation: stable,
  LocalStorageCapacityIsolationFSQuotaMonitoring: alpha,
  LogarithmicScaleDown: beta,
  LoggingAlphaOptions: alpha,
  LoggingBetaOptions: beta,
  MatchLabelKeysInPodTopologySpread: alpha,
  MaxUnavailableStatefulSet: alpha,
  MemoryManager: beta,
  MemoryQoS: alpha,
  MinDomainsInPodTopologySpread: betaOff,
  MinimizeIPTablesRestore: alpha,
  MixedProtocolLBService: stable,
  MultiCIDRRangeAllocator: alpha,
  NetworkPolicyStatus: alpha,
  NodeInclusionPolicyInPodTopologySpread: beta,
  NodeOutOfServiceVolumeDetach: beta,
  NodeSwap: alpha,
  OpenAPIEnums: beta,
  OpenAPIV3: beta,
  PDBUnhealthyPodEvictionPolicy: alpha,
  PodAndContainerStatsFromCRI: alpha,
  PodDeletionCost: beta,
  PodDisruptionConditions: beta,
  PodHasNetworkCondition: alpha,
  PodSchedulingReadiness: alpha,
  PodSecurity: stable,
  ProbeTerminationGracePeriod: beta,
  ProcMountType: alpha,
  ProxyTerminatingEndpoints: beta,
  QOSReserved: alpha,
  ReadWriteOncePod: alpha,
  RecoverVolumeExpansionFailure: alpha,
  RemainingItemCount: beta,
  RemoveSelfLink: stable,
  RetroactiveDefaultStorageClass: beta,
  RotateKubeletServerCertificate: beta,
  SELinuxMountReadWriteOncePod: alpha,
  SeccompDefault: beta,
  ServerSideApply: stable,
  ServerSideFieldValidation: beta,
  ServiceIPStaticSubrange: stable,
  ServiceInternalTrafficPolicy: stable,
  SizeMemoryBackedVolumes: beta,
  StatefulSetAutoDeletePVC: alpha,
  StatefulSetMinReadySeconds: stable,
  StatefulSetStartOrdinal: alpha,
  StorageVersionAPI: alpha,
  StorageVersionHash: beta,
  TopologyAwareHints: beta,
  TopologyManager: beta,
  TopologyManagerPolicyAlphaOptions: alpha,
  TopologyManagerPolicyBetaOptions: beta,
  TopologyManagerPolicyOptions: beta,
  UserNamespacesStatelessPodsSupport: alpha,
  ValidatingAdmissionPolicy: alpha,
  VolumeCapacityPriority: alpha,
  WatchBookmark: stable,
  WatchList: alpha,
  WinDSR: alpha,
  WinOverlay: beta,
  WindowsHostProcessContainers: stable,
};

const gatesOf = new WeakMap<ServerOptions, FeatureGates>();

/**
 * The features that the options turn on. The first call for some options logs what the operator should know.
 *
 * @throws {OptionsError}
 */
export function featureGates(options: ServerOptions): FeatureGates {
  const before = gatesOf.get(options);
  if (before !== undefined) return before;
  const { featureGates: text, log } = options;
  try {
    const gates = FeatureGates.parse(text, features);
    for (const warning of gates.warnings) log.warn({}, warning);
    for (const name of gates.settings.keys()) {
      const reason = idleFeatures.get(name);
      if (reason !== undefined)
        log.warn({ gate: name }, `feature gate ${name} has no effect here: ${reason}`);
    }
    gatesOf.set(options, gates);
    return gates;
  } catch (error) {
    if (error instanceof FeatureGateError) throw new OptionsError(`--feature-gates: ${error.message}`);
    throw error;
  }
}
