/** A policy can't be evaluated; its failure policy decides about the request. */
export class PolicyFailure extends Error {
  override name = "PolicyFailure";
}
