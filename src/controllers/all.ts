import { apiServiceAvailability, type AvailabilityDependencies } from "./aggregation/availability.ts";
import { apiServiceRegistration, type RegistrationDependencies } from "./aggregation/registration.ts";
import { bootstrapSigner } from "./bootstrap/signer.ts";
import { tokenCleaner } from "./bootstrap/token-cleaner.ts";
import { certificateApproving, type ApprovingDependencies } from "./certificates/approving.ts";
import { certificateCleaning } from "./certificates/cleaning.ts";
import { certificateSigning, type SigningDependencies } from "./certificates/signing.ts";
import { clusterRoleAggregation } from "./cluster-role-aggregation.ts";
import type { Controller, ControllerContext } from "./controller.ts";
import { customResourceDefinitions } from "./custom-resource-definitions/custom-resource-definitions.ts";
import { eventExpiry, type EventExpiryDependencies } from "./event-expiry.ts";
import { garbageCollection } from "./garbage-collection/garbage-collection.ts";
import { namespaceDeletion, type NamespaceDependencies } from "./namespace-deletion.ts";
import { policyStatus, type PolicyStatusDependencies } from "./policy-status.ts";
import { resourceQuotas, type QuotaDependencies } from "./resource-quotas.ts";
import { rootAuthorityPublisher, type RootAuthorityDependencies } from "./root-authority.ts";
import { serviceRanges } from "./services/service-ranges.ts";
import { storageVersionMigrator } from "./storage-migration/storage-version-migrator.ts";
import { ttlAfterFinished } from "./ttl-after-finished.ts";
import { claimProtection } from "./volumes/claim-protection.ts";
import { volumeProtection } from "./volumes/volume-protection.ts";
import { serviceAccountTokens, type TokenDependencies } from "./service-account-tokens.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { workspaces, type WorkspaceDependencies } from "./workspaces.ts";

/** Dependencies of all built-in controllers together; each controller declares its part of them. */
export type BuiltInDependencies = ControllerContext &
  ApprovingDependencies &
  AvailabilityDependencies &
  EventExpiryDependencies &
  NamespaceDependencies &
  PolicyStatusDependencies &
  QuotaDependencies &
  RegistrationDependencies &
  RootAuthorityDependencies &
  SigningDependencies &
  TokenDependencies &
  WorkspaceDependencies;

/** Controllers that always run; `--controllers` doesn't apply to them. */
export const ownControllers: readonly Controller<BuiltInDependencies>[] = [
  customResourceDefinitions,
  apiServiceRegistration,
  apiServiceAvailability,
];

/** The controllers that `--controllers` turns on and off. */
export const builtInControllers: readonly Controller<BuiltInDependencies>[] = [
  namespaceDeletion,
  serviceAccounts,
  serviceAccountTokens,
  rootAuthorityPublisher,
  clusterRoleAggregation,
  garbageCollection,
  eventExpiry,
  resourceQuotas,
  claimProtection,
  volumeProtection,
  ttlAfterFinished,
  certificateApproving,
  certificateSigning,
  certificateCleaning,
  policyStatus,
  storageVersionMigrator,
  serviceRanges,
  workspaces,
  bootstrapSigner,
  tokenCleaner,
];
