import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { identityOf, type LiveObjects } from "./live-objects.ts";
import { refusal } from "./refusal.ts";

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const extraGroupName = /^:[a-z0-9:-]{0,255}[a-z0-9]$/;
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

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
    const [, id, secret] = (token === undefined ? undefined : form.exec(token)) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const { systemNamespace } = this.vocabulary;
    return andThen(this.live.object("secrets", systemNamespace, `bootstrap-token-${id}`), (holder) =>
      holder === undefined ? undefined : this.judge(holder, id, secret),
    );
  }

  private judge(holder: ApiObject, id: string, secret: string): AuthenticationResult | undefined {
    const { domain, systemPrefix } = this.vocabulary;
    const { type, data = {} } = holder as { type?: string; data?: Record<string, string> };
    if (type !== `bootstrap.${domain}/token` || identityOf(holder).deletedMs !== undefined) return undefined;
    const value = (key: string) =>
      Object.hasOwn(data, key) ? Buffer.from(data[key]!, "base64").toString("utf8") : "";
    if (!sameText(value("token-secret"), secret) || value("token-id") !== id) return undefined;
    if (this.isOver(value("expiration"))) throw refusal("bootstrap token: it has expired");
    if (value("usage-bootstrap-authentication") !== "true") {
      throw refusal("bootstrap token: it is not meant for authentication");
    }
    const groups = this.groupsOf(value("auth-extra-groups"));
    const user = { name: `${systemPrefix}bootstrap:${id}`, uid: "", groups, extra: {} };
    return { user, method: "bootstrap-token", cacheable: false };
  }

  /** A token without a time never expires; one whose time can't be read has. */
  private isOver(expiration: string): boolean {
    if (expiration === "") return false;
    if (!rfc3339.test(expiration)) return true;
    return !(Date.parse(expiration) > this.clock.now());
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
