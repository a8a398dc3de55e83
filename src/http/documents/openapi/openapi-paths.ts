import type { ApiServices } from "../../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../../aggregation/remote-api-service.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { StatusError } from "../../../base/status-error.ts";
import type { Registry, Resource } from "../../../resources/registry/registry.ts";
import type { HeaderLines } from "../../transport/header-lines.ts";
import type { HttpExchange } from "../../transport/http-exchange.ts";
import { parseAccept } from "../../request/negotiation.ts";
import { sendJson } from "../../answers/respond.ts";
import type { RequestContext } from "../../request/context.ts";
import { workspacePath } from "../../request/facts.ts";
import type { AddedPaths } from "../../request/path-table.ts";
import { OpenApiDocuments, type Document } from "./documents.ts";
import { sendPieces } from "../send-pieces.ts";
import type { StreamedDocument } from "./whole-document.ts";

const json = "application/json";
/** Media type of the protobuf form in requests, and its spelling for responses. */
const askedBinary = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const binary = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** Cache lifetime of a document that was requested with its hash: a year. */
const keepSeconds = 365 * 24 * 60 * 60;

/** Sources of the documents, besides the kinds. */
export interface OpenApiParts {
  readonly apiServices: ApiServices;
  readonly clock: Clock;
  /** Whether OpenAPI 3.0 documents are served. */
  readonly version3: boolean;
  /** Whether the documents have the allowed values of fields of built-in kinds. */
  readonly enums: boolean;
  /** Reports that a custom resource type can't be described and is left out. */
  readonly failed: (error: unknown, resource: Resource) => void;
  /** Forwards the request to an extension server, with this path and query. */
  readonly passOn: (request: RequestContext, remote: RemoteApiService, path: string) => Promise<void>;
}

/** Adds `/openapi/v2`, `/openapi/v3` and the documents of the group versions (spec: conventions 4.10). */
export function addOpenApiPaths(
  paths: AddedPaths,
  registry: Registry,
  { apiServices, clock, version3, enums, failed, passOn }: OpenApiParts,
): void {
  const documents = new OpenApiDocuments(registry, apiServices, enums, failed);
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
  const start = startOf(request);
  for (const path of documents.groupPaths()) {
    const { hash } = (await documents.listed(path))!;
    paths[path] = { serverRelativeURL: `${start}/openapi/v3/${path}?hash=${hash}` };
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
  const requestedPath = path.slice("/openapi/v3/".length).replace(/\/$/, "");
  const other = documents.others().find((one) => one.path === `/${requestedPath}`);
  // Without the hash of the index: it may be outdated, and then the extension server would redirect.
  if (other !== undefined) return passOn(request, other, `/openapi/v3${other.path}`);
  const document = documents.group(requestedPath);
  if (document === undefined)
    throw new StatusError("NotFound", "the server could not find the requested resource");
  typeFor(request, [json]);
  const hash = query.get("hash") ?? "";
  if (hash === "") return await sendDocument(request, clock, json, document);
  const current = document.hash ?? (await document.read()).hash;
  if (hash !== current) {
    const location = `${startOf(request)}/openapi/v3/${requestedPath}?hash=${current}`;
    return request.exchange.send(301, ["Location", location], Buffer.alloc(0));
  }
  await sendDocument(request, clock, json, document, `private, immutable, max-age=${keepSeconds}`);
}

/** The path of the workspace of a request, with which the URLs of documents start; empty outside of workspaces. */
function startOf({ workspace }: RequestContext): string {
  return workspace === undefined ? "" : workspacePath(workspace.name);
}

/** @throws {StatusError} NotAcceptable if the client accepts none of the types. */
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

/** Sends a document, or 304 if the client has it. */
async function sendDocument(
  request: RequestContext,
  clock: Clock,
  contentType: string,
  document: Document,
  cacheControl = changing,
): Promise<void> {
  const hash = document.hash ?? (await document.read()).hash;
  const { exchange } = request;
  const headers = headersOf(hash, cacheControl);
  if (hasTag(exchange, hash)) return exchange.send(304, headers, Buffer.alloc(0));
  const { pieces, length } = await document.read();
  const all: HeaderLines = ["Content-Type", contentType, ...headers];
  if (length <= maxJoinedBytes) return exchange.send(200, all, Buffer.concat(pieces));
  await sendPieces(request, clock, all, pieces);
}

/** Sends a document while it is created, or 304 if the client has it. */
async function sendWhole(
  request: RequestContext,
  clock: Clock,
  contentType: string,
  { hash, pieces }: StreamedDocument,
): Promise<void> {
  const { exchange } = request;
  const headers = headersOf(hash, changing);
  if (hasTag(exchange, hash)) return exchange.send(304, headers, Buffer.alloc(0));
  await sendPieces(request, clock, ["Content-Type", contentType, ...headers], pieces());
}

const changing = "no-cache, private";

function headersOf(hash: string, cacheControl: string): HeaderLines {
  return ["Cache-Control", cacheControl, "ETag", `"${hash}"`, "Vary", "Accept"];
}

/** Returns true if the client has the document with this hash. */
function hasTag(exchange: HttpExchange, hash: string): boolean {
  const tags = (exchange.header("if-none-match") ?? "").split(",").map((one) => one.trim());
  return tags.some((one) => [`"${hash}"`, `W/"${hash}"`, "*"].includes(one));
}

/** A larger document is sent in pieces, because encrypting it at once would block other requests. */
const maxJoinedBytes = 1024 * 1024;
