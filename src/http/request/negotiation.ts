import { StatusError } from "../../base/status-error.ts";
import { groupHint, mediaTypeHint } from "../../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** One media range of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** The formats in which objects are encoded. */
export type Format = "json" | "yaml" | "protobuf";

/** The result of content negotiation: a format and view that the Accept header allows and this server supports. */
export interface Wanted {
  readonly format: Format;
  /** The shown part of the objects: everything, a row of a table, or the metadata. */
  readonly as: "whole" | "table" | "metadata";
  /** Version of Table or PartialObjectMetadata: `v1` or `v1beta1`; empty for whole objects. */
  readonly version: string;
  /** For metadata: whether the header names PartialObjectMetadataList instead of PartialObjectMetadata. */
  readonly ofList?: boolean;
}

const json: Wanted = { format: "json", as: "whole", version: "" };

/**
 * Chooses format and view of a response by the Accept header (spec: conventions 4.7).
 *
 * @param tables whether a table is possible.
 * @throws {StatusError} NotAcceptable if the server supports none of the accepted media ranges.
 */
export function negotiate(accept: string | undefined, vocabulary: Vocabulary, tables = true): Wanted {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return json;
  for (const range of preferred(parseAccept(accept))) {
    if (range.quality === 0) continue;
    const wanted = wantedOf(range, vocabulary);
    if (wanted !== undefined && (tables || wanted.as !== "table")) return wanted;
  }
  throw new StatusError(
    "NotAcceptable",
    "only the following media types are accepted: application/json, application/yaml, " +
      vocabulary.protobufMediaType +
      acceptHint(accept, vocabulary),
    // If a supported media type has unsupported parameters, the Status has no details.
    parseAccept(accept).some(({ type }) => formatOf(type, vocabulary) !== undefined) ? undefined : {},
  );
}

/**
 * As {@link negotiate}, for a watch, which isn't available in YAML.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateWatch(accept: string | undefined, vocabulary: Vocabulary): Wanted {
  const ranges = preferred(parseAccept(accept ?? "")).filter(({ quality }) => quality > 0);
  const wanted = ranges
    .map((range) => wantedOf(range, vocabulary))
    .find((one) => one !== undefined && one.format !== "yaml");
  if (wanted !== undefined) return wanted;
  throw new StatusError(
    "NotAcceptable",
    `only the following media types are accepted of a watch: application/json, ${vocabulary.protobufMediaType}`,
  );
}

/**
 * As {@link negotiate}, for objects without protobuf encoding: returns the most preferred range that allows JSON.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateJson(accept: string | undefined, vocabulary: Vocabulary): Wanted {
  for (const range of preferred(parseAccept(accept ?? ""))) {
    const wanted = range.quality === 0 ? undefined : wantedOf(range, vocabulary);
    if (wanted?.format === "json") return wanted;
  }
  throw new StatusError(
    "NotAcceptable",
    "only the following media types are accepted: application/json, application/yaml",
  );
}

/**
 * Checks that the Accept header names PartialObjectMetadataList for a list, and PartialObjectMetadata for a get.
 *
 * @param verb verb of the request; others than get and list aren't checked.
 * @throws {StatusError} NotAcceptable if it has the other name.
 */
export function checkMetadataName({ as, ofList }: Wanted, verb: string): void {
  if (as !== "metadata" || (verb !== "get" && verb !== "list") || ofList === (verb === "list")) return;
  const [asked, there] =
    verb === "list" ? ["PartialObjectMetadata", "a list"] : ["PartialObjectMetadataList", "an object"];
  throw new StatusError("NotAcceptable", `${asked} is asked for, but the answer is ${there}`);
}

/** Returns a hint for the error message if the Accept header has names of another vocabulary; otherwise the empty string. */
function acceptHint(accept: string, vocabulary: Vocabulary): string {
  for (const { type, parameters } of parseAccept(accept)) {
    const found = mediaTypeHint(type, vocabulary) || groupHint(parameters["g"] ?? "", vocabulary);
    if (found !== "") return found;
  }
  return "";
}

/** Returns format and view of a media range; undefined if the server doesn't support it. */
function wantedOf({ type, parameters }: MediaRange, vocabulary: Vocabulary): Wanted | undefined {
  const format = formatOf(type, vocabulary);
  if (format === undefined) return undefined;
  const { as, g: group, v: version = "" } = parameters;
  if (as === undefined) return { format, as: "whole", version: "" };
  if (group !== `meta.${vocabulary.groupSuffix}` || (version !== "v1" && version !== "v1beta1"))
    return undefined;
  if (as === "Table") return format === "protobuf" ? undefined : { format, as: "table", version };
  const partial = as === "PartialObjectMetadata" || as === "PartialObjectMetadataList";
  return partial ? { format, as: "metadata", version, ofList: as.endsWith("List") } : undefined;
}

function formatOf(type: string, vocabulary: Vocabulary): Format | undefined {
  if (type === "application/json" || type === "application/*" || type === "*/*") return "json";
  if (type === "application/yaml") return "yaml";
  return type === vocabulary.protobufMediaType ? "protobuf" : undefined;
}

/** Sorts media ranges by quality, the highest first; of equal quality, wildcards are last. */
export function preferred(ranges: readonly MediaRange[]): MediaRange[] {
  return ranges.toSorted((a, b) => b.quality - a.quality || wildcards(a.type) - wildcards(b.type));
}

function wildcards(type: string): number {
  return type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0;
}

/** Parses the media ranges of an Accept header, in their order. */
export function parseAccept(accept: string): MediaRange[] {
  return accept.split(",").flatMap((part) => {
    const [type = "", ...rest] = part.split(";").map((piece) => piece.trim());
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
