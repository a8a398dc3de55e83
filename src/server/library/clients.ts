import type { UserInfo } from "../../base/user-info.ts";
import type { HttpService } from "../../http/service.ts";
import { authorizingGuard, userNamed } from "./client-guards.ts";
import { recordingGuard } from "./recording-guard.ts";
import { LibraryClient } from "./library-client.ts";

/** Creates the in-process clients of the embedding program. */
export class Clients {
  /** The client with the administrator's rights. */
  readonly unrestricted: LibraryClient;

  /** @param administrator the user of {@link unrestricted}. */
  constructor(
    private readonly service: Pick<HttpService, "engine" | "authorizer" | "reviews" | "requests">,
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
    const { engine, authorizer, requests } = this.service;
    const user = userNamed(engine.vocabulary, name, groups);
    const guard = authorizingGuard(authorizer, user);
    return new LibraryClient(this.service, user, requests ? recordingGuard(guard, user, requests) : guard);
  }
}
