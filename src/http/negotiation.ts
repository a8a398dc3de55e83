import type { Clock } from "../base/clock.ts";
import { StatusError } from "../base/status-error.ts";
import type { Resource } from "../resources/registry.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Encoding } from "./encodings/encoding.ts";
import { JsonEncoding } from "./encodings/json.ts";
import { TableEncoding, type IncludeObject } from "./encodings/table.ts";

/** One media range of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** What an Accept header asks for, as far as this server can give it. */
export type Wanted = { readonly as: "json" } | { readonly as: "table"; readonly version: string };

const json: Wanted = { as: "json" };
const known = new Map<string, Wanted>();
/** How many different Accept headers are remembered; clients send a handful. */
const maxKnown = 256;

/**
 * Chooses the encoding of an answer (spec: conventions 4.7).
 *
 * @throws {StatusError} NotAcceptable when nothing that is asked for can be given.
 */
export function negotiate(accept: string | undefined, vocabulary: Vocabulary): Wanted {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return json;
  const key = `${vocabulary.groupSuffix} ${accept}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const wanted = choose(accept, vocabulary);
  if (known.size >= maxKnown) known.clear();
  known.set(key, wanted);
  return wanted;
}

function choose(accept: string, vocabulary: Vocabulary): Wanted {
  const ranges = parseAccept(accept).toSorted((a, b) => b.quality - a.quality);
  for (const { type, parameters, quality } of ranges) {
    if (quality === 0) continue;
    if (type !== "application/json" && type !== "application/*" && type !== "*/*") continue;
    if (parameters["as"] === undefined) return json;
    const group = parameters["g"];
    const version = parameters["v"];
    const known = group === `meta.${vocabulary.groupSuffix}` && (version === "v1" || version === "v1beta1");
    if (parameters["as"] === "Table" && known) return { as: "table", version };
  }
  throw new StatusError("NotAcceptable", `only the following media types are accepted: application/json`);
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

/** The encoding that was chosen, bound to a resource type. */
export function encodingFor(
  wanted: Wanted,
  resource: Resource,
  vocabulary: Vocabulary,
  clock: Clock,
  includeObject: string | undefined,
): Encoding {
  if (wanted.as === "json") return jsonFor(resource);
  return new TableEncoding(resource, vocabulary, includeOf(includeObject), clock, wanted.version);
}

const jsonEncodings = new WeakMap<Resource, JsonEncoding>();

/** The JSON encoding of a resource type. */
export function jsonFor(resource: Resource): JsonEncoding {
  let found = jsonEncodings.get(resource);
  if (found === undefined) jsonEncodings.set(resource, (found = new JsonEncoding(resource)));
  return found;
}

function includeOf(text: string | undefined): IncludeObject {
  if (text === undefined || text === "" || text === "Metadata") return "Metadata";
  if (text === "None" || text === "Object") return text;
  throw new StatusError(
    "BadRequest",
    `parameter includeObject: ${JSON.stringify(text)} is not None, Metadata or Object`,
  );
}
