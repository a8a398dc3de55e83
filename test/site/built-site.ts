import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll } from "vitest";

const folder = path.resolve(import.meta.dirname, "../../site/dist");

/** The base path for which the site was built. */
export const base = new URL(process.env["PLINTH_SITE_URL"] ?? "http://localhost/").pathname.replace(
  /\/?$/,
  "/",
);

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".json": "application/json",
};

/** The names of the built files below site/dist/, with forward slashes. */
export function builtFiles(): string[] {
  if (!existsSync(path.join(folder, "index.html")))
    throw new Error("site/dist/ has no site; run `npm run site` before");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .toSorted();
}

export const builtFile = (name: string): string => readFileSync(path.join(folder, name), "utf8");

/** Returns the file that a path of the site is answered with, or undefined if there is none. */
export function fileOf(pathname: string): string | undefined {
  if (!pathname.startsWith(base)) return undefined;
  const name = pathname.slice(base.length);
  const file = name === "" || name.endsWith("/") ? `${name}index.html` : name;
  const found = statSync(path.join(folder, file), { throwIfNoEntry: false });
  return found?.isFile() === true ? file : undefined;
}

/** Serves the built site as a static host does: compressed, and with a Content-Security-Policy that allows only the site itself. */
export function useSite() {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    const file = fileOf(decodeURIComponent(pathname));
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const body = gzipSync(readFileSync(path.join(folder, file)));
    const headers = {
      "Content-Type": mediaTypes[path.extname(file)] ?? "text/plain; charset=utf-8",
      "Content-Encoding": "gzip",
      "Content-Length": body.length,
      "Content-Security-Policy": "default-src 'self'",
    };
    response.writeHead(200, headers).end(body);
  });
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    get origin() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    /** The URL of a page by its address below the base. */
    url(address: string) {
      return `${this.origin}${base}${address}`;
    },
  };
}
