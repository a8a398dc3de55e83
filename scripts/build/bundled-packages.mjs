// The libraries in the bundles, their licenses, and the software bill of materials (SBOM) of the package.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * The packages of which a file went into a bundle, in order of name.
 *
 * @param {readonly string[]} inputs the files of the bundles, relative to the current folder
 * @returns {{ folder: string, name: string, version: string, license: string }[]}
 */
export function bundledPackages(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders]
    .map((folder) => {
      const { name, version, license } = readJson(path.join(folder, "package.json"));
      return { folder, name, version, license };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * The license texts of packages; most licenses require that their text is distributed with the code.
 *
 * @param {ReturnType<typeof bundledPackages>} packages
 */
export function licenseTexts(packages) {
  return packages
    .map(
      ({ folder, name, version, license }) => `${name} ${version}, ${license}\n\n${licenseTextIn(folder)}\n`,
    )
    .join(`\n${"-".repeat(80)}\n\n`);
}

/**
 * The bill of materials in the form of CycloneDX 1.6: bundled packages with the checksums of their archives, and the optional
 * dependencies, which npm installs.
 *
 * @param {ReturnType<typeof bundledPackages>} packages
 */
export function billOfMaterials(packages) {
  const { name, version, license, description, optionalDependencies } = readJson("package.json");
  const lock = readJson("package-lock.json").packages;
  const component = (folder, packageName, packageVersion, spdx, scope) => ({
    type: "library",
    "bom-ref": purl(packageName, packageVersion),
    name: packageName,
    version: packageVersion,
    scope,
    ...(lock[folder]?.integrity && { hashes: [checksum(lock[folder].integrity)] }),
    licenses: [{ expression: spdx }],
    purl: purl(packageName, packageVersion),
  });
  const bundled = packages.map((one) =>
    component(one.folder, one.name, one.version, one.license, "required"),
  );
  const optional = Object.entries(optionalDependencies).map(([packageName, packageVersion]) => {
    const folder = `node_modules/${packageName}`;
    return component(folder, packageName, packageVersion, lock[folder].license, "optional");
  });
  const components = [...bundled, ...optional];
  const self = purl(name, version);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name,
        version,
        description,
        licenses: [{ expression: license }],
        purl: self,
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((one) => one["bom-ref"]) }],
  };
}

/** The identifier of a package of npm, as the package URL specification spells it. */
function purl(name, version) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** The checksum of an archive, from its `integrity` in the lock file. */
function checksum(integrity) {
  const [, algorithm, base64] = /^sha(\d+)-(.+)$/.exec(integrity);
  return { alg: `SHA-${algorithm}`, content: Buffer.from(base64, "base64").toString("hex") };
}

/** `node_modules/@scope/name` of a file in it; undefined for a file of our own. */
function packageFolder(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

/** Some packages only name their license. */
function licenseTextIn(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined
    ? "The package contains no license text."
    : readFileSync(path.join(folder, file), "utf8").trim();
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
