import { stringify } from "yaml";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import type { View } from "./view.ts";

/** YAML, for people. */
export class YamlEncoding implements Encoding {
  readonly key: string;
  readonly contentType = "application/yaml";
  readonly watchContentType = "application/yaml;stream=watch";
  constructor(private readonly view: View) {
    this.key = `yaml ${view.key}`;
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
        for (const { body } of entries) yield Buffer.from(head() + yamlText([view.show(body)]));
      },
      end: (end: ListEnd) => {
        const empty = begun ? "" : head().replace(/items:\n$/, "items: []\n");
        return Buffer.from(empty + yamlText({ metadata: listMeta(end) }));
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

/** Texts that older readers take for something else are quoted. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false });
}
