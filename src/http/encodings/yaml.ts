import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { stringify, type Tags } from "yaml";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import { JsonEncoding } from "./json.ts";
import { shownItem, type View } from "./view.ts";

/** YAML. As in the reference it doesn't support watches. */
export class YamlEncoding implements Encoding {
  readonly key: string;
  readonly contentType = "application/yaml";
  constructor(private readonly view: View) {
    this.key = `yaml ${view.key}`;
  }

  get inJson(): Encoding {
    return new JsonEncoding(this.view);
  }

  object(body: Uint8Array): Uint8Array {
    return Buffer.from(yamlText(this.view.show(body)));
  }

  list(): ListWriter {
    const { view } = this;
    let started = false;
    const head = (): string => {
      if (started) return "";
      started = true;
      return `kind: ${view.listKind}\napiVersion: ${view.apiVersion}\nitems:\n`;
    };
    return {
      *page({ entries }: ListedPage) {
        for (const { body } of entries) yield Buffer.from(head() + itemText(shownItem(view, body)));
      },
      end: (end: ListEnd) => {
        const empty = started ? "" : head().replace(/items:\n$/, "items: []\n");
        return Buffer.from(empty + yamlText({ metadata: listMeta(end, view.isCustom) }));
      },
    };
  }
}

/** Returns an item of a list. */
export function itemText(value: object): string {
  const text = yamlText([value]);
  return text.startsWith("[") ? `- ${text.slice(1, -2)}\n` : text;
}

/** Larger values are written as JSON, which is valid YAML: formatting them would block other requests. */
const maxLaidOut = 64 * 1024;

/** A single `.` isn't quoted, because no parser reads it as a number; it occurs in all managed fields. */
const customTags = (tags: Tags): Tags =>
  tags.map((tag) =>
    typeof tag === "object" && tag.test?.test(".") === true
      ? Object.assign({}, tag, { test: /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/ })
      : tag,
  );

/** Encodes a value; quotes texts that YAML 1.1 parsers don't read as strings. */
export function yamlText(value: unknown): string {
  const json = encodeJson(value as JsonValue);
  if (json.length > maxLaidOut) return `${json}\n`;
  return stringify(value, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false, customTags });
}
