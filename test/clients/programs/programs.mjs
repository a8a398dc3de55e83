// The programs over client libraries, and the table of docs/clients.md.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const folder = path.dirname(fileURLToPath(import.meta.url));

const read = (file) => readFileSync(path.join(folder, file), "utf8");

/** Returns the version of a Go module. */
const goVersion = (module, file = "go/go.mod") => versionIn(file, new RegExp(`^\\t${module} v(\\S+)`, "m"));
/** Returns the version of a Maven artifact, or of a property. */
const mavenVersion = (file, artifact) =>
  versionIn(file, new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<$]+)<`));
const pythonVersion = (name) => versionIn("python/requirements.txt", new RegExp(`^${name}==(\\S+)$`, "m"));
const nodeVersion = (name) => versionIn("node/package.json", new RegExp(`"${name}": "([^"]+)"`));

function versionIn(file, pattern) {
  const version = pattern.exec(read(file))?.[1];
  if (version === undefined) throw new Error(`${file} has no version that matches ${pattern}`);
  return version;
}

/**
 * A program: `id`, the clients with versions, what it does, the release of its server, and the tool that it needs.
 */
export const programs = [
  {
    id: "go",
    clients: `client-go ${goVersion("k8s.io/client-go")}, controller-runtime ${goVersion("sigs.k8s.io/controller-runtime")}`,
    does: "writes in JSON and protobuf, apply, informers, leader election, custom kinds, OpenAPI in binary, an operator",
    release: "1.37",
    tool: ["go", "version"],
  },
  {
    id: "go-oldest",
    clients: `client-go ${goVersion("k8s.io/client-go", "go/oldest.mod")}`,
    does: "the same without an operator",
    release: "1.26",
    tool: ["go", "version"],
  },
  {
    id: "go-envtest",
    clients: `controller-runtime ${goVersion("sigs.k8s.io/controller-runtime")} (envtest)`,
    does: "starts and stops control planes",
    release: "1.26",
    tool: ["go", "version"],
  },
  {
    id: "python",
    clients: `kubernetes ${pythonVersion("kubernetes")} (Python)`,
    does: "writes, conflicts, a watch, custom objects, the dynamic client with apply",
    release: "1.37",
    tool: ["python3", "--version"],
  },
  {
    id: "python-kr8s",
    clients: `kr8s ${pythonVersion("kr8s")} (Python)`,
    does: "writes, labels, a watch, scale, a custom kind",
    release: "1.35",
    tool: ["python3", "--version"],
  },
  {
    id: "java",
    clients: `fabric8 ${mavenVersion("java/pom.xml", "kubernetes-client")}, client-java ${mavenVersion("java/pom.xml", "client-java")}`,
    does: "writes, apply, lists in pages, watches (fabric8: over WebSocket), scale, access reviews, informers",
    release: "1.26",
    tool: ["mvn", "--version"],
  },
  {
    id: "java-operator",
    clients: `Java Operator SDK ${mavenVersion("java-operator/pom.xml", "operator-framework")}, fabric8 ${versionIn("java-operator/pom.xml", /<fabric8.version>([^<]+)</)}`,
    does: "an operator with a dependent resource, a finalizer and a status, with the HTTP clients Vert.x and JDK",
    release: "1.26",
    tool: ["mvn", "--version"],
  },
  {
    id: "node",
    clients: `client-node ${nodeVersion("@kubernetes/client-node")}, Node ${nodeVersion("node")}`,
    does: "writes, conflicts, a watch, an informer, apply, custom objects",
    release: "1.26",
    tool: ["npm", "--version"],
  },
];

/** Returns the row of a program. @param result such as `5 checks pass` */
export function rowOf({ clients, does, release }, result) {
  return `| ${clients} | ${release} | ${does} | ${result} |`;
}

/** Returns the cells of the rows of the table in a page, by their client. */
export function rowsOf(page) {
  const rows = page.split("\n").filter((line) => line.startsWith("|"));
  return new Map(
    rows.slice(2).map((line) => {
      const cells = line.split("|").slice(1, -1);
      const [clients, ...others] = cells.map((cell) => cell.trim());
      return [clients, others];
    }),
  );
}
