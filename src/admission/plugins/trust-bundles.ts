import { objectAs } from "../../schema/api-object.ts";
import { isDeepStrictEqual } from "node:util";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import type { ClusterTrustBundleV1 } from "../../kinds/certificates/cluster-trust-bundle.ts";
import type { PodRequest } from "../../kinds/certificates/pod-request-types.ts";
import { certificates, isKindOf } from "../../kinds/groups.ts";
import { invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { maySignFor } from "../signer-permission.ts";

/**
 * ClusterTrustBundleAttest: a user who writes a bundle of a signer needs the verb `attest` for the signer. Changes of finalizers and
 * owner references don't need it.
 */
export function clusterTrustBundleAttest(authorizer: Authorizer, vocabulary: Vocabulary): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    concerns: (operation, { resource, subresource }) =>
      (operation === "CREATE" || operation === "UPDATE") &&
      subresource === "" &&
      isKindOf(resource.stored.kind, certificates, "ClusterTrustBundle"),
    validate({ target, user, object, live }) {
      const { signerName = "" } = objectAs<ClusterTrustBundleV1>(object!).spec;
      if (signerName === "") return;
      if (live !== undefined && isDeepStrictEqual(withoutOwners(object!), withoutOwners(live))) return;
      return andThen(maySignFor(authorizer, vocabulary, user, "attest", signerName), (allowed) => {
        if (!allowed) throw forbidden(target, `user not permitted to attest for signerName "${signerName}"`);
      });
    },
  };
}

function withoutOwners({ metadata, ...others }: ApiObject): object {
  const { finalizers: _, ownerReferences: __, managedFields: ___, resourceVersion: ____, ...rest } = metadata;
  return { ...others, metadata: rest };
}

/** Who changes the status of a PodCertificateRequest needs the verb `sign` for its signer. The check can't be disabled. */
export function podCertificateSigning(authorizer: Authorizer, vocabulary: Vocabulary): AdmissionPlugin {
  return {
    name: "PodCertificateSigning",
    concerns: (operation, { resource, subresource }) =>
      operation === "UPDATE" &&
      subresource === "status" &&
      isKindOf(resource.stored.kind, certificates, "PodCertificateRequest"),
    validate({ target, user, object, live }) {
      const { spec, status } = objectAs<PodRequest>(live!);
      if (isDeepStrictEqual(objectAs<PodRequest>(object!).status, status)) return;
      return andThen(maySignFor(authorizer, vocabulary, user, "sign", spec.signerName), (allowed) => {
        if (allowed) return;
        const { resource, name } = target;
        const message = `Forbidden: User "${user.name}" is not permitted to "sign" for signer "${spec.signerName}"`;
        const cause = { reason: "FieldValueForbidden", message, field: "spec.signerName" } as const;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, [cause]);
      });
    },
  };
}
