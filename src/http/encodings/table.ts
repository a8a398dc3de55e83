import { jsonOf, type JsonValue } from "../../base/json/value.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { JsonScanner } from "../../base/json/json-scanner.ts";
import type { Clock } from "../../base/time/clock.ts";
import { defaultColumns } from "../../kinds/columns.ts";
import { itemAt } from "../../resources/pages/joined-bodies.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import type { PageForm } from "../../resources/pages/page-forms.ts";
import { asBuffer, decodeLive } from "../../resources/objects/stored.ts";
import type { Since } from "../../schema/context.ts";
import type { Column } from "../../schema/columns.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { jsonFrame } from "./json.ts";
import { portions } from "./chunks.ts";
import {
  listMeta,
  type BookmarkMetadata,
  type WatchEncoding,
  type WatchFrames,
  type ListWriter,
} from "./encoding.ts";
import { TimedRows, TimedRowsWriter } from "./timed-rows.ts";
import { metadataAlone, type View } from "./view.ts";

/** Encoded rows in the page cache. */
interface CachedRows extends PageForm {
  /** The declaration at the time of encoding: another one may have other columns. */
  readonly kind: Kind;
  readonly rows: TimedRows;
}

/** The part of an object that is included in its row. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Tables of the server-side printing (spec: conventions 2.4, 4.7). */
export class TableEncoding implements WatchEncoding {
  readonly key: string;
  /** Without the parameters of the request, as in the reference. */
  readonly contentType = "application/json";
  readonly watchContentType = "application/json";
  readonly varies = true;
  /** Frames without columns, which only the first frame of a watch has. */
  readonly later: WatchFrames;
  private readonly columns: readonly Column[];
  private readonly metaApiVersion: string;
  /** Whether the included part of an object is sent as stored. */
  private readonly rowsAsStored: boolean;
  /** Whether rows of unchanged objects change only in their ages. */
  private readonly lasting: boolean;
  /** Locates the end of the metadata. */
  private readonly scanner = new JsonScanner();

  constructor(
    private readonly kind: Kind,
    private readonly view: View,
    private readonly vocabulary: Vocabulary,
    private readonly include: IncludeObject,
    private readonly clock: Clock,
    version: string,
  ) {
    this.columns = kind.columns ?? defaultColumns;
    this.lasting = this.columns.every(({ varies }) => varies !== true);
    this.rowsAsStored = view.asStored && (include === "Object" || kind.fieldAnnotations === undefined);
    this.metaApiVersion = groupVersion(vocabulary.groupSuffix, "meta", version);
    this.key = `table ${include} ${version} ${view.key}`;
    this.later = {
      key: `later ${this.key}`,
      varies: true,
      object: (body) => Buffer.from(encodeJson(this.shown(body, null) as JsonValue)),
      frame: (type, body) => jsonFrame(type, this.shown(body, null)),
      bookmark: (metadata) => this.bookmark(metadata, null),
    };
  }

  object(body: Uint8Array): Uint8Array {
    return Buffer.from(encodeJson(this.shown(body) as JsonValue));
  }

