import type { ApiServices } from "../../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../../aggregation/remote-api-service.ts";
import type { Clock } from "../../../base/clock.ts";
import { StatusError } from "../../../base/status-error.ts";
import type { Registry, Resource } from "../../../resources/registry/registry.ts";
import { drainInTime } from "../../transport/body-stream.ts";
import type { HeaderLines } from "../../transport/header-lines.ts";
import type { HttpExchange } from "../../transport/http-exchange.ts";
import { parseAccept } from "../../request/negotiation.ts";
import { sendJson } from "../../answers/respond.ts";
import type { RequestContext } from "../../request/context.ts";
import type { PathTable } from "../../request/path-table.ts";
import { OpenApiDocuments, type Document } from "./documents.ts";
import type { StreamedDocument } from "./whole-document.ts";

const json = "application/json";
/** The binary form's media type as clients ask for it, and in the spelling that is allowed in an answer. */
const askedBinary = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const binary = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** How long a document may be kept that was asked for by its hash: a year. */
const keepSeconds = 365 * 24 * 60 * 60;

/** What the documents are made from beside the kinds. */
export interface OpenApiParts {
  readonly apiServices: ApiServices;
  readonly clock: Clock;
  /** Whether there are OpenAPI 3.0 documents. */
  readonly version3: boolean;
  /** Told of a custom resource type that is left out of the documents, as it can't be described. */
  readonly failed: (error: unknown, resource: Resource) => void;
  /** Has an extension server answer the request, at this path and query. */
  readonly passOn: (request: RequestContext, remote: RemoteApiService, path: string) => Promise<void>;
}

/** Adds `/openapi/v2`, `/openapi/v3` and the documents of the group versions below it (spec: conventions 4.10). */
export function addOpenApiPaths(
  paths: PathTable,
  registry: Registry,
  { apiServices, clock, version3, failed, passOn }: OpenApiParts,
): void {
  const documents = new OpenApiDocuments(registry, apiServices, failed);
  paths.add("/openapi/v2", async (request) => {
    const type = typeFor(request, [json, binary, askedBinary]);
    if (type === json) await sendWhole(request, clock, json, await documents.whole());
    else await sendWhole(request, clock, binary, await documents.wholeBinary());
  });
  if (!version3) return;
  paths.add("/openapi/v3", (request) => sendIndex(request, documents));
  paths.add("/openapi/v3/", (request) => sendGroup(request, documents, { clock, passOn }));
}

async function sendIndex(request: RequestContext, documents: OpenApiDocuments): Promise<void> {
  typeFor(request, [json]);
  const paths: Record<string, object> = {};
  for (const path of documents.groupPaths()) {
    const { hash } = (await documents.listed(path))!;
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  for (const { path, specificationUrl } of documents.others()) {
    paths[path.slice(1)] = { serverRelativeURL: specificationUrl };
  }
  sendJson(request.exchange, 200, { paths });
}

async function sendGroup(
  request: RequestContext,
  documents: OpenApiDocuments,
  { clock, passOn }: Pick<OpenApiParts, "clock" | "passOn">,
): Promise<void> {
  const { path, query } = request.facts;
  const asked = path.slice("/openapi/v3/".length).replace(/\/$/, "");
  const other = documents.others().find((one) => one.path === `/${asked}`);
  // Without the hash: what the index said may be a minute old, and then there would be a redirect.
  if (other !== undefined) return passOn(request, other, `/openapi/v3${other.path}`);
  const document = documents.group(asked);
  if (document === undefined)
    throw new StatusError("NotFound", "the server could not find the requested resource");
  typeFor(request, [json]);
  const hash = query.get("hash") ?? "";
  if (hash === "") return await sendDocument(request, clock, json, document);
  const current = document.hash ?? (await document.read()).hash;
  if (hash !== current) {
    const location = `/openapi/v3/${asked}?hash=${current}`;
    return request.exchange.send(301, ["Location", location], Buffer.alloc(0));
  }
  await sendDocument(request, clock, json, document, `private, immutable, max-age=${keepSeconds}`);
}

/** @throws {StatusError} NotAcceptable when the caller wants none of the types. */
function typeFor({ exchange }: RequestContext, offered: readonly string[]): string {
  const accept = exchange.header("accept") ?? "";
  if (accept === "") return json;
  for (const { type, quality } of parseAccept(accept).toSorted((a, b) => b.quality - a.quality)) {
    if (quality === 0) continue;
    if (type === "*/*" || type === "application/*") return json;
    if (offered.includes(type)) return type;
  }
  throw new StatusError(
    "NotAcceptable",
    `only the following media types are accepted: ${offered.join(", ")}`,
  );
}

/** Answers with a document, or with 304 when the caller has it. */
async function sendDocument(
  { exchange }: RequestContext,
  clock: Clock,
  contentType: string,
  document: Document,
  cacheControl = changing,
): Promise<void> {
  const hash = document.hash ?? (await document.read()).hash;
  const headers = headersOf(hash, cacheControl);
  if (hasTag(exchange, hash)) return exchange.send(304, headers, Buffer.alloc(0));
  const { pieces, length } = await document.read();
  const all: HeaderLines = ["Content-Type", contentType, ...headers];
  if (length <= maxJoinedBytes) return exchange.send(200, all, Buffer.concat(pieces));
  await sendPieces(exchange, clock, all, pieces);
}

/** As {@link sendDocument}, of a document that is sent as it is made. */
async function sendWhole(
  { exchange }: RequestContext,
  clock: Clock,
  contentType: string,
  { hash, pieces }: StreamedDocument,
): Promise<void> {
  const headers = headersOf(hash, changing);
  if (hasTag(exchange, hash)) return exchange.send(304, headers, Buffer.alloc(0));
  await sendPieces(exchange, clock, ["Content-Type", contentType, ...headers], pieces());
}

const changing = "no-cache, private";

function headersOf(hash: string, cacheControl: string): HeaderLines {
  return ["Cache-Control", cacheControl, "ETag", `"${hash}"`, "Vary", "Accept"];
}

/** Whether the caller has a document already. */
function hasTag(exchange: HttpExchange, hash: string): boolean {
  const tags = (exchange.header("if-none-match") ?? "").split(",").map((one) => one.trim());
  return tags.some((one) => [`"${hash}"`, `W/"${hash}"`, "*"].includes(one));
}

async function sendPieces(
  exchange: HttpExchange,
  clock: Clock,
  headers: HeaderLines,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const stream = exchange.stream(200, headers);
  try {
    for await (const piece of pieces) {
      stream.write(piece);
      await drainInTime(stream, clock);
      if (stream.closed) return;
    }
    await stream.end();
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** A larger document is sent in pieces: to encrypt it as a whole would keep others waiting. */
const maxJoinedBytes = 1024 * 1024;
