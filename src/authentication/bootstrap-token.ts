import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { bootstrapSecretPrefix, bootstrapTokenForm, bootstrapTokenIn } from "./bootstrap-token-secret.ts";
import type { LiveObjects } from "./live-objects.ts";
import { refusal } from "./refusal.ts";

const extraGroupName = /^:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * Recognizes the tokens with which new members of a cluster come for the first time (spec: conventions 2.7, 5.4): id,
 * dot, secret, as they stand in a Secret of the system's namespace. The Secret is read at each request, so a token that
 * was deleted or changed holds no more.
 *
 * Of a token whose secret part is wrong nothing is said, not even whether its id is known.
 */
export class BootstrapTokens implements Authenticator {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    private readonly clock: Clock,
  ) {}

  authenticate({ authorization }: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(authorization);
    const [, id, secret] = (token === undefined ? undefined : bootstrapTokenForm.exec(token)) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const { systemNamespace } = this.vocabulary;
    return andThen(this.live.object("secrets", systemNamespace, `${bootstrapSecretPrefix}${id}`), (holder) =>
      holder === undefined ? undefined : this.judge(holder, id, secret),
    );
  }

  private judge(holder: ApiObject, id: string, secret: string): AuthenticationResult | undefined {
    const token = bootstrapTokenIn(holder, this.vocabulary);
    if (token === undefined || !sameText(token.secret, secret) || token.id !== id) return undefined;
    if (token.endsMs <= this.clock.now()) throw refusal("bootstrap token: it has expired");
    if (!token.forAuthentication) throw refusal("bootstrap token: it is not meant for authentication");
    const groups = this.groupsOf(token.extraGroups);
    const user = { name: `${this.vocabulary.systemPrefix}bootstrap:${id}`, uid: "", groups, extra: {} };
    return { user, method: "bootstrap-token", cacheable: false };
  }

  /** The group of all such tokens, and those that the Secret names; other names than of such groups are refused. */
  private groupsOf(text: string): string[] {
    const common = `${this.vocabulary.systemPrefix}bootstrappers`;
    const further = text === "" ? [] : text.split(",");
    for (const group of further) {
      if (!group.startsWith(common) || !extraGroupName.test(group.slice(common.length))) {
        throw refusal(`bootstrap token: its group ${JSON.stringify(group)} doesn't begin with ${common}:`);
      }
    }
    return [...new Set([common, ...further])].toSorted();
  }
}

/** Compares in a time that says nothing of where two texts differ. */
function sameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
