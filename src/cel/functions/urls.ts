import { ValueList, ValueMap } from "../values/collections.ts";
import { declareFunction, traversal, type CelFunction, type Run } from "./function-table.ts";
import type { Meter } from "../costs/meter.ts";
import { decodedPercent } from "../../base/network/percent-encoding.ts";
import { escapedPath, isUrl, parseUrl } from "../values/url.ts";
import { Fault, noOverload, Url, type Value } from "../values/values.ts";

function ofUrl(run: (url: Url) => Value): Run {
  return ([url]) => (url instanceof Url ? run(url) : noOverload);
}

/** Meter steps per query parameter. */
const stepsPerPair = 40;

function decodeQuery({ query }: Url, meter: Meter): Value {
  meter.work(query.length);
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    meter.work(stepsPerPair);
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    const name = decodePart(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodePart(equals < 0 ? "" : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const existing = values.get(name);
    if (existing === undefined) values.set(name, [value]);
    else existing.push(value);
  }
  const map = new ValueMap();
  for (const [name, list] of values) map.set(name, new ValueList(list));
  return map;
}

/** Decodes a part of a query; undefined for an invalid percent-encoding. */
function decodePart(text: string): string | undefined {
  if (/%(?![\da-fA-F]{2})/.test(text)) return undefined;
  return decodedPercent(text.replaceAll("+", " "));
}

const port = /:(\d*)$/;

/** Returns the host without port and brackets. */
function hostname({ host }: Url): string {
  const plain = host.replace(port, "");
  return plain.startsWith("[") && plain.endsWith("]") ? plain.slice(1, -1) : plain;
}

/** Meter steps for parsing or escaping a character. */
const stepsPerCharacter = 3;

/** URL functions. */
export const urlFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "url",
    declareFunction(
      ["(string) -> url"],
      ([text], meter) => {
        if (typeof text !== "string") return noOverload;
        meter.work(text.length * stepsPerCharacter);
        const url = parseUrl(text);
        return (
          url ??
          new Fault(`URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 128))}`)
        );
      },
      { cost: traversal },
    ),
  ],
  [
    "isURL",
    declareFunction(["(string) -> bool"], ([text], meter) => {
      if (typeof text !== "string") return noOverload;
      meter.work(text.length * stepsPerCharacter);
      return isUrl(text);
    }),
  ],
  [
    "getScheme",
    declareFunction(
      ["url.() -> string"],
      ofUrl(({ scheme }) => scheme),
    ),
  ],
  [
    "getHost",
    declareFunction(
      ["url.() -> string"],
      ofUrl(({ host }) => host),
    ),
  ],
  ["getHostname", declareFunction(["url.() -> string"], ofUrl(hostname))],
  [
    "getPort",
    declareFunction(
      ["url.() -> string"],
      ofUrl(({ host }) => port.exec(host)?.[1] ?? ""),
    ),
  ],
  [
    "getEscapedPath",
    declareFunction(["url.() -> string"], ([url], meter) => {
      if (!(url instanceof Url)) return noOverload;
      meter.work(url.path.length * stepsPerCharacter);
      return escapedPath(url);
    }),
  ],
  [
    "getQuery",
    declareFunction(["url.() -> map<string, list<string>>"], ([url], meter) => {
      if (!(url instanceof Url)) return noOverload;
      return decodeQuery(url, meter);
    }),
  ],
];
