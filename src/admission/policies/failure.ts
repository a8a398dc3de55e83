/** Why a policy can't be evaluated; what follows is what its failure policy says. */
export class PolicyFailure extends Error {
  override name = "PolicyFailure";
}
