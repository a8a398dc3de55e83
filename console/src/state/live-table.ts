import { signal, type Signal } from "@preact/signals";
import { followTable, type TableQuery, type TableState } from "../api/tables.ts";
import { TableModel, type Change, type Sort } from "../model/table.ts";

/** A live table: its rows, and signals that change at most once in a frame. */
export class LiveTable {
  readonly model = new TableModel();
  readonly version = signal(0);
  readonly columnVersion = signal(0);
  readonly state: Signal<TableState> = signal<TableState>({ kind: "loading" });
  /** Time of the page's clock: at each frame with changes, and once a second. */
  readonly now = signal(performance.now());
  private pending: Change[] = [];
  private frame = 0;
  private readonly controller = new AbortController();
  private readonly ticker: ReturnType<typeof setInterval>;

  constructor(query: TableQuery) {
    this.ticker = setInterval(() => (this.now.value = performance.now()), 1000);
    const sink = {
      columns: (columns: TableModel["columns"]) => {
        if (JSON.stringify(columns) === JSON.stringify(this.model.columns)) return;
        this.model.columns = columns;
        this.columnVersion.value++;
      },
      beginList: () => {
        // Older than the new list.
        this.applyPending();
        this.model.beginList();
      },
      rows: (rows: Parameters<TableModel["addRows"]>[0]) => {
        this.model.addRows(rows);
        this.changed();
      },
      endList: () => {
        this.model.endList();
        this.changed();
      },
      changes: (changes: readonly Change[]) => {
        for (const change of changes) this.pending.push(change);
        this.changed();
      },
      state: (state: TableState) => (this.state.value = state),
    };
    followTable(query, sink, this.controller.signal).catch((error: unknown) => {
      this.state.value = { kind: "failed", message: String(error), status: 0 };
    });
  }

  sortBy(sort: Sort): void {
    this.model.sortBy(sort);
    this.version.value++;
  }

  search(text: string): void {
    this.model.search(text);
    this.version.value++;
  }

  /** Removes all rows and stops. @param message why, for the user. */
  revoke(message: string): void {
    this.close();
    this.model.clear();
    this.state.value = { kind: "failed", message, status: 403 };
    this.version.value++;
  }

  close(): void {
    this.controller.abort();
    clearInterval(this.ticker);
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  /** Shows the changes with the next frame. In a hidden page there are no frames: the changes wait, up to a limit. */
  private changed(): void {
    if (this.controller.signal.aborted) return;
    if (this.pending.length > maxPending) this.applyPending();
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.applyPending();
      this.now.value = performance.now();
      this.version.value++;
    });
  }

  private applyPending(): void {
    const changes = this.pending;
    this.pending = [];
    if (changes.length > 0) this.model.apply(changes, performance.now());
  }
}

const maxPending = 10_000;
