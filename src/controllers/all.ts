import { apiServiceAvailability } from "./aggregation/availability.ts";
import { apiServiceRegistration } from "./aggregation/registration.ts";
import { bootstrapSigner } from "./bootstrap/signer.ts";
import { tokenCleaner } from "./bootstrap/token-cleaner.ts";
import { certificateApproving } from "./certificates/approving.ts";
import { certificateCleaning } from "./certificates/cleaning.ts";
import { certificateSigning } from "./certificates/signing.ts";
import { clusterRoleAggregation } from "./cluster-role-aggregation.ts";
import type { Controller } from "./controller.ts";
import { customResourceDefinitions } from "./custom-resource-definitions/custom-resource-definitions.ts";
import { eventExpiry } from "./event-expiry.ts";
import { garbageCollection } from "./garbage-collection/garbage-collection.ts";
import { namespaceDeletion } from "./namespace-deletion.ts";
import { resourceQuotas } from "./resource-quotas.ts";
import { rootAuthorityPublisher } from "./root-authority.ts";
import { ttlAfterFinished } from "./ttl-after-finished.ts";
import { claimProtection } from "./volumes/claim-protection.ts";
import { volumeProtection } from "./volumes/volume-protection.ts";
import { serviceAccountTokens } from "./service-account-tokens.ts";
import { serviceAccounts } from "./service-accounts.ts";

/** Parts of the server itself, which nobody can turn off. */
export const ownControllers: readonly Controller[] = [
  customResourceDefinitions,
  apiServiceRegistration,
  apiServiceAvailability,
];

/** Every controller that a server can run. */
export const builtInControllers: readonly Controller[] = [
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
  bootstrapSigner,
  tokenCleaner,
];
