import { certificateRequestIn } from "./certificate-request.ts";

/** Object identifier of the attribute "organization" of a name (RFC 5280, `id-at-organizationName`). */
const organizationName = "2.5.4.10";

/**
 * The organizations in the subject of a certificate request (PKCS#10 in PEM), whatever type of text they are written in:
 * the groups that a client certificate made from it stands for (spec: conventions 5.1).
 *
 * @throws {Error} when the request can't be read.
 */
export async function requestedOrganizations(pem: string): Promise<string[]> {
  const request = certificateRequestIn(pem);
  if (request === undefined) throw new Error("no CERTIFICATE REQUEST block");
  const { AsnConvert, CertificationRequest } = await library();
  const { certificationRequestInfo } = AsnConvert.parse(request, CertificationRequest);
  return certificationRequestInfo.subject.flatMap((attributes) =>
    attributes.filter(({ type }) => type === organizationName).map(({ value }) => value.toString()),
  );
}

/** The library is loaded when the first request is read: few servers sign certificates. */
async function library() {
  const [{ AsnConvert }, { CertificationRequest }] = await Promise.all([
    import("@peculiar/asn1-schema"),
    import("@peculiar/asn1-csr"),
  ]);
  return { AsnConvert, CertificationRequest };
}
