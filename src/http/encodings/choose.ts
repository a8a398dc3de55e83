import { StatusError } from "../../base/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Resource } from "../../resources/registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Wanted } from "../request/negotiation.ts";
import type { Encoding } from "./encoding.ts";
import { JsonEncoding } from "./json.ts";
import { ProtobufEncoding } from "./protobuf.ts";
import { TableEncoding, type IncludeObject } from "./table.ts";
import { metadataView, wholeView, type View } from "./view.ts";

let yaml: typeof import("./yaml.ts") | undefined;

/** Loads what a form needs beyond what every server has loaded; to be awaited before {@link encodingFor}. */
export function prepareFormat(format: Wanted["format"]): MaybePromise<void> {
  if (format !== "yaml" || yaml !== undefined) return undefined;
  return import("./yaml.ts").then((loaded) => {
    yaml = loaded;
  });
}

/** What an encoding may ask the server for. */
export interface EncodingContext {
  readonly kinds: KindContext;
  readonly clock: Clock;
}

/** The encoding that was chosen, bound to a resource type. */
export function encodingFor(
  wanted: Wanted,
  resource: Resource,
  { kinds, clock }: EncodingContext,
  includeObject: string | undefined,
): Encoding {
  if (wanted.as === "table") {
    const whole = wholeView(resource, kinds);
    const include = includeOf(includeObject);
    return new TableEncoding(resource.kind, whole, kinds.vocabulary, include, clock, wanted.version);
  }
  if (wanted.as === "whole" && wanted.format === "json") return wholeJson(resource, kinds);
  const view = wanted.as === "whole" ? wholeView(resource, kinds) : metadataView(kinds, wanted.version);
  return formed(wanted.format, view, kinds);
}

function formed(format: Wanted["format"], view: View, { vocabulary }: KindContext): Encoding {
  switch (format) {
    case "json":
      return new JsonEncoding(view);
    case "protobuf":
      return new ProtobufEncoding(view, vocabulary.protobufMediaType);
    case "yaml":
      if (yaml === undefined) throw new Error("prepareFormat comes before encodingFor");
      return new yaml.YamlEncoding(view);
  }
}

const jsonEncodings = new WeakMap<Resource, JsonEncoding>();

/** The JSON encoding of a resource type. */
export function wholeJson(resource: Resource, kinds: KindContext): JsonEncoding {
  let found = jsonEncodings.get(resource);
  if (found === undefined)
    jsonEncodings.set(resource, (found = new JsonEncoding(wholeView(resource, kinds))));
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
