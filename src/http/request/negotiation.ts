import { apiGroup } from "../../vocabulary/names.ts";
import { StatusError } from "../../base/status-error.ts";
import { groupHint, mediaTypeHint } from "../../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Query } from "./facts.ts";

/** One media range of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** Formats of response bodies. */
export type Format = "json" | "yaml" | "protobuf" | "cbor";

/** A representation of objects that an Accept header requests and the server supports. */
export interface Representation {
  readonly format: Format;
  /** Whole objects, or the transformation that the parameter `as` requests. */
  readonly as: "whole" | "table" | "metadata";
  /** Version of Table or PartialObjectMetadata (parameter `v`); empty for whole objects. */
  readonly version: string;
  /** For metadata: whether the header requests PartialObjectMetadataList. */
  readonly ofList?: boolean;
  /** A group of another vocabulary from which the header prefers a transformation. */
  readonly foreignGroup?: string;
}

/** Ranges of an Accept header after these are ignored; clients send fewer than ten. */
const maxMediaRanges = 256;
/** Parts of a media range, the type and its parameters, after these are ignored. */
const maxRangeParts = 16;

const json: Representation = { format: "json", as: "whole", version: "" };

/**
 * Chooses the representation of a response (spec: conventions 4.7).
 *
 * @param tables whether the requested objects can be represented as a Table.
 * @throws {StatusError} NotAcceptable if the server supports none of the accepted representations.
 */
export function negotiate(accept: string | undefined, vocabulary: Vocabulary, tables = true): Representation {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return json;
  let foreignGroup: string | undefined;
  for (const range of byPreference(parseAccept(accept))) {
    if (range.quality === 0) continue;
    const representation = representationOf(range, vocabulary);
    if (representation !== undefined && (tables || representation.as !== "table"))
      return foreignGroup === undefined ? representation : { ...representation, foreignGroup };
    const group = range.parameters["g"] ?? "";
    if (groupHint(group, vocabulary) !== "") foreignGroup ??= group;
  }
  throw new StatusError(
    "NotAcceptable",
    "only the following media types are accepted: application/json, application/yaml, " +
      binaryMediaTypes(vocabulary) +
      acceptHint(accept, vocabulary),
    // As in Kubernetes, the error has no details if a media type is supported but not its parameters.
    parseAccept(accept).some(({ type }) => formatOf(type, vocabulary) !== undefined) ? undefined : {},
  );
}

/**
 * As {@link negotiate}, for a watch, which isn't available in YAML.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateWatch(accept: string | undefined, vocabulary: Vocabulary): Representation {
  const ranges = byPreference(parseAccept(accept ?? "")).filter(({ quality }) => quality > 0);
  const representation = ranges
    .map((range) => representationOf(range, vocabulary))
    .find((one) => one !== undefined && one.format !== "yaml");
  if (representation !== undefined) return representation;
  throw new StatusError(
    "NotAcceptable",
    `only the following media types are accepted of a watch: application/json, ${binaryMediaTypes(vocabulary)}`,
  );
}

/** Media type of server-sent events. */
export const eventStreamType = "text/event-stream";

/**
 * Chooses the form of a subscription: JSON lines or server-sent events, both with the JSON representations of objects.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateSubscription(
  accept: string | undefined,
  vocabulary: Vocabulary,
): { readonly representation: Representation; readonly isEventStream: boolean } {
  if (accept === undefined || accept === "") return { representation: json, isEventStream: false };
  for (const range of byPreference(parseAccept(accept))) {
    if (range.quality === 0) continue;
    const isEventStream = range.type === eventStreamType;
    const asJson = isEventStream ? { ...range, type: "application/json" } : range;
    const representation = representationOf(asJson, vocabulary);
    if (representation?.format === "json") return { representation, isEventStream };
  }
  throw new StatusError(
    "NotAcceptable",
    `only the following media types are accepted of a subscription: application/json, ${eventStreamType}` +
      acceptHint(accept, vocabulary),
  );
}

/**
 * As {@link negotiate}, for objects without protobuf encoding: returns the most preferred representation in JSON or CBOR.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateJson(accept: string | undefined, vocabulary: Vocabulary): Representation {
  for (const range of byPreference(parseAccept(accept ?? ""))) {
    const representation = range.quality === 0 ? undefined : representationOf(range, vocabulary);
    if (representation?.format === "json" || representation?.format === "cbor") return representation;
  }
  const cbor = vocabulary.cborMediaType === undefined ? "" : `, ${vocabulary.cborMediaType}`;
  throw new StatusError(
    "NotAcceptable",
    `only the following media types are accepted: application/json, application/yaml${cbor}`,
  );
}

/**
 * Checks that a list is requested as PartialObjectMetadataList and a single object as PartialObjectMetadata.
 *
 * @param verb API verb of the request.
 * @throws {StatusError} NotAcceptable for the wrong name.
 */
