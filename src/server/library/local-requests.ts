import { decodeJson } from "../../base/json/decode.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { StatusError, type Reason, type StatusDetails } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { handle } from "../../http/pipeline.ts";
import type { HttpService } from "../../http/service.ts";
import type { Connection } from "../../http/transport/connection.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
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

  get vocabulary(): Vocabulary {
    return this.service.engine.vocabulary;
  }

  /**
   * Sends a request.
   *
   * @throws {Error} if the server breaks the answer off, which is a bug.
   */
  send(request: LocalRequest): Promise<LocalAnswer> {
    return this.sendOn(this.connection, request);
  }

  /**
   * Creates an object of a kind that is only answered, such as a WorkspaceDiff, with the rights of a user.
   *
   * @param query parameters; undefined ones are left out.
   * @returns the status of the object.
   * @throws {StatusError} the error of the request.
   */
  async post<Status>(
    user: UserInfo,
    kind: Kind,
    spec: object,
    query: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Status> {
    const { apiVersion, name } = this.registry.require(kind);
    const parameters = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined);
    const identity = { authorization: undefined, user, requests: { inc: () => undefined } };
    const answer = await this.sendOn(
      { ...this.connection, identity },
      {
        method: "POST",
        url: `/apis/${apiVersion}/${name}?${new URLSearchParams(parameters).toString()}`,
        headers: ["content-type", "application/json"],
        body: Buffer.from(encodeJson({ metadata: {}, spec } as unknown as JsonValue)),
      },
    );
    const body = decodeJson(answer.body).value as JsonObject;
    if (answer.status < 300) return body["status"] as Status;
    throw new StatusError(
      body["reason"] as Reason,
      String(body["message"]),
      body["details"] as unknown as StatusDetails,
    );
  }

  private sendOn(connection: Connection, request: LocalRequest): Promise<LocalAnswer> {
    return new Promise((resolve, reject) => {
      const done = (answer: LocalAnswer | Error) => {
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      const { service } = this;
      handle(service, new LocalExchange(request, connection, service.guard, done));
    });
  }
}