  list(): ListWriter {
    let started = false;
    const head = (): string => {
      const columns = JSON.stringify(this.definitions());
      return `{"kind":"Table","apiVersion":"${this.metaApiVersion}","columnDefinitions":${columns},"rows":[`;
    };
    // The comma before the first row is dropped.
    const joined = (rows: Buffer): Buffer => {
      if (started) return rows;
      started = true;
      return Buffer.concat([Buffer.from(head()), rows.subarray(1)]);
    };
    return {
      page: (page: ListedPage) => this.pageParts(page, joined),
      end: (end: ListEnd) =>
        Buffer.from(`${started ? "" : head()}],"metadata":${JSON.stringify(listMeta(end))}}\n`),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return jsonFrame(type, this.shown(body));
  }

  /** Returns a table with its resource version. Annotations are in the object of a row without values. */
  bookmark(metadata: BookmarkMetadata, columns: object[] | null = this.definitions()): Uint8Array {
    const { resourceVersion, annotations } = metadata;
    const object = { kind: "PartialObjectMetadata", apiVersion: this.metaApiVersion, metadata };
    const rows = annotations === undefined ? [] : [{ cells: this.columns.map(() => null), object }];
    return jsonFrame("BOOKMARK", this.table(resourceVersion, rows, columns));
  }

  error(status: object): Uint8Array {
    return jsonFrame("ERROR", status);
  }

  /** @param joined encodes rows that follow other rows. */
  private *pageParts(
    { entries, forms }: ListedPage,
    joined: (rows: Buffer) => Buffer,
  ): Generator<Uint8Array> {
    const now = this.clock.now();
    const cached = forms?.get(this.key) as CachedRows | undefined;
    if (cached?.kind === this.kind) return yield joined(cached.rows.at(now));
    const encoded: TimedRows[] = [];
    let allLasting = true;
    for (const some of portions(entries)) {
      const { rows, lasting } = this.rows(some, now);
      yield joined(rows.at(now));
      allLasting &&= lasting;
      encoded.push(rows);
    }
    if (forms === undefined || !allLasting) return;
    const rows = TimedRows.joined(encoded);
    forms.keep<CachedRows>(this.key, { kind: this.kind, rows, bytes: rows.bytes });
  }

  /** Encodes the rows of some entries. `lasting` is true if only their ages change while the objects don't. */
  private rows(entries: readonly Entry[], now: number): { rows: TimedRows; lasting: boolean } {
    const writer = new TimedRowsWriter();
    let { lasting } = this;
    for (const entry of entries) if (!this.writeRow(writer, entry, now)) lasting = false;
    return { rows: writer.rows(), lasting };
  }

  /**
   * Writes a row. Cells don't depend on managed fields, so the metadata or the object is included as stored.
   *
   * @returns whether the row lasts.
   */
  private writeRow(writer: TimedRowsWriter, entry: Entry, now: number): boolean {
    const { include, view } = this;
    const object = view.asStored ? decodeLive(entry).object : view.show(entry.body);
    writer.write(',{"cells":');
    const lasts = writer.cells(this.agedCells(object, writer.since));
    if (!lasts) writer.write(encodeJson(this.cells(object, now) as JsonValue));
    const conditions = this.kind.rowConditions?.(object) ?? [];
    if (conditions.length > 0) writer.write(`,"conditions":${encodeJson(jsonOf(conditions))}`);
    if (include !== "None" && this.rowsAsStored) this.writeStored(writer, entry);
    else if (include !== "None") writer.write(`,"object":${encodeJson(this.included(object) as JsonValue)}`);
    writer.write("}");
    return lasts;
  }

  private writeStored(writer: TimedRowsWriter, entry: Entry): void {
    writer.write(',"object":');
    if (this.include === "Object") {
      const body = asBuffer(entry.body);
      return writer.raw(body, 0, body.length);
    }
    writer.write(`{"kind":"PartialObjectMetadata","apiVersion":"${this.metaApiVersion}","metadata":`);
    const { bytes, metadata } = itemAt(entry);
    this.scanner.use(bytes);
    writer.raw(bytes, metadata, this.scanner.valueEnd(metadata));
    writer.write("}");
  }

  /** Returns the table of one object, from its stored bytes. */
  shown(body: Uint8Array, columns: object[] | null = this.definitions()): object {
    const object = this.view.show(body);
    return this.table(object.metadata.resourceVersion ?? "", [this.row(object)], columns);
  }

  /** Returns the table without rows, for the start of a list. */
  head(): object {
    return { kind: "Table", apiVersion: this.metaApiVersion, columnDefinitions: this.definitions() };
  }

  /** Returns the row of a stored object. */
  rowOf({ body }: Entry): object {
    return this.row(this.view.show(body));
  }

  private table(resourceVersion: string, rows: readonly object[], columns: object[] | null): object {
    return {
      kind: "Table",
      apiVersion: this.metaApiVersion,
      metadata: { resourceVersion },
      columnDefinitions: columns,
      rows,
    };
  }

  private row(object: ApiObject): object {
    const cells = this.cells(object, this.clock.now());
    const conditions = this.kind.rowConditions?.(object) ?? [];
    const row = conditions.length === 0 ? { cells } : { cells, conditions };
    return this.include === "None" ? row : { ...row, object: this.included(object) };
  }

  private included(object: ApiObject): object {
    if (this.include === "Object") return object;
    const metadata = metadataAlone(this.kind, object.metadata);
    return { kind: "PartialObjectMetadata", apiVersion: this.metaApiVersion, metadata };
  }

  private cells(object: ApiObject, now: number): readonly unknown[] {
    return this.columns.map((column) => column.cell(object, now, this.vocabulary));
  }

  /**
   * Returns the cells with marks from `since` in place of ages. Columns that don't declare their ages have the current
   * ages.
   */
  private agedCells(object: ApiObject, since: Since): readonly unknown[] {
    const now = this.clock.now();
    return this.columns.map((column) =>
      column.ages === undefined ? column.cell(object, now, this.vocabulary) : column.ages(object, since),
    );
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
