import type { Condition } from "../meta/condition.ts";

/** The spec of a request, with the fields of all versions; bytes in base64. */
export interface PodRequestSpec {
  readonly signerName: string;
  readonly podName: string;
  readonly podUID: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUID: string;
  readonly nodeName: string;
  readonly nodeUID: string;
  readonly maxExpirationSeconds?: number | undefined;
  readonly pkixPublicKey?: string | null | undefined;
  readonly proofOfPossession?: string | null | undefined;
  readonly stubPKCS10Request?: string | null | undefined;
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>> | undefined;
}

/** The status of a request. */
export interface PodRequestStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly certificateChain?: string | undefined;
  readonly notBefore?: string | undefined;
  readonly beginRefreshAt?: string | undefined;
  readonly notAfter?: string | undefined;
}

/** A request. */
export interface PodRequest {
  readonly spec: PodRequestSpec;
  readonly status?: PodRequestStatus | undefined;
}
