import type { Clock } from "../../base/time/clock.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { claim, textClaim, type Claims } from "../jwt/claims.ts";
import { discover, discoveryUrl } from "./discovery.ts";

/** The endpoints are fetched again after this time. */
const maxAgeMs = 10 * 60_000;
/** After a failed request, no further request is sent for this time. */
const retryMs = 1000;

/** What a public client needs for the authorization code flow, apart from issuer and client ID. */
export interface SignInEndpoints {
  /** https URL. */
  readonly authorization: string;
  /** https URL. */
  readonly token: string;
  /** Scopes of the configured claims, separated by spaces. */
  readonly scope: string;
}

interface SignInOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Claims that an ID token must have for this server. */
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  readonly client: RemoteClient;
  readonly clock: Clock;
  /** Called when a request to the provider fails. */
  readonly failed: (error: RemoteFault) => void;
}

/** The endpoints at which browsers sign in with the OpenID provider. While the provider is unavailable, the last ones are used. */
export class ProviderSignIn {
  private cached: SignInEndpoints | undefined;
  private fetching: Promise<void> | undefined;
  /** Monotonic time from which the endpoints are fetched again. */
  private nextFetchMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: SignInOptions) {}

  get issuer(): string {
    return this.options.issuer;
  }

  get clientId(): string {
    return this.options.clientId;
  }

  /** The endpoints that were read last; undefined if they never were. */
  get current(): SignInEndpoints | undefined {
    return this.cached;
  }

  /** Returns the endpoints; undefined if the provider can't be reached, or has none that a browser can use. */
  async endpoints(): Promise<SignInEndpoints | undefined> {
    if (this.options.clock.monotonicNow() >= this.nextFetchMs) {
      this.fetching ??= this.fetch().finally(() => {
        this.fetching = undefined;
      });
    }
    await this.fetching;
    return this.cached;
  }

  private async fetch(): Promise<void> {
    const { issuer, client, clock, failed } = this.options;
    try {
      this.cached = this.endpointsIn(await discover(issuer, client));
      this.nextFetchMs = clock.monotonicNow() + maxAgeMs;
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      this.nextFetchMs = clock.monotonicNow() + retryMs;
      failed(error);
    }
  }

  private endpointsIn(document: Claims): SignInEndpoints {
    const endpoint = (name: string) => {
      const value = textClaim(document, name) ?? "";
      if (isUsable(value)) return value;
      throw new RemoteFault(`${discoveryUrl(this.issuer).href} has no https URL in ${name}`, false);
    };
    const supported = claim(document, "scopes_supported");
    return {
      authorization: endpoint("authorization_endpoint"),
      token: endpoint("token_endpoint"),
      scope: this.scopes(Array.isArray(supported) ? supported : ["openid", "profile", "email"]).join(" "),
    };
  }

  /** @param supported scopes of the provider. */
  private scopes(supported: readonly unknown[]): readonly string[] {
    const { usernameClaim, groupsClaim } = this.options;
    const scopes = [
      ...(usernameClaim === "email" ? ["email"] : usernameClaim === "sub" ? [] : ["profile"]),
      ...(groupsClaim === "" ? [] : ["groups"]),
    ];
    return ["openid", ...scopes.filter((scope) => supported.includes(scope))];
  }
}

/** Whether a text is an https URL whose origin can be a source of a content security policy. */
function isUsable(text: string): boolean {
  return URL.canParse(text) && /^https:\/\/[\w.:[\]-]+$/.test(new URL(text).origin);
}
