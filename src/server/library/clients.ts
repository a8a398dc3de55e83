import type { UserInfo } from "../../base/user-info.ts";
import type { AccessService } from "./access-questions.ts";
import { authorizingGuard, userNamed } from "./client-guards.ts";
import { LibraryClient } from "./library-client.ts";

/** Creates the in-process clients of the embedding program. */
export class Clients {
  /** The client with the administrator's rights. */
  readonly unrestricted: LibraryClient;

  /** @param administrator the user of {@link unrestricted}. */
  constructor(
    private readonly service: AccessService,
    administrator: UserInfo,
  ) {
    this.unrestricted = new LibraryClient(service, administrator);
  }

  /**
   * Returns a client whose requests are authorized as a user.
   *
   * @throws {TypeError} if the name or groups can't be used.
   */
  as(name: string, groups?: readonly string[]): LibraryClient {
    const { engine, authorizer } = this.service;
    const user = userNamed(engine.vocabulary, name, groups);
    return new LibraryClient(this.service, user, authorizingGuard(authorizer, user));
  }
}
