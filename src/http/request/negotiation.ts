import { StatusError } from "../../base/status-error.ts";
import { groupHint, mediaTypeHint } from "../../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** One media range of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** The forms in which objects are written. */
export type Format = "json" | "yaml" | "protobuf";

/** What an Accept header asks for, as far as this server can give it. */
export interface Wanted {
  readonly format: Format;
  /** What is shown of the objects. */
  readonly as: "whole" | "table" | "metadata";
  /** Version of the form in which a part is shown. */
  readonly version: string;
  /** Of metadata: whether it is asked for by the name of a list of it. */
  readonly ofList?: boolean;
}

const json: Wanted = { format: "json", as: "whole", version: "" };

/**
 * Chooses the form of an answer (spec: conventions 4.7).
 *
 * @param tables whether what is asked for can be shown as a table.
 * @throws {StatusError} NotAcceptable when nothing that is asked for can be given.
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
    // A media type that is known, in a form that can't be given, is refused without details.
    parseAccept(accept).some(({ type }) => formatOf(type, vocabulary) !== undefined) ? undefined : {},
  );
}

/**
 * As {@link negotiate}, for a watch, which has no form in YAML.
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
 * As {@link negotiate}, for objects that have no binary form: of what is asked for, the best that is JSON.
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
 * The metadata of a list and that of an object are asked for by names of their own.
 *
 * @param verb of the request.
 * @throws {StatusError} NotAcceptable where the other name is used.
 */
export function checkMetadataName({ as, ofList }: Wanted, verb: string): void {
  if (as !== "metadata" || (verb !== "get" && verb !== "list") || ofList === (verb === "list")) return;
  const [asked, there] =
    verb === "list" ? ["PartialObjectMetadata", "a list"] : ["PartialObjectMetadataList", "an object"];
  throw new StatusError("NotAcceptable", `${asked} is asked for, but the answer is ${there}`);
}

/** Ends the message about an Accept header that asks in another vocabulary's names. */
function acceptHint(accept: string, vocabulary: Vocabulary): string {
  for (const { type, parameters } of parseAccept(accept)) {
    const found = mediaTypeHint(type, vocabulary) || groupHint(parameters["g"] ?? "", vocabulary);
    if (found !== "") return found;
  }
  return "";
}

/** What one media range asks for; undefined when that can't be given. */
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

/** The media ranges, the best liked first; of equals, the more specific one. */
export function preferred(ranges: readonly MediaRange[]): MediaRange[] {
  return ranges.toSorted((a, b) => b.quality - a.quality || wildcards(a.type) - wildcards(b.type));
}

function wildcards(type: string): number {
  return type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0;
}

/** The media ranges of an Accept header, in its order. */
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
