import type { CsvErrorCode } from "csv-parse/sync";

/** A CSV record with the number of its last line. */
export interface CsvRecord {
  readonly line: number;
  readonly columns: readonly string[];
}

/**
 * Parses comma-separated values (RFC 4180). A column in double quotes may contain commas, line breaks and doubled quotes.
 * Empty lines and a byte order mark are skipped. Error messages don't contain the text, which may be secret.
 *
 * @throws {Error} with `source` and the line number, for a quote that isn't closed or is inside an unquoted column.
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
    const reason = errorTexts[error.code] ?? "is malformed";
    // oxlint-disable-next-line preserve-caught-error -- the errors of the library contain the secret input
    throw new Error(`${source}, line ${String(error["lines"])}: ${reason}`);
  }
}

const errorTexts: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote isn't closed",
  CSV_INVALID_CLOSING_QUOTE: "text after a closing quote",
  INVALID_OPENING_QUOTE: "a quote inside a column that doesn't begin with one",
};
