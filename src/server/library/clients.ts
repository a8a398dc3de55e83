import type { UserInfo } from "../../base/user-info.ts";
import type { HttpService } from "../../http/service.ts";
import { Faults } from "../faults/faults.ts";
import { authorizingGuard, userNamed } from "./client-guards.ts";
import { faultyGuard } from "./faulty-guard.ts";
import { recordingGuard } from "./recording-guard.ts";
import { LibraryClient } from "./library-client.ts";

/** Creates the in-process clients of the embedding program. */
export class Clients {
  /** The client with the administrator's rights. */
  readonly unrestricted: LibraryClient;
  private enabledFaults: Faults | undefined;

  /** @param administrator the user of {@link unrestricted}. */
  constructor(
    private readonly service: Pick<
      HttpService,
      "engine" | "authorizer" | "authorizesSelectors" | "reviews" | "requests" | "clock" | "faults"
    >,
    administrator: UserInfo,
  ) {
    this.unrestricted = new LibraryClient(service, administrator);
  }

  /** The faults of the server; the first use enables them. */
  get faults(): Faults {
    if (this.enabledFaults === undefined) {
      const { clock, engine } = this.service;
      this.enabledFaults = new Faults(clock, engine.store);
      this.service.faults = this.enabledFaults.requests;
    }
    return this.enabledFaults;
  }

  /**
   * Returns a client whose requests are authorized as a user.
   *
   * @throws {TypeError} if the name or groups can't be used.
   */
  as(name: string, groups?: readonly string[]): LibraryClient {
    const { engine, authorizer, authorizesSelectors, requests } = this.service;
    const user = userNamed(engine.vocabulary, name, groups);
    const guard = faultyGuard(
      this.service,
      user.name,
      authorizingGuard(authorizer, user, authorizesSelectors),
    );
    return new LibraryClient(this.service, user, requests ? recordingGuard(guard, user, requests) : guard);
  }
}
