import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  qualifiedNameFaults,
} from "../../base/names.ts";
import { hasFormat } from "../../schema/custom/formats.ts";
import { ValueList } from "../values/collections.ts";
import { declareFunction, type CelFunction } from "./function-table.ts";
import { sizeOf } from "../costs/meter.ts";
import { formatType } from "../types/opaque-types.ts";
import { isUrl } from "../values/url.ts";
import { noOverload, OpaqueValue, Optional } from "../values/values.ts";

type Faults = (text: string) => readonly string[];

/** A format of strings. */
class NamedFormat extends OpaqueValue {
  override readonly type = formatType;

  /** @param patternSize size of the pattern for the cost, in characters. */
  constructor(
    readonly name: string,
    readonly faults: Faults,
    readonly patternSize: number,
  ) {
    super();
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof NamedFormat && other.name === this.name;
  }
}

/** A prefix of a name, to which the server adds a suffix, may end with a dash. As in the reference, the letter before it is free. */
function prefixFaults(faults: Faults): Faults {
  return (text) => faults(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text);
}

function formatFaults(holds: (text: string) => boolean, message: string): Faults {
  return (text) => (holds(text) ? [] : [message]);
}

const formats: ReadonlyMap<string, NamedFormat> = new Map(
  [
    new NamedFormat("dns1123Label", dnsLabelFaults, 30),
    new NamedFormat("dns1123Subdomain", dnsSubdomainFaults, 60),
    new NamedFormat("dns1035Label", dns1035LabelFaults, 30),
    new NamedFormat("qualifiedName", qualifiedNameFaults, 60),
    new NamedFormat("dns1123LabelPrefix", prefixFaults(dnsLabelFaults), 30),
    new NamedFormat("dns1123SubdomainPrefix", prefixFaults(dnsSubdomainFaults), 60),
    new NamedFormat("dns1035LabelPrefix", prefixFaults(dns1035LabelFaults), 30),
    new NamedFormat("labelValue", labelValueFaults, 40),
    new NamedFormat("uri", formatFaults(isUrl, "invalid URI for request"), 1103),
    new NamedFormat(
      "uuid",
      formatFaults((text) => hasFormat("uuid", text), "does not match the UUID format"),
      72,
    ),
    new NamedFormat(
      "byte",
      formatFaults((text) => text !== "" && hasFormat("byte", text), "invalid base64"),
      84,
    ),
    new NamedFormat(
      "date",
      formatFaults((text) => hasFormat("date", text), "invalid date"),
      72,
    ),
    new NamedFormat(
      "datetime",
      formatFaults((text) => hasFormat("datetime", text), "invalid datetime"),
      72,
    ),
  ].map((format) => [format.name, format]),
);

/** Meter steps per character of a string that is validated. */
const stepsPerCharacter = 10;

/** Named formats. */
export const formatFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "format.named",
    declareFunction(["(string) -> optional<format>"], ([name]) => {
      if (typeof name !== "string") return noOverload;
      return new Optional(formats.get(name));
    }),
  ],
  [
    "validate",
    declareFunction(
      ["format.(string) -> optional<list<string>>"],
      ([format, text], meter) => {
        if (!(format instanceof NamedFormat) || typeof text !== "string") return noOverload;
        meter.work(text.length * stepsPerCharacter);
        const faults = format.faults(text);
        return faults.length === 0 ? Optional.none : new Optional(new ValueList(faults));
      },
      {
        charge([format, text], meter) {
          if (!(format instanceof NamedFormat)) return meter.charge(1);
          meter.charge(Math.ceil((1 + sizeOf(text!)) * 0.1) * Math.ceil(format.patternSize * 0.25));
        },
      },
    ),
  ],
  ...[...formats].map(
    ([name, format]) => [`format.${name}`, declareFunction(["() -> format"], () => format)] as const,
  ),
];
