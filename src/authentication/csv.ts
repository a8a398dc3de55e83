/** One record of a CSV text, and the number of the line on which it begins. */
export interface CsvRecord {
  readonly line: number;
  readonly columns: readonly string[];
}

/**
 * Reads comma-separated values (RFC 4180): a column in double quotes may hold commas, line ends and doubled quotes.
 * Empty lines are skipped, a byte order mark too.
 *
 * @throws {Error} that names `source` and the line, for a quote that isn't closed or stands inside an unquoted column.
 */
export function* parseCsv(text: string, source: string): Iterable<CsvRecord> {
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const start = line;
    const columns: string[] = [];
    for (;;) {
      const place = `${source}, line ${line}`;
      const column = text[at] === '"' ? quoted(text, at, place) : plain(text, at, place);
      columns.push(column.value);
      line += column.lineEnds;
      at = column.end;
      if (text[at] !== ",") break;
      at++;
    }
    if (text.startsWith("\r\n", at)) at += 2;
    else at++;
    line++;
    if (columns.length > 1 || columns[0] !== "") yield { line: start, columns };
  }
}

interface Column {
  readonly value: string;
  /** Where the column's closing comma or line end stands. */
  readonly end: number;
  readonly lineEnds: number;
}

function plain(text: string, start: number, place: string): Column {
  columnEnd.lastIndex = start;
  const end = columnEnd.exec(text)?.index ?? text.length;
  const value = text.slice(start, end);
  if (value.includes('"')) throw new Error(`${place}: a quote inside a column that doesn't begin with one`);
  return { value, end, lineEnds: 0 };
}

const columnEnd = /,|\r?\n/g;

function quoted(text: string, start: number, place: string): Column {
  let value = "";
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) throw new Error(`${place}: a quote isn't closed`);
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') {
      const end = quote + 1;
      const next = text[end];
      const ends = next === undefined || next === "," || next === "\n" || text.startsWith("\r\n", end);
      if (!ends) throw new Error(`${place}: text after a closing quote`);
      return { value, end, lineEnds: value.split("\n").length - 1 };
    }
    value += '"';
    at = quote + 2;
  }
}
