import { releases } from "../../src/base/releases.ts";
import * as parameters from "../../src/http/documents/openapi/parameters.ts";
import { kindsOfRelease } from "../../src/kinds/kinds-of-release.ts";
import { DeleteOptionsBody } from "../../src/kinds/meta/delete-options.ts";
import { discoveryTypes } from "../../src/schema/discovery-types.ts";
import { ListMeta, PartialObjectMetadata } from "../../src/schema/object-meta.ts";
import { StatusType, WatchEventType } from "../../src/schema/status-type.ts";
import type { Field, Type } from "../../src/schema/types.ts";

/** A text that `kubectl explain`, OpenAPI and editors show. */
export interface Description {
  /** What it describes, such as `JobSpec.suspend`, `Job column Status` or `query parameter limit`. */
  readonly of: string;
  readonly text: string;
  /** The field's default in the text's own words; undefined without one that a word can name. */
  readonly default?: string;
}

/** Openings of riddles and questions: a description starts with what the field is. */
const openings =
  /^(?:By|How|In which|On which|Those|To which|What|When|Where|Which|Who|Whom|Whose|Why|With which)\b/;

/** Phrases that leave the reader to guess. */
const riddles =
  /\b(?:whom|somebody|nobody|on its way|(?:is|are) (?:like|told|meant|asked|seen|wanted)|(?:is|was|are|were) aimed at|ends? well|ended well|as seen|told apart|so many)\b/i;

const maxLength = 170;

/** Returns what is wrong with a description and how to write it; undefined if it is fine. */
export function faultOf({ of, text, default: value }: Description): string | undefined {
  const opening = openings.exec(text)?.[0];
  const riddle = riddles.exec(text)?.[0];
  const fault =
    opening !== undefined
      ? `starts with "${opening}"; name what it is, such as "Number of …", "Time at which …" or "Name of …"`
      : riddle !== undefined
        ? `has the phrase "${riddle}"; use the terms of the API`
        : !/^[A-Z`].*\.$/s.test(text)
          ? "is not a sentence or noun phrase with a capital letter and a full stop"
          : text.length > maxLength
            ? `has more than ${maxLength} characters; one or two short sentences are enough`
            : value !== undefined && !text.includes(value)
              ? `does not name the default; end it with "Default: ${value}."`
              : undefined;
  return fault && `${of}: ${JSON.stringify(text)} ${fault}.`;
}

/** Returns every description of built-in kinds in all releases, of common types and of query parameters, each once. */
export async function descriptions(): Promise<readonly Description[]> {
  const found = new Map<string, Description>();
  const add = (one: Description) => found.set(`${one.of} ${one.text}`, one);
  const visited = new Set<Type>();
  const addType = (type: Type) => addDescriptions(type, add, visited);
  for (const release of releases) {
    for (const kind of await kindsOfRelease(release)) {
      addType(kind.type);
      for (const { name, doc } of kind.columns ?? []) add({ of: `${kind.name} column ${name}`, text: doc });
    }
  }
  const common = [StatusType, WatchEventType, ListMeta, PartialObjectMetadata, DeleteOptionsBody];
  for (const type of [...common, ...Object.values(discoveryTypes)]) addType(type);
  for (const parameter of parametersIn([
    parameters,
    releases.map((release) => parameters.listParametersOf({ release })),
  ]))
    add({ of: `query parameter ${parameter.name}`, text: parameter.doc });
  return [...found.values()];
}

function addDescriptions(type: Type, add: (one: Description) => void, visited: Set<Type>): void {
  if (type.shape === "list") return addDescriptions(type.element, add, visited);
  if (type.shape === "map") return addDescriptions(type.value, add, visited);
  if (type.shape === "scalar" || visited.has(type)) return;
  visited.add(type);
  add({ of: type.name, text: type.doc });
  const fields: Readonly<Record<string, Field>> = type.shape === "struct" ? type.fields : type.forms;
  for (const [name, { type: fieldType, facts }] of Object.entries(fields)) {
    add({ of: `${type.name}.${name}`, text: facts.doc, ...defaultOf(facts.default) });
    addDescriptions(fieldType, add, visited);
  }
}

/** Modes and structs have defaults without a short name, and empty text is described by a word. */
function defaultOf(value: unknown): Pick<Description, "default"> {
  const isWord = ["string", "number", "boolean"].includes(typeof value) && value !== "";
  return isWord ? { default: String(value) } : {};
}

function parametersIn(value: unknown): readonly parameters.Parameter[] {
  if (typeof value !== "object" || value === null) return [];
  return "doc" in value ? [value as parameters.Parameter] : Object.values(value).flatMap(parametersIn);
}
