import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { root } from "../support/root.ts";
import { useServer } from "../support/use-server.ts";

interface ListedFile {
  readonly name: string;
  readonly file: string;
  readonly immutable: boolean;
}

const folder = path.join(root, "dist/console");
const files = JSON.parse(readFileSync(path.join(folder, "files.json"), "utf8")) as ListedFile[];
const compressedBytes = (names: readonly ListedFile[]) =>
  names.reduce((sum, { file }) => sum + statSync(path.join(folder, `${file}.br`)).size, 0);
const contentOf = (file: string) =>
  brotliDecompressSync(readFileSync(path.join(folder, `${file}.br`))).toString();
const page = () => contentOf("index.html");

/** The files that the page loads before the login: those that it names, and the chunks that they import. */
function shellFiles(): ListedFile[] {
  const loaded = new Set([""]);
  const queue = [page()];
  for (let text = queue.pop(); text !== undefined; text = queue.pop()) {
    for (const { name, file } of files) {
      const isStatic =
        text.includes(`"${name}"`) || text.includes(`from"./${name}"`) || text.includes(`import"./${name}"`);
      if (name === "" || loaded.has(name) || !isStatic) continue;
      loaded.add(name);
      queue.push(contentOf(file));
    }
  }
  return files.filter(({ name }) => loaded.has(name));
}

describe("the files of the console", () => {
  const server = useServer({ console: true });
  const anonymous = () => server.as(undefined);

  it("are served without credentials, with types, tags and lifetimes", async () => {
    for (const { name, file, immutable } of files) {
      const answer = await anonymous().get(`/console/${name}`);
      expect(answer.status).toBe(200);
      expect(answer.bytes.toString()).toBe(contentOf(file));
      expect(answer.headers["cache-control"]).toBe(
        immutable ? "public, max-age=31536000, immutable" : "no-cache",
      );
      const headers = { "if-none-match": answer.headers.etag! };
      const again = await anonymous().get(`/console/${name}`, { headers });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
    }
  });

  it("are compressed as the browser accepts", async () => {
    const get = async (encoding: string) =>
      (await anonymous().get("/console/", { headers: { "accept-encoding": encoding } })).bytes;
    expect(brotliDecompressSync(await get("gzip, br")).toString()).toBe(page());
    expect((await get("gzip, br;q=0")).toString()).toBe(page());
    expect((await get("identity")).toString()).toBe(page());
  });

  it("have headers against foreign code, framing and leaked addresses", async () => {
    const { headers } = await anonymous().get("/console/");
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers["set-cookie"]).toBeUndefined();
  });

  it("are the only ones below the path: others are 404, also those of a parent folder", async () => {
    const paths = [
      "nope",
      "files.json",
      "..%2fplinth.js",
      ".%2e%2findex.js",
      "%252e%252e/index.js",
      "index.html",
      "style.css.br",
    ];
    for (const one of paths)
      expect([one, (await anonymous().get(`/console/${one}`)).status]).toEqual([one, 404]);
  });

  it("answer HEAD without a body, and redirect the path without its slash", async () => {
    const head = await anonymous().ask("HEAD", "/console/");
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    const { status, headers } = await anonymous().get("/console");
    expect([status, headers.location]).toEqual([308, "/console/"]);
  });

  it("are read only: other methods need the usual rights", async () => {
    expect((await anonymous().post("/console/", {})).status).toBe(403);
    expect((await server.admin.post("/console/", {})).status).toBe(404);
  });

  it("have no inline code, and load nothing from elsewhere", () => {
    expect(page()).not.toMatch(/<script(?![^>]*src="[^:"]+")|<style|\son\w+=|\sstyle=|https?:/);
  });

  it("take at most 60 KiB for the login and lists, and 300 KiB in all, compressed", () => {
    const shell = shellFiles();
    expect(shell.length).toBeGreaterThan(2);
    expect(compressedBytes(shell)).toBeLessThan(60 * 1024);
    expect(compressedBytes(files)).toBeLessThan(300 * 1024);
  });
});

describe("without the option console", () => {
  const server = useServer({});

  it("the paths of the console are 404 for administrators and 403 for anonymous users", async () => {
    for (const name of ["/console", "/console/", "/console/codes", "/console/sessions"]) {
      expect((await server.admin.get(name)).status).toBe(404);
      expect((await server.admin.post(name, {})).status).toBe(404);
      expect((await server.as(undefined).get(name)).status).toBe(403);
    }
  });
});

describe("with both vocabularies", () => {
  it("the page is the same", async () => {
    const server = await TestServer.start({ console: true, vocabulary: "kubernetes" });
    try {
      expect((await server.as(undefined).get("/console/")).text).toBe(page());
    } finally {
      await server.close();
    }
  });
});
