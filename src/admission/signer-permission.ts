import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import { certificates } from "../kinds/groups.ts";
import { groupName } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/**
 * Whether a user may approve or sign certificate requests for a signer: the verb on the resource `signers` with the
 * signer's name, or with `<domain of the signer>/*` (spec: conventions 4.12).
 */
export function maySignFor(
  authorizer: Authorizer,
  vocabulary: Vocabulary,
  user: UserInfo,
  verb: "approve" | "sign",
  signerName: string,
): MaybePromise<boolean> {
  const ask = (name: string): MaybePromise<boolean> => {
    const group = groupName(certificates, vocabulary);
    const attributes = { kind: "resource", user, verb, group, version: "*", resource: "signers" } as const;
    const answer = authorizer.authorize({ ...attributes, subresource: "", namespace: "", name });
    return andThen(answer, ({ verdict }) => verdict === "allow");
  };
  const domain = signerName.split("/", 1)[0]!;
  return andThen(ask(signerName), (allowed) => allowed || ask(`${domain}/*`));
}
