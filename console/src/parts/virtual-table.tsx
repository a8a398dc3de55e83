import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TableColumn } from "../model/columns.ts";
import type { Row, Sort } from "../model/table.ts";
import { useKeys } from "../state/keys.ts";
import type { Marks } from "../state/marks.ts";

/** Height of a row in pixels, as `--row` in style/tokens.css. */
const rowHeight = 28;
/** Width of the column with the marks. */
const markWidth = "30px";
/** Rows outside of the visible part that are rendered too. */
const overscan = 6;

interface VirtualTableProps {
  readonly label: string;
  readonly columns: readonly TableColumn[];
  /** The rows in order. */
  readonly rows: () => readonly Row[];
  /** Changes whenever the rows do. */
  readonly version: ReadonlySignal<number>;
  /** Key of the selected row. */
  readonly selected: ReadonlySignal<string>;
  readonly indexOf: (key: string) => number;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onSelect: (row: Row) => void;
  readonly onOpen: (row: Row) => void;
  readonly now: ReadonlySignal<number>;
  /** Keys of the rows that a command concerns together. */
  readonly marks: Marks;
  /** Shown below the header if there are no rows. */
  readonly empty: ComponentChildren;
}

/** A table of any number of rows, of which only the visible ones are in the page. */
export function VirtualTable(props: VirtualTableProps) {
  const { columns, label, selected, version, indexOf } = props;
  const rows = (version.value, props.rows());
  const viewport = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const element = viewport.current!;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const moveTo = (index: number) => {
    const current = props.rows();
    const row = current[Math.max(0, Math.min(current.length - 1, index))];
    if (row === undefined) return;
    props.onSelect(row);
    show(viewport.current!, Math.max(0, Math.min(current.length - 1, index)));
  };
  useTableKeys(props, moveTo, () => Math.max(1, Math.floor(viewport.current!.clientHeight / rowHeight) - 2));
  const first = Math.max(0, Math.floor(top.value / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / rowHeight) + overscan);
  const widths = columns.map(({ width, grow }) => `minmax(${width}ch, ${grow}fr)`).join(" ");
  const template = `${markWidth} ${widths}`;
  const width = columns.reduce((sum, one) => sum + one.width, 0);
  // Header and rows have the same width, also where the window is narrower than the columns.
  const minWidth = `calc(${markWidth} + ${width}ch)`;
  const selectedIndex = indexOf(selected.value);
  return (
    <>
      <div
        class={rows.length === 0 ? "table empty" : "table"}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 1}
        tabIndex={0}
        ref={viewport}
        aria-activedescendant={selectedIndex >= first && selectedIndex < last ? "selected-row" : undefined}
        onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
      >
        <HeaderRow columns={columns} template={template} minWidth={minWidth} table={props} />
        <div class="table-space" role="rowgroup" style={{ height: `${rows.length * rowHeight}px`, minWidth }}>
          {rows.slice(first, last).map((row, offset) => (
            <BodyRow
              key={row.key}
              row={row}
              index={first + offset}
              template={template}
              isSelected={row.key === selected.value}
              table={props}
            />
          ))}
        </div>
      </div>
      {rows.length === 0 && props.empty}
    </>
  );
}

/** Scrolls a row into view, below the header. */
function show(element: HTMLElement, index: number): void {
  const [start, end] = [index * rowHeight, (index + 1) * rowHeight];
  if (start < element.scrollTop) element.scrollTop = start;
  const visible = element.clientHeight - rowHeight;
  if (end > element.scrollTop + visible) element.scrollTop = end - visible;
}

function useTableKeys(props: VirtualTableProps, moveTo: (index: number) => void, page: () => number): void {
  const { indexOf, selected } = props;
  const current = () => indexOf(selected.peek());
  const move = (by: number) => moveTo(current() === -1 ? 0 : current() + by);
  useKeys(
    [
      { keys: ["j", "ArrowDown"], label: "Next row", run: () => move(1) },
      { keys: ["k", "ArrowUp"], label: "Previous row", run: () => move(-1) },
      { keys: ["PageDown", "Ctrl+f"], label: "Next page", run: () => move(page()) },
      { keys: ["PageUp", "Ctrl+b"], label: "Previous page", run: () => move(-page()) },
      { keys: ["g", "Home"], label: "First row", run: () => moveTo(0) },
      { keys: ["G", "End"], label: "Last row", run: () => moveTo(props.rows().length - 1) },
      {
        keys: [" "],
        label: "Mark the selected row",
        run: () => {
          const row = props.rows()[current()];
          if (row !== undefined) mark(props, row);
        },
      },
      {
        keys: ["Enter"],
        label: "Open the selected object",
        run: () => {
          const row = props.rows()[current()];
          if (row !== undefined) props.onOpen(row);
        },
      },
    ],
    [props.columns, props.marks],
  );
}

