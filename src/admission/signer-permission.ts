import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import { certificates } from "../kinds/groups.ts";
import { groupName } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/**
 * Whether a user may approve or sign certificate requests for a signer: the user needs the verb on the resource `signers` with
 * the name of the signer or `<domain of the signer>/*` (spec: conventions 4.12).
 */
export function maySignFor(
  authorizer: Authorizer,
  vocabulary: Vocabulary,
  user: UserInfo,
  verb: "approve" | "attest" | "sign",
  signerName: string,
): MaybePromise<boolean> {
  const isAllowed = (name: string): MaybePromise<boolean> => {
    const group = groupName(certificates, vocabulary);
    const attributes = { kind: "resource", user, verb, group, version: "*", resource: "signers" } as const;
    const decision = authorizer.authorize({ ...attributes, subresource: "", namespace: "", name });
    return andThen(decision, ({ verdict }) => verdict === "allow");
  };
  const host = signerName.split("/", 1)[0]!;
  return andThen(isAllowed(signerName), (allowed) => allowed || isAllowed(`${host}/*`));
}
