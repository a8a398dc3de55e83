// Stacks of errors with the positions in TypeScript. Node's own source maps are read when a module is loaded; these, when a stack is.
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { isCompiled, sourceMapOf } from "./compile.mjs";

const maps = new Map();
const position = /(file:[^\s()]+?):(\d+):(\d+)(?=\)?$)/;

Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${inSource(String(frame))}`)].join("\n");

function headOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}

function inSource(frame) {
  return frame.replace(position, (whole, url, line, column) => {
    const file = fileURLToPath(url.replace(/[?#].*$/, ""));
    if (!isCompiled(file)) return whole;
    const { originalLine, originalColumn } = mapOf(file).findEntry(line - 1, column - 1);
    return originalLine === undefined ? whole : `${url}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

function mapOf(file) {
  const stored = maps.get(file) ?? new SourceMap(JSON.parse(sourceMapOf(file)));
  maps.set(file, stored);
  return stored;
}
