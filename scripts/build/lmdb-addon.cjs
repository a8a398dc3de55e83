// In the bundles this replaces `node-gyp-build-optional-packages`, which searches for the compiled part of LMDB below the
// folder of the package `lmdb`. The bundles have the JavaScript of that package; the compiled part is in one package per platform.
const { readdirSync } = require("node:fs");
const path = require("node:path");

/** Loads the compiled part for this platform: the file for the version of Node if there is one, otherwise that for Node-API. */
module.exports = function loadAddon() {
  const name = `@lmdb/lmdb-${process.platform}-${process.arch}`;
  const folder = path.dirname(resolvePackage(name));
  const abi = process.versions.bun === undefined ? process.versions.modules : "none";
  const rank = (file) => (file.startsWith(`node.abi${abi}.`) ? 0 : file.startsWith("node.napi.") ? 1 : 2);
  // On Linux a folder has files for two C libraries; the wrong one can't be loaded.
  const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".node") && rank(file) < 2 && isMusl === file.includes(".musl."))
    .toSorted((one, other) => rank(one) - rank(other));
  if (files.length === 0) throw new Error(`${name} has no file for Node ${process.version}`);
  return require(path.join(folder, files[0]));
};

function resolvePackage(name) {
  try {
    return require.resolve(`${name}/package.json`);
  } catch (error) {
    throw new Error(
      `The embedded store needs the package ${name}, which is not installed. npm installs it on supported platforms unless ` +
        "optional dependencies are omitted. On other platforms use --storage-backend=memory or etcd3.",
      { cause: error },
    );
  }
}
