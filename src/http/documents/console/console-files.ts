import { readFileSync } from "node:fs";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { packageFolder } from "../../../base/files/folders.ts";
import type { HeaderLines } from "../../transport/header-lines.ts";
import type { HttpExchange } from "../../transport/http-exchange.ts";
import { parseAccept } from "../../request/negotiation.ts";

/** The paths of the console begin with this text. */
export const consolePrefix = "/console/";

/** A file as `scripts/build/console.mjs` lists it in `files.json`. */
interface ListedFile {
  /** Name below the prefix; empty for the page itself. */
  readonly name: string;
  readonly file: string;
  readonly type: string;
  /** Digest of the content, as an entity tag without quotation marks. */
  readonly tag: string;
  /** Whether the name contains the digest, so that the content of the name never changes. */
  readonly immutable: boolean;
}

/** A file, compressed; for clients that don't accept that, as it is. */
interface ConsoleFile {
  readonly headers: HeaderLines;
  readonly tag: string;
  readonly brotli: Buffer;
  plain?: Buffer;
}

/** Returns the policy: the page loads its own files only, runs no inline code and can't be framed. */
function policy(connectOrigin: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${connectOrigin === undefined ? "" : ` ${connectOrigin}`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** Headers of every response besides the policy. */
const securityHeaders: HeaderLines = [
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Cross-Origin-Resource-Policy",
  "same-origin",
  "Permissions-Policy",
  "camera=(), geolocation=(), microphone=()",
];

/** The files of the console, read at the first request. Only names of this table are served; no path is resolved. */
export class ConsoleFiles {
  private table: ReadonlyMap<string, ConsoleFile> | undefined;

  /** @param folder has `files.json` and the files that it lists. */
  constructor(private readonly folder = path.join(packageFolder(), "dist/console")) {}

  /**
   * Sends the file of a path below `/console/`.
   *
   * @param connectOrigin origin besides the server's to which the page may send requests.
   * @returns false if there is no such file.
   */
  send(exchange: HttpExchange, requestPath: string, connectOrigin: string | undefined): boolean {
    this.table ??= readFiles(this.folder);
    const file = this.table.get(requestPath.slice(consolePrefix.length));
    if (file === undefined) return false;
    // Browsers keep the policy of the cached response when they revalidate it, so the tag depends on the policy.
    const suffix = connectOrigin === undefined ? "" : `-${encodeURIComponent(connectOrigin)}`;
    const tag = `"${file.tag}${suffix}"`;
    const headers = [...file.headers, "Content-Security-Policy", policy(connectOrigin), "ETag", tag];
    if (matches(exchange.header("if-none-match"), tag)) {
      exchange.send(304, headers.slice(2), Buffer.alloc(0));
      return true;
    }
    const { body, encoding } = encoded(file, exchange.header("accept-encoding"));
    exchange.send(200, [...headers, ...encoding], body);
    return true;
  }
}

/** @throws {Error} if the console isn't built. */
function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const list = JSON.parse(readFileSync(path.join(folder, "files.json"), "utf8")) as readonly ListedFile[];
  return new Map(
    list.map(({ name, file, type, tag, immutable }) => {
      const lifetime = immutable ? "public, max-age=31536000, immutable" : "no-cache";
      const headers = ["Content-Type", type, "Cache-Control", lifetime, "Vary", "Accept-Encoding"];
      headers.push(...securityHeaders);
      return [name, { headers, tag, brotli: readFileSync(path.join(folder, `${file}.br`)) }];
    }),
  );
}

function matches(header: string | undefined, tag: string): boolean {
  return header !== undefined && header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}

function encoded(
  file: ConsoleFile,
  accepted: string | undefined,
): { readonly body: Buffer; readonly encoding: HeaderLines } {
  const isAccepted = parseAccept(accepted ?? "").some(({ type, quality }) => type === "br" && quality > 0);
  if (isAccepted) return { body: file.brotli, encoding: ["Content-Encoding", "br"] };
  return { body: (file.plain ??= brotliDecompressSync(file.brotli)), encoding: [] };
}
