import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Clock } from "../../base/clock.ts";
import { defaultColumns } from "../../kinds/columns.ts";
import type { ListEnd, ListedPage } from "../../resources/list.ts";
import type { ApiObject, Column, Kind } from "../../schema/kind.ts";
import { decodeLive } from "../../resources/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { portions } from "./chunks.ts";
import { listMeta, type Encoding, type ListWriter } from "./encoding.ts";
import { jsonFrame } from "./json.ts";
import type { View } from "./view.ts";

/** The ends of metadata, object and row. */
const metadataEnd = "}}}";

/** How much of each object goes with its row. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Rows of cells for people (spec: conventions 2.4, 4.7). */
export class TableEncoding implements Encoding {
  readonly key: string;
  /** Without the parameters by which it is asked for, as the reference answers. */
  readonly contentType = "application/json";
  readonly watchContentType = "application/json";
  private readonly columns: readonly Column[];
  private readonly metaApiVersion: string;

  constructor(
    private readonly kind: Kind,
    private readonly view: View,
    private readonly vocabulary: Vocabulary,
    private readonly include: IncludeObject,
    private readonly clock: Clock,
    version: string,
  ) {
    this.columns = kind.columns ?? defaultColumns;
    this.metaApiVersion = `meta.${vocabulary.groupSuffix}/${version}`;
    this.key = `table ${include} ${version} ${view.key}`;
  }

  object(body: Uint8Array): Uint8Array {
    return Buffer.from(encodeJson(this.single(body) as JsonValue));
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
      page: (page: ListedPage) => this.rows(page, () => (begun ? "," : head())),
      end: (end: ListEnd) => Buffer.from(`${head()}],"metadata":${JSON.stringify(listMeta(end))}}\n`),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return jsonFrame(type, this.single(body));
  }

  /** A table without rows, which knows its version. */
  bookmark(revision: string): Uint8Array {
    return jsonFrame("BOOKMARK", this.table(revision, []));
  }

  error(status: object): Uint8Array {
    return jsonFrame("ERROR", status);
  }

  /** @param start what stands before the next row. */
  private *rows({ entries }: ListedPage, start: () => string): Generator<Uint8Array> {
    for (const some of portions(entries)) {
      const rows = some.map((entry) => this.rowText(entry));
      yield Buffer.from(start() + rows.join(","));
    }
  }

  /** A row's JSON. No cell tells who owns what, so that goes into it as it is stored. */
  private rowText(entry: Entry): string {
    if (!this.view.asStored || this.include === "Object") {
      return encodeJson(this.row(this.view.show(entry.body)) as JsonValue);
    }
    const { object, managed } = decodeLive(entry);
    const row = encodeJson(this.row(object) as JsonValue);
    const owners = managed.stored?.text;
    // The metadata is the last of a row that has it.
    if (this.include === "None" || owners === undefined) return row;
    return `${row.slice(0, -metadataEnd.length)},"managedFields":${owners}${metadataEnd}`;
  }

  private single(body: Uint8Array): object {
    const object = this.view.show(body);
    return this.table(object.metadata.resourceVersion ?? "", [this.row(object)]);
  }

  private table(resourceVersion: string, rows: readonly object[]): object {
    return {
      kind: "Table",
      apiVersion: this.metaApiVersion,
      metadata: { resourceVersion },
      columnDefinitions: this.definitions(),
      rows,
    };
  }

  private row(object: ApiObject): object {
    const now = this.clock.now();
    const cells = this.columns.map((column) => column.cell(object, now, this.vocabulary));
    const conditions = this.kind.rowConditions?.(object) ?? [];
    const row = conditions.length === 0 ? { cells } : { cells, conditions };
    if (this.include === "None") return row;
    if (this.include === "Object") return { ...row, object };
    const { metadata } = object;
    return { ...row, object: { kind: "PartialObjectMetadata", apiVersion: this.metaApiVersion, metadata } };
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
