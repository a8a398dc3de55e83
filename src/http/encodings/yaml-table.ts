import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import type { TableEncoding } from "./table.ts";
import { itemText, yamlText } from "./yaml.ts";

/** Encodes tables of {@link TableEncoding} as YAML. */
export class YamlTableEncoding implements Encoding {
  readonly key: string;
  readonly contentType = "application/yaml";
  constructor(private readonly table: TableEncoding) {
    this.key = `yaml ${table.key}`;
  }

  get inJson(): Encoding {
    return this.table;
  }

  object(body: Uint8Array): Uint8Array {
    return Buffer.from(yamlText(this.table.shown(body)));
  }

  list(): ListWriter {
    const { table } = this;
    let started = false;
    const head = (): string => {
      if (started) return "";
      started = true;
      return `${yamlText(table.head())}rows:\n`;
    };
    return {
      *page({ entries }: ListedPage) {
        for (const entry of entries) yield Buffer.from(head() + itemText(table.rowOf(entry)));
      },
      end: (end: ListEnd) => {
        const empty = started ? "" : head().replace(/rows:\n$/, "rows: []\n");
        return Buffer.from(empty + yamlText({ metadata: listMeta(end) }));
      },
    };
  }
}
