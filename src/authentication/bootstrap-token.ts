import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/time/clock.ts";
import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import {
  bootstrapSecretPrefix,
  bootstrapTokenPattern,
  parseBootstrapToken,
} from "./bootstrap-token-secret.ts";
import type { LiveObjects } from "./live-objects.ts";
import { refusal } from "./refusal.ts";

const extraGroupName = /^:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * Authenticates bootstrap tokens of new nodes (spec: conventions 2.7, 5.4), which are stored in Secrets of the system namespace.
 * The Secret is read at each request, so a deleted or changed token is invalid at once.
 *
 * If the secret part is wrong, the result is the same as for an unknown id.
 */
export class BootstrapTokens implements Authenticator {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    private readonly clock: Clock,
  ) {}

  authenticate({ authorization }: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(authorization);
    const [, id, secret] = (token === undefined ? undefined : bootstrapTokenPattern.exec(token)) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const { systemNamespace } = this.vocabulary;
    return andThen(
      this.live.object("secrets", systemNamespace, `${bootstrapSecretPrefix}${id}`),
      (secretObject) => (secretObject === undefined ? undefined : this.verify(secretObject, id, secret)),
    );
  }

  private verify(secretObject: ApiObject, id: string, secret: string): AuthenticationResult | undefined {
    const token = parseBootstrapToken(secretObject, this.vocabulary);
    if (token === undefined || !equalsConstantTime(token.secret, secret) || token.id !== id) return undefined;
    if (token.expiresAtMs <= this.clock.now()) throw refusal("bootstrap token: the token has expired");
    if (!token.forAuthentication)
      throw refusal("bootstrap token: the token is not for authentication (usage-bootstrap-authentication)");
    const groups = this.groupsOf(token.extraGroups);
    const user = { name: `${this.vocabulary.systemPrefix}bootstrap:${id}`, uid: "", groups, extra: {} };
    return { user, method: "bootstrap-token", cacheable: false };
  }

  /** Returns the common group and the extra groups of the Secret. Rejects extra groups without the required prefix. */
  private groupsOf(text: string): string[] {
    const common = `${this.vocabulary.systemPrefix}bootstrappers`;
    const extraGroups = text === "" ? [] : text.split(",");
    for (const group of extraGroups) {
      if (!group.startsWith(common) || !extraGroupName.test(group.slice(common.length))) {
        throw refusal(`bootstrap token: the extra group ${JSON.stringify(group)} must begin with ${common}:`);
      }
    }
    return [...new Set([common, ...extraGroups])].toSorted();
  }
}

/** Compares two strings in constant time. */
function equalsConstantTime(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