export function checkMetadataName({ as, ofList }: Representation, verb: string): void {
  if (as !== "metadata" || (verb !== "get" && verb !== "list") || ofList === (verb === "list")) return;
  const [requested, actual] =
    verb === "list" ? ["PartialObjectMetadata", "a list"] : ["PartialObjectMetadataList", "an object"];
  throw new StatusError("NotAcceptable", `${requested} is requested, but the response is ${actual}`);
}

/** Returns a hint for the error message if an Accept header has names of another vocabulary; otherwise "". */
function acceptHint(accept: string, vocabulary: Vocabulary): string {
  for (const { type, parameters } of parseAccept(accept)) {
    const hint = mediaTypeHint(type, vocabulary) || groupHint(parameters["g"] ?? "", vocabulary);
    if (hint !== "") return hint;
  }
  return "";
}

/** Returns the representation that a media range requests; undefined if the server doesn't support it. */
function representationOf(
  { type, parameters }: MediaRange,
  vocabulary: Vocabulary,
): Representation | undefined {
  const format = formatOf(type, vocabulary);
  if (format === undefined) return undefined;
  const { as, g: group, v: version = "" } = parameters;
  if (as === undefined) return { format, as: "whole", version: "" };
  if (group !== apiGroup(vocabulary.groupSuffix, "meta") || (version !== "v1" && version !== "v1beta1"))
    return undefined;
  if (as === "Table") return isBinary(format) ? undefined : { format, as: "table", version };
  const partial = as === "PartialObjectMetadata" || as === "PartialObjectMetadataList";
  return partial ? { format, as: "metadata", version, ofList: as.endsWith("List") } : undefined;
}

function formatOf(type: string, vocabulary: Vocabulary): Format | undefined {
  if (type === "application/json" || type === "application/*" || type === "*/*") return "json";
  if (type === "application/yaml") return "yaml";
  if (type === vocabulary.protobufMediaType) return "protobuf";
  return type === vocabulary.cborMediaType ? "cbor" : undefined;
}

/** Tables have no binary encoding. */
function isBinary(format: Format): boolean {
  return format === "protobuf" || format === "cbor";
}

/** Returns the media types of the binary encodings for error messages. */
export function binaryMediaTypes({ protobufMediaType, cborMediaType }: Vocabulary): string {
  return cborMediaType === undefined ? protobufMediaType : `${protobufMediaType}, ${cborMediaType}`;
}

/** Sorts media ranges by preference; of equal qualities the more specific type is first. */
export function byPreference(ranges: readonly MediaRange[]): MediaRange[] {
  return ranges.toSorted((a, b) => b.quality - a.quality || wildcardCount(a.type) - wildcardCount(b.type));
}

function wildcardCount(type: string): number {
  return type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0;
}

/** Parses an Accept header; returns its first {@link maxMediaRanges} media ranges in their order. */
export function parseAccept(accept: string): MediaRange[] {
  return accept.split(",", maxMediaRanges).flatMap((part) => {
    const [type = "", ...rest] = part.split(";", maxRangeParts).map((piece) => piece.trim());
    if (type === "") return [];
    const parameters: Record<string, string> = {};
    for (const piece of rest) {
      const equals = piece.indexOf("=");
      if (equals > 0) parameters[piece.slice(0, equals)] = piece.slice(equals + 1);
    }
    const quality = parameters["q"] === undefined ? 1 : Number(parameters["q"]);
    return [{ type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality }];
  });
}

/** Values of `pretty` that mean true; all others except the empty one mean false. */
const affirmative: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Prefixes of the User-Agent of programs that show responses to users. */
const readers = ["curl", "Wget", "Mozilla/5.0"];

/** Whether JSON is formatted for reading: by the parameter `pretty`; if it is missing or empty, for browsers, curl and Wget. */
export function wantsPretty(exchange: HttpExchange, query: Query): boolean {
  const requested = query.empty ? "" : (query.get("pretty") ?? "");
  if (requested !== "") return affirmative.has(requested);
  const agent = exchange.header("user-agent") ?? "";
  return readers.some((reader) => agent.startsWith(reader));
}
