import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";
import { refusalWithoutReason } from "./refusal.ts";

/** An authenticator of the embedding program, with its name in logs and metrics. */
export interface NamedAuthenticator extends Authenticator {
  readonly name: string;
}

/**
 * Wraps an authenticator. Any exception other than a {@link StatusError}, a timeout or a malformed result is logged with its name
 * and treated as rejected credentials: other methods are still called, and if none accepts the credentials the response is 401,
 * never an anonymous request.
 */
export function guardedAuthenticator(
  authenticator: NamedAuthenticator,
  guard: ExtensionGuard,
): Authenticator {
  const { name } = authenticator;
  const fail = (error: unknown): never => {
    if (error instanceof StatusError) throw error;
    guard.failed(`authenticator ${JSON.stringify(name)}`, error);
    throw refusalWithoutReason();
  };
  return {
    authenticate(credentials) {
      try {
        const result: unknown = authenticator.authenticate(credentials);
        if (!isPromise(result)) return parseResult(result, name);
        return inTime(guard.clock, result, "authenticate")
          .then((result) => parseResult(result, name))
          .catch(fail);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** Validates the result of an authenticator. */
function parseResult(result: unknown, method: string): AuthenticationResult | undefined {
  if (result === undefined || result === null) return undefined;
  if (!isRecord(result))
    throw new ExtensionError(`authenticate must return an object or undefined, not a ${typeof result}`);
  const { user, cacheable, audiences } = result;
  if (audiences !== undefined && !isStringArray(audiences)) {
    throw new ExtensionError("audiences in the result of authenticate must be an array of strings");
  }
  return { user: parseUser(user), method, cacheable: cacheable === true, audiences };
}

function parseUser(user: unknown): UserInfo {
  if (!isRecord(user)) throw new ExtensionError("the result of authenticate must have a user");
  const { name, uid = "", groups = [], extra = {} } = user;
  if (typeof name !== "string" || name === "") {
    throw new ExtensionError("the user in the result of authenticate must have a name");
  }
  if (typeof uid !== "string") throw new ExtensionError("the uid of the user must be a string");
  if (!isStringArray(groups)) throw new ExtensionError("the groups of the user must be an array of strings");
  if (!isRecord(extra) || !Object.values(extra).every(isStringArray)) {
    throw new ExtensionError("extra of the user must be an object with arrays of strings");
  }
  return { name, uid, groups, extra: extra as UserInfo["extra"] };
}

function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
