import type { Clock } from "../../base/clock.ts";
import { defaultColumns } from "../../kinds/columns.ts";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import type { Resource } from "../../resources/registry.ts";
import { asBuffer } from "../../resources/stored.ts";
import type { ApiObject, Column } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";

/** How much of each object goes with its row. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Rows of cells for people (spec: conventions 2.4, 4.7). */
export class TableEncoding implements Encoding {
  readonly key: string;
  readonly contentType: string;
  readonly watchContentType = "application/json";
  private readonly columns: readonly Column[];
  private readonly metaApiVersion: string;

  constructor(
    resource: Resource,
    vocabulary: Vocabulary,
    private readonly include: IncludeObject,
    private readonly clock: Clock,
    version = "v1",
  ) {
    this.columns = resource.kind.columns ?? defaultColumns;
    this.metaApiVersion = `meta.${vocabulary.groupSuffix}/${version}`;
    this.key = `table ${include} ${version}`;
    this.contentType = `application/json;as=Table;g=meta.${vocabulary.groupSuffix};v=${version}`;
  }

  object(body: Uint8Array): Uint8Array {
    return Buffer.from(JSON.stringify(this.single(body)));
  }

  list(): ListWriter {
    let begun = false;
    const head = () => {
      if (begun) return "";
      begun = true;
      const columns = JSON.stringify(this.definitions());
      return `{"kind":"Table","apiVersion":"${this.metaApiVersion}","columnDefinitions":${columns},"rows":[`;
    };
    return {
      page: ({ entries }: ListedPage) => {
        const start = begun ? "," : head();
        return [Buffer.from(start + entries.map((entry) => JSON.stringify(this.row(entry.body))).join(","))];
      },
      end: (end: ListEnd) => Buffer.from(`${head()}],"metadata":${JSON.stringify(listMeta(end))}}\n`),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return Buffer.from(`${JSON.stringify({ type, object: this.single(body) })}\n`);
  }

  plainFrame(type: string, object: object): Uint8Array {
    return Buffer.from(`${JSON.stringify({ type, object })}\n`);
  }

  private single(body: Uint8Array): object {
    const object = parse(body);
    return {
      kind: "Table",
      apiVersion: this.metaApiVersion,
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: this.definitions(),
      rows: [this.row(body)],
    };
  }

  private row(body: Uint8Array): object {
    const object = parse(body);
    const now = this.clock.now();
    const cells = this.columns.map((column) => column.cell(object, now));
    if (this.include === "None") return { cells };
    if (this.include === "Object") return { cells, object };
    const { metadata } = object;
    return { cells, object: { kind: "PartialObjectMetadata", apiVersion: this.metaApiVersion, metadata } };
  }

  private definitions(): object[] {
    return this.columns.map(({ name, type, format, doc, priority }) => ({
      name,
      type,
      format: format ?? "",
      description: doc,
      priority: priority ?? 0,
    }));
  }
}

function parse(body: Uint8Array): ApiObject {
  return JSON.parse(asBuffer(body).toString("utf8")) as ApiObject;
}