interface HeaderProps {
  readonly columns: readonly TableColumn[];
  readonly template: string;
  readonly minWidth: string;
  readonly table: VirtualTableProps;
}

function HeaderRow({ columns, template, minWidth, table: { sort, onSort, marks, rows } }: HeaderProps) {
  const count = marks.value.size;
  return (
    <div class="table-header" role="rowgroup" style={{ minWidth }}>
      <div role="row" aria-rowindex={1} class="row" style={{ gridTemplateColumns: template }}>
        <div role="columnheader">
          <input
            type="checkbox"
            class="mark"
            tabIndex={-1}
            aria-label="Mark all rows"
            checked={count > 0 && count >= rows().length}
            onChange={() => (marks.value = new Set(count > 0 ? [] : rows().map(({ key }) => key)))}
          />
        </div>
        {columns.map(({ title, description, isNumber, sort: by }) => {
          const isSorted = sort.by === by;
          const order = sort.descending ? "descending" : "ascending";
          return (
            <div
              key={title}
              role="columnheader"
              class={isNumber ? "number" : ""}
              aria-sort={isSorted ? order : "none"}
            >
              <button
                type="button"
                tabIndex={-1}
                title={description}
                onClick={() => onSort({ by, descending: isSorted && !sort.descending })}
              >
                {title}
                <span class="sort" aria-hidden="true">
                  {isSorted ? (sort.descending ? "▾" : "▴") : ""}
                </span>
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly template: string;
  readonly isSelected: boolean;
  readonly table: VirtualTableProps;
}

/** Marks a row, or removes its mark. @param isRange whether the rows from the selected one on get marks too. */
function mark({ marks, rows, selected, indexOf }: VirtualTableProps, row: Row, isRange = false): void {
  const next = new Set(marks.peek());
  const [start, end] = [indexOf(selected.peek()), indexOf(row.key)].toSorted((one, other) => one - other);
  if (isRange && start! >= 0) for (const one of rows().slice(start, end! + 1)) next.add(one.key);
  else if (!next.delete(row.key)) next.add(row.key);
  marks.value = next;
}

/** How long a changed row is marked. */
const markMs = 1500;

function BodyRow({ row, index, template, isSelected, table }: RowProps) {
  const { columns, now, onOpen, onSelect, marks } = table;
  const isFresh = row.changedMs > 0 && now.value - row.changedMs < markMs;
  const classes = ["row", isFresh ? "fresh" : "", row.isDeleting ? "deleting" : ""];
  return (
    <div
      id={isSelected ? "selected-row" : undefined}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      class={classes.filter((one) => one !== "").join(" ")}
      style={{ gridTemplateColumns: template, transform: `translateY(${index * rowHeight}px)` }}
      onClick={() => onSelect(row)}
      onDblClick={() => onOpen(row)}
    >
      <div role="gridcell">
        <input
          type="checkbox"
          class="mark"
          tabIndex={-1}
          aria-label={`Mark ${row.name}`}
          checked={marks.value.has(row.key)}
          onClick={(event) => mark(table, row, event.shiftKey)}
        />
      </div>
      {columns.map(({ title, text, tone, isNumber }, at) => {
        const value = text(row);
        const ownTone = tone?.(value);
        const classes = [isNumber ? "number" : "", ownTone === undefined ? "" : `state-text ${ownTone}`]
          .join(" ")
          .trim();
        return (
          <div key={title} role="gridcell" class={classes} title={value.length > 24 ? value : undefined}>
            {at === nameColumn(columns) ? (
              <button type="button" class="link" tabIndex={-1} onClick={() => onOpen(row)}>
                {value}
              </button>
            ) : (
              value
            )}
          </div>
        );
      })}
    </div>
  );
}

/** Position of the column with the names: the first one of the server. */
function nameColumn(columns: readonly TableColumn[]): number {
  return columns.findIndex(({ title }) => title === "Name");
}
