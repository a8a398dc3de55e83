import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** Where handlers are registered on streams that no peer writes to, or the registering itself is. */
const exceptions = new Set(["src/http/transport/http-exchange.ts", "src/http/audit/standard-output.ts"]);

/** An event handler that is registered on anything but a HandlerGuard. */
const unguarded = /(?<!\bguard)\.(?:on|once|addListener|prependListener|prependOnceListener)\(\s*[\w"'`]/g;
/** A time-out of a stream or session whose callback isn't guarded; `[^;]` takes in the call's parameters. */
const timeout = /\.setTimeout\((?![^;]*guard\.wrap\()/g;
/** A promise that nobody waits for. */
const dropped = /\bvoid [^;{]*?\.then\(/g;

const peers = sources.filter(
  (file) => (file.startsWith("src/http/") || file.startsWith("src/remote/")) && !exceptions.has(file),
);

test("every event handler that a peer's bytes can reach is guarded", () => {
  const found = peers.flatMap((file) => {
    const text = read(file);
    return [unguarded, timeout, dropped].flatMap((pattern) =>
      [...text.matchAll(pattern)]
        .map((match) => lineAt(text, match.index))
        .map((line) => `${file}: ${line.trim()}`),
    );
  });
  expect(found).toEqual([]);
});

function lineAt(text: string, index: number): string {
  const start = text.lastIndexOf("\n", index) + 1;
  return text.slice(start, text.indexOf("\n", index));
}
