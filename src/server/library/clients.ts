import type { HttpService } from "../../http/service.ts";
import { Client } from "../../resources/clients/client.ts";
import { authorizingGuard, userNamed } from "./client-guards.ts";

/** Creates the in-process clients of the embedding program. */
export class Clients {
  constructor(
    private readonly service: Pick<HttpService, "engine" | "authorizer">,
    /** The client with the administrator's rights. */
    readonly unrestricted: Client,
  ) {}

  /**
   * Returns a client whose requests are authorized as a user.
   *
   * @throws {TypeError} if the name or groups can't be used.
   */
  as(name: string, groups?: readonly string[]): Client {
    const { engine, authorizer } = this.service;
    const user = userNamed(engine.vocabulary, name, groups);
    return new Client(engine, user, authorizingGuard(authorizer, user));
  }
}
