import { handle } from "../../http/pipeline.ts";
import type { HttpService } from "../../http/service.ts";
import type { Connection } from "../../http/transport/connection.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { LocalExchange, type LocalAnswer, type LocalRequest } from "./local-exchange.ts";

/** Sends requests through all stages of the pipeline, as a client on the loopback address would. */
export class LocalRequests {
  private readonly connection: Connection = {
    remoteAddress: "127.0.0.1",
    secure: true,
    certificate: undefined,
    certificateChain: [],
    certificateError: undefined,
    identity: undefined,
    backlog: undefined,
  };

  constructor(private readonly service: HttpService) {}

  /** The served resource types. */
  get registry(): Registry {
    return this.service.engine.registry;
  }

  /**
   * Sends a request.
   *
   * @throws {Error} if the server breaks the answer off, which is a bug.
   */
  send(request: LocalRequest): Promise<LocalAnswer> {
    return new Promise((resolve, reject) => {
      const done = (answer: LocalAnswer | Error) => {
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      const { connection, service } = this;
      handle(service, new LocalExchange(request, connection, service.guard, done));
    });
  }
}
