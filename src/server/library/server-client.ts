import type { UserInfo } from "../../base/user-info.ts";
import { Client } from "../../resources/clients/client.ts";
import type { ClientGuard } from "../../resources/clients/client-guard.ts";
import type { TypedClient } from "../../resources/clients/typed-client.ts";
import {
  decideAction,
  explainAction,
  type AccessAnswer,
  type AccessOptions,
  type AccessService,
} from "./access-questions.ts";

/**
 * The client of a server in the process: the API without a socket, and what tests need besides.
 *
 * `create` also answers reviews, such as a SubjectAccessReview or TokenReview: it returns the object with its status.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface ServerClient<Objects> extends TypedClient<Objects> {
  /**
   * Returns whether the user of the client, or another one, is allowed an action. Asking needs no permission.
   *
   * @param verb API verb such as `get` or `create`; for a path the HTTP method in lower case.
   * @param resourceOrPath plural name of a resource, optionally with a subresource (`pods/log`), or a path that begins with `/`.
   * @throws {StatusError} NotFound or BadRequest if the group isn't set and no group, or more than one, has the resource.
   * @throws {TypeError} if the user or the groups can't be used.
   *
   * @example
   * await devi.can("update", "configmaps", { namespace: "shop" });
   * await server.client.can("get", "/metrics", { user: "devi", groups: ["operators"] });
   */
  can(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<boolean>;

  /**
   * Explains an action, as an AccessExplanation does: which rules allow it, or which come close. Parameters and errors are those of
   * {@link ServerClient.can}.
   *
   * @example
   * const { allowed, text } = await devi.why("update", "secrets", { namespace: "shop" });
   * assert(allowed, text);
   */
  why(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<AccessAnswer>;
}

/**
 * Implements {@link ServerClient}.
 *
 * @internal
 */
export class LibraryClient extends Client {
  /** @param caller the user of the client. @param authorize undefined if the client may do everything. */
  constructor(
    private readonly service: AccessService,
    private readonly caller: UserInfo,
    authorize?: ClientGuard,
  ) {
    super(service.engine, caller, authorize, service.reviews);
  }

  can(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<boolean> {
    return decideAction(this.service, this.caller, verb, resourceOrPath, options);
  }

  why(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<AccessAnswer> {
    return explainAction(this.service, this.caller, verb, resourceOrPath, options);
  }
}
