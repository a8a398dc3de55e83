import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";

/** An authenticator of the program that embeds the server, with the name by which logs and metrics call it. */
export interface NamedAuthenticator extends Authenticator {
  readonly name: string;
}

/**
 * The authenticator such that its failures are those of the request only: whatever it throws beside a {@link StatusError} is
 * logged with its name and counts as a refusal of the credentials. Other methods are still asked, and when none recognizes
 * the credentials the request is answered with 401: it is never anonymous.
 */
export function guardedAuthenticator(
  authenticator: NamedAuthenticator,
  guard: ExtensionGuard,
): Authenticator {
  const { name } = authenticator;
  const fail = (error: unknown): never => {
    if (error instanceof StatusError) throw error;
    guard.failed(`authenticator ${JSON.stringify(name)}`, error);
    throw new StatusError("Unauthorized", "Unauthorized");
  };
  return {
    authenticate(credentials) {
      try {
        const answer: unknown = authenticator.authenticate(credentials);
        if (!isPromise(answer)) return resultOf(answer, name);
        return inTime(guard.clock, answer, "authenticate")
          .then((result) => resultOf(result, name))
          .catch(fail);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** The result in the form of the contract. */
function resultOf(answer: unknown, method: string): AuthenticationResult | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (!isRecord(answer)) throw new ExtensionError(`authenticate answered with a ${typeof answer}`);
  const { user, cacheable, audiences } = answer;
  if (audiences !== undefined && !isTexts(audiences)) {
    throw new ExtensionError("authenticate answered with audiences that are not a list of texts");
  }
  return { user: userOf(user), method, cacheable: cacheable === true, audiences };
}

function userOf(user: unknown): UserInfo {
  if (!isRecord(user)) throw new ExtensionError("authenticate answered without a user");
  const { name, uid = "", groups = [], extra = {} } = user;
  if (typeof name !== "string" || name === "") {
    throw new ExtensionError("authenticate answered with a user without a name");
  }
  if (typeof uid !== "string") throw new ExtensionError("the uid of the user is not a text");
  if (!isTexts(groups)) throw new ExtensionError("the groups of the user are not a list of texts");
  if (!isRecord(extra) || !Object.values(extra).every(isTexts)) {
    throw new ExtensionError("the extra of the user is not an object of lists of texts");
  }
  return { name, uid, groups, extra: extra as UserInfo["extra"] };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
