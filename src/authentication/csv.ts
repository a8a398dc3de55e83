import type { CsvErrorCode } from "csv-parse/sync";

/** One record of a CSV text, and the number of the line on which it ends. */
export interface CsvRecord {
  readonly line: number;
  readonly columns: readonly string[];
}

/**
 * Reads comma-separated values (RFC 4180): a column in double quotes may hold commas, line ends and doubled quotes.
 * Empty lines are skipped, a byte order mark too. Messages never repeat what the text holds, which may be secret.
 *
 * @throws {Error} that names `source` and the line, for a quote that isn't closed or is inside an unquoted column.
 */
export async function parseCsv(text: string, source: string): Promise<readonly CsvRecord[]> {
  const { CsvError, parse } = await import("csv-parse/sync");
  try {
    const records = parse(text, {
      bom: true,
      info: true,
      record_delimiter: ["\n", "\r\n"],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as readonly { readonly record: string[]; readonly info: { readonly lines: number } }[];
    return records.map(({ record, info }) => ({ line: info.lines, columns: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const why = faults[error.code] ?? "is malformed";
    // oxlint-disable-next-line preserve-caught-error -- the library's errors hold what they were given
    throw new Error(`${source}, line ${String(error["lines"])}: ${why}`);
  }
}

const faults: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote isn't closed",
  CSV_INVALID_CLOSING_QUOTE: "text after a closing quote",
  INVALID_OPENING_QUOTE: "a quote inside a column that doesn't begin with one",
};
