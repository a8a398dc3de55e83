import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { requestedCertificate } from "../../base/certificates/certificate-request.ts";
import { pemOfBase64 } from "../../base/certificates/pem.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import type { AdmissionRequest, Target } from "../../resources/engine/engine.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { maySignFor } from "../signer-permission.ts";
import { declarationOf } from "../../schema/kind.ts";

type Request = CertificateSigningRequest;

/** Returns a `concerns` function for one operation on certificate requests or on one of their subresources. */
function writesTo(
  operation: AdmissionRequest["operation"],
  subresource: string,
): AdmissionPlugin["concerns"] {
  return (requestOperation, target: Target) =>
    requestOperation === operation &&
    target.subresource === subresource &&
    declarationOf(target.resource.stored.kind) === CertificateSigningRequest;
}

/**
 * CertificateApproval: a user who approves or denies a certificate request needs the verb `approve` for its signer
 * (spec: conventions 4.13).
 */
export function certificateApproval(authorizer: Authorizer, vocabulary: Vocabulary): AdmissionPlugin {
  const concerns = writesTo("UPDATE", "approval");
  return {
    name: "CertificateApproval",
    concerns,
    validate({ operation, target, user, live }) {
      if (!concerns(operation, target)) return;
      const { signerName } = objectAs<Request>(live!).spec;
      return andThen(maySignFor(authorizer, vocabulary, user, "approve", signerName), (allowed) => {
        if (allowed) return;
        throw forbidden(target, `user not permitted to approve requests with signerName "${signerName}"`);
      });
    },
  };
}

/**
 * CertificateSigning: a user who changes the certificate or the conditions in the status of a request needs the verb `sign`
 * for its signer (spec: conventions 4.13).
 */
export function certificateSigning(authorizer: Authorizer, vocabulary: Vocabulary): AdmissionPlugin {
  const concerns = writesTo("UPDATE", "status");
  return {
    name: "CertificateSigning",
    concerns,
    validate({ operation, target, user, object, live }) {
      if (!concerns(operation, target)) return;
      const { spec, status: before } = objectAs<Request>(live!);
      const { status: now } = objectAs<Request>(object!);
      const sameCertificate = now?.certificate === before?.certificate;
      if (sameCertificate && isDeepStrictEqual(now?.conditions, before?.conditions)) return;
      return andThen(maySignFor(authorizer, vocabulary, user, "sign", spec.signerName), (allowed) => {
        if (allowed) return;
        throw forbidden(target, `user not permitted to sign requests with signerName "${spec.signerName}"`);
      });
    },
  };
}

/**
 * CertificateSubjectRestriction: rejects requests to the signer of API clients for a certificate with the group `system:masters`,
 * which has all permissions (spec: conventions 4.13).
 */
export function certificateSubjectRestriction(vocabulary: Vocabulary): AdmissionPlugin {
  const concerns = writesTo("CREATE", "");
  const restricted = labelKey(vocabulary.domain, vocabulary.components.apiServerClient);
  const masters = `${vocabulary.systemPrefix}masters`;
  return {
    name: "CertificateSubjectRestriction",
    concerns,
    validate({ operation, target, object }) {
      if (!concerns(operation, target)) return;
      const { signerName, request } = objectAs<Request>(object!).spec;
      if (signerName !== restricted) return;
      const pem = pemOfBase64(request ?? "");
      if (!requestedCertificate(pem).subjectName.organizations.includes(masters)) return;
      throw forbidden(target, `use of ${restricted} signer with ${masters} group is not allowed`);
    },
  };
}
