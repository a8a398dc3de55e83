import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { stringify, type Tags } from "yaml";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import { JsonEncoding } from "./json.ts";
import { shownItem, type View } from "./view.ts";

/** YAML, for people. */
export class YamlEncoding implements Encoding {
  readonly key: string;
  readonly contentType = "application/yaml";
  readonly watchContentType = "application/yaml;stream=watch";
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
    let begun = false;
    const head = (): string => {
      if (begun) return "";
      begun = true;
      return `kind: ${view.listKind}\napiVersion: ${view.apiVersion}\nitems:\n`;
    };
    return {
      *page({ entries }: ListedPage) {
        for (const { body } of entries) yield Buffer.from(head() + itemText(shownItem(view, body)));
      },
      end: (end: ListEnd) => {
        const empty = begun ? "" : head().replace(/items:\n$/, "items: []\n");
        return Buffer.from(empty + yamlText({ metadata: listMeta(end, view.isCustom) }));
      },
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return document({ type, object: this.view.show(body) });
  }

  bookmark(revision: string): Uint8Array {
    const { kind, apiVersion } = this.view;
    return document({
      type: "BOOKMARK",
      object: { kind, apiVersion, metadata: { resourceVersion: revision } },
    });
  }

  error(status: object): Uint8Array {
    return document({ type: "ERROR", object: status });
  }
}

/** Frames of a watch are documents. */
function document(value: object): Buffer {
  return Buffer.from(`---\n${yamlText(value)}`);
}

/** An item of a list. */
function itemText(value: object): string {
  const text = yamlText([value]);
  return text.startsWith("[") ? `- ${text.slice(1, -2)}\n` : text;
}

/** Larger values are written as JSON, which is YAML too: laying them out would keep everybody else waiting. */
const maxLaidOut = 64 * 1024;

/** A `.` alone is no number to any reader, so it isn't quoted: it stands in every text of who owns which fields. */
const customTags = (tags: Tags): Tags =>
  tags.map((tag) =>
    typeof tag === "object" && tag.test?.test(".") === true
      ? Object.assign({}, tag, { test: /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/ })
      : tag,
  );

/** Texts that older readers take for something else are quoted. */
export function yamlText(value: unknown): string {
  const json = encodeJson(value as JsonValue);
  if (json.length > maxLaidOut) return `${json}\n`;
  return stringify(value, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false, customTags });
}
