import crypto from "node:crypto";
import type { Authenticator, AuthenticationResult, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import type { CsvErrorCode } from "csv-parse/sync";

/** A line of a token file. */
export interface TokenEntry {
  readonly token: string;
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/**
 * Parses a token file (spec: conventions 5.2): CSV lines with token, user name, user id and groups. A group column has one group,
 * or several separated by commas inside double quotes. There are no comments. A line with an empty token is skipped, and the
 * last line of a token is used; both add a warning.
 *
 * @throws {Error} with the line number, if a line is malformed, has fewer than three columns, or an empty user name.
 */
export async function parseTokenFile(text: string): Promise<{ entries: TokenEntry[]; warnings: string[] }> {
  const entries = new Map<string, TokenEntry>();
  const warnings: string[] = [];
  for (const { line, columns } of await parseCsv(text, "token file")) {
    if (!hasRequired(columns)) {
      throw new Error(
        `token file, line ${line}: token, user name and user id are required, the line has ${columns.length} column(s)`,
      );
    }
    const [token, name, uid, ...groupColumns] = columns;
    if (token === "") {
      warnings.push(`token file, line ${line}: skipped, because the token is empty`);
      continue;
    }
    if (name === "") throw new Error(`token file, line ${line}: the user name is empty`);
    if (entries.has(token)) {
      warnings.push(`token file, line ${line}: replaces an earlier line with the same token`);
    }
    const groups = groupColumns.flatMap((column) => column.split(",")).map((group) => group.trim());
    entries.set(token, { token, name, uid, groups: [...new Set(groups)].filter((group) => group !== "") });
  }
  return { entries: [...entries.values()], warnings };
}

function hasRequired(columns: readonly string[]): columns is readonly [string, string, string, ...string[]] {
  return columns.length >= 3;
}

/**
 * Authenticates the bearer tokens of a token file. Tokens are not stored: lookups use a digest with a key of this process, so
 * neither memory nor the time of a lookup reveals a token.
 */
export class TokenFileAuthenticator implements Authenticator {
  private readonly key = crypto.randomBytes(32).toString("hex");
  private readonly results = new Map<string, AuthenticationResult>();

  constructor(entries: readonly TokenEntry[]) {
    for (const { token, name, uid, groups } of entries) {
      const user = { name, uid, groups, extra: {} };
      this.results.set(this.digest(token), { user, method: "token-file", cacheable: true });
    }
  }

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const token = bearerToken(credentials.authorization);
    return token === undefined ? undefined : this.results.get(this.digest(token));
  }

  private digest(token: string): string {
    return sha256(this.key + token);
  }
}

/** Uses `crypto.hash` of Node 20.12 and later, which takes a third of the time. */
const sha256 =
  (crypto.hash as typeof crypto.hash | undefined) === undefined
    ? (text: string) => crypto.createHash("sha256").update(text).digest("hex")
    : (text: string) => crypto.hash("sha256", text);

/** A CSV record with the number of its last line. */
interface CsvRecord {
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
