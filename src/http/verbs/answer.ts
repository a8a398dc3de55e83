import type { Encoding } from "../encodings/encoding.ts";
import { prettyJson } from "../encodings/json.ts";
import { encodingFor, negotiate } from "../negotiation.ts";
import { isTrue } from "../request-facts.ts";
import { headersFor } from "../respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** The encoding that the caller asks for. */
export function encodingOf(service: HttpService, { exchange, facts, target }: ResourceRequest): Encoding {
  const { vocabulary } = service.engine;
  const wanted = negotiate(exchange.header("accept"), vocabulary);
  return encodingFor(wanted, target.resource, vocabulary, service.clock, facts.query.get("includeObject"));
}

/** Answers with one object, from its stored bytes. */
export function sendObject(
  request: ResourceRequest,
  encoding: Encoding,
  status: number,
  body: Uint8Array,
  warnings?: readonly string[],
): void {
  const bytes = encoding.object(body);
  const { query } = request.facts;
  const pretty = !query.empty && isTrue(query.get("pretty") ?? "false");
  request.exchange.send(
    status,
    headersFor(encoding.contentType, warnings),
    pretty ? prettyJson(bytes) : bytes,
  );
}
