import type { LoginCodes } from "../../../authentication/console/login-codes.ts";
import type { SessionTokens } from "../../../authentication/console/session-tokens.ts";
import { bearerToken } from "../../../authentication/bearer-token.ts";
import type { ProviderSignIn } from "../../../authentication/oidc/provider-sign-in.ts";
import { StatusError } from "../../../base/status-error.ts";
import { sendJson } from "../../answers/respond.ts";
import type { PathHandler } from "../../request/path-table.ts";
import type { RequestContext } from "../../request/context.ts";
import type { SignIn, WebConsole } from "../../service.ts";
import { consolePrefix, type ConsoleFiles } from "./console-files.ts";

/** Path at which an administrator creates a one-time code; authenticated and authorized like any other path. */
export const codesPath = `${consolePrefix}codes`;
/** Path of the document with the name and groups of the caller; open to every authenticated user. */
export const userPath = `${consolePrefix}user`;
/** Path at which a code is exchanged for a token of a session. */
const sessionsPath = `${consolePrefix}sessions`;
/** Path of the document that says how to sign in with the OpenID provider. */
const signInDocumentPath = `${consolePrefix}sign-in`;

/** The console: its files, and the login with a one-time code. */
export class ConsolePages implements WebConsole {
  constructor(
    private readonly files: ConsoleFiles,
    private readonly codes: LoginCodes,
    private readonly tokens: SessionTokens,
    /** Name of the group of administrators. */
    private readonly administrators: string,
    /** Undefined without an OpenID provider. */
    private readonly signIn: ProviderSignIn | undefined,
  ) {}

  publicHandler({ exchange: { method }, facts }: RequestContext): PathHandler | undefined {
    if (facts.kind !== "path") return undefined;
    const { path } = facts;
    if (path === consolePrefix.slice(0, -1)) return isRead(method) ? redirect : undefined;
    if (!path.startsWith(consolePrefix)) return undefined;
    if (path === sessionsPath && method === "POST") return (request) => this.redeem(request);
    if (path === codesPath || path === sessionsPath || path === userPath || !isRead(method)) return undefined;
    if (path === signInDocumentPath) return ({ exchange }) => this.sendSignIn(exchange);
    return ({ exchange }) => this.sendFile(exchange, path);
  }

  /**
   * Creates a code for the caller, who must be an administrator with other credentials than a code's: codes must not extend the
   * rights of a user, or of a session, beyond the validity of their credentials. An impersonated administrator gets none.
   *
   * @throws {StatusError} Forbidden, TooManyRequests
   */
  async createCode({ exchange, caller, user }: RequestContext): Promise<void> {
    const isSession = this.tokens.isSession(caller);
    if (!caller.groups.includes(this.administrators) || user !== caller || isSession) {
      throw new StatusError(
        "Forbidden",
        `only members of ${this.administrators} with their own credentials may create codes for the console`,
      );
    }
    sendJson(exchange, 201, await this.codes.create(caller));
  }

  /** Sends the name and groups of the user, and of the caller who impersonates them. */
  sendUser({ exchange, caller, user }: RequestContext): void {
    const identity = ({ name, groups }: RequestContext["user"]) => ({ name, groups });
    sendJson(exchange, 200, {
      ...identity(user),
      ...(user !== caller && { impersonatedBy: identity(caller) }),
    });
  }

  async pagePath(signIn?: SignIn): Promise<string> {
    if (signIn === undefined) return consolePrefix;
    const { code } = await this.codes.create(signIn.user, signIn.lifeMs);
    return `${consolePrefix}#code=${code}`;
  }

  /**
   * Begins a session. Its audit event has the user of the code and the credential id of the session.
   *
   * @throws {StatusError} Unauthorized
   */
  private async redeem(request: RequestContext): Promise<void> {
    const { exchange } = request;
    const user = await this.codes.redeem(bearerToken(exchange.header("authorization")) ?? "");
    if (user === undefined)
      throw new StatusError("Unauthorized", "the code is invalid, expired or was used already");
    const { token, expires, user: sessionUser } = this.tokens.issue(user);
    request.caller = sessionUser;
    request.user = sessionUser;
    await request.audit?.received();
    sendJson(exchange, 201, { token, expires });
  }

  /** Sends issuer, client ID and endpoints of the OpenID provider; without endpoints if it can't be reached. */
  private async sendSignIn(exchange: RequestContext["exchange"]): Promise<void> {
    if (this.signIn === undefined) {
      sendJson(exchange, 200, {});
      return;
    }
    const { issuer, clientId } = this.signIn;
    sendJson(exchange, 200, { openid: { issuer, clientId, endpoints: await this.signIn.endpoints() } });
  }

  /** @throws {StatusError} NotFound */
  private sendFile(exchange: RequestContext["exchange"], path: string): void {
    const { current } = this.signIn ?? {};
    if (!this.files.send(exchange, path, current && new URL(current.token).origin)) {
      throw new StatusError("NotFound", "the server could not find the requested resource");
    }
  }
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function redirect({ exchange }: RequestContext): void {
  exchange.send(308, ["Location", consolePrefix], Buffer.alloc(0));
}
