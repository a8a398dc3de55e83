// Applies manifests to a server: creates each object, or brings it to what the manifest says.
//
//   node examples/apply.mjs FOLDER|FILE …          applies them
//   node examples/apply.mjs --print=kubernetes …   prints them in the other vocabulary, for kubectl apply -f -
//
// SERVER, CA and TOKEN in the environment say where and who; by default the server of `npm start` and its tour.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { Agent, request } from "node:https";
import path from "node:path";
import { parseAllDocuments, stringify } from "yaml";

// With `| head`, nobody wants the rest of what is printed.
process.stdout.on("error", (error) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const server = process.env.SERVER ?? "https://127.0.0.1:6443";
const token = process.env.TOKEN ?? "admin-token";

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`apply: ${error.message}`);
  process.exitCode = 1;
}

async function main(words) {
  const print = words.find((word) => word.startsWith("--print="))?.slice("--print=".length);
  const files = words.filter((word) => !word.startsWith("--")).flatMap(manifests);
  const objects = files.flatMap((file) =>
    parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS()),
  );
  if (print === undefined) return applyAll(objects);
  const spelled = objects.map((object) => (print === "kubernetes" ? inKubernetes(object) : object));
  process.stdout.write(spelled.map((object) => stringify(object)).join("---\n"));
}

async function applyAll(objects) {
  const agent = new Agent({ keepAlive: true, ca: authority(process.env.CA ?? ".plinth/pki/ca.crt") });
  const counts = { created: 0, changed: 0, unchanged: 0 };
  try {
    for (const object of objects) counts[await apply(agent, object)]++;
  } finally {
    agent.destroy();
  }
  console.log(`${counts.created} created, ${counts.changed} changed, ${counts.unchanged} unchanged`);
}

/** The authority of the server's certificate, which a running server keeps in its data folder. */
function authority(file) {
  if (!existsSync(file))
    throw new Error(`${file} is missing: start the server first, or name its authority in CA`);
  return readFileSync(file);
}

/** The manifests in a file or folder, numbered files in the order of their numbers. */
function manifests(place) {
  if (!statSync(place).isDirectory()) return [place];
  const names = readdirSync(place).filter((name) => name.endsWith(".yaml"));
  return names
    .toSorted((a, b) => parseInt(a, 10) - parseInt(b, 10) || a.localeCompare(b))
    .map((name) => path.join(place, name));
}

/** An object with the API groups as Kubernetes spells them. */
function inKubernetes(object) {
  return JSON.parse(JSON.stringify(object).replaceAll(/"([a-z.]+)\.platform\.io(\/v1)?"/g, '"$1.k8s.io$2"'));
}

async function apply(agent, object) {
  const collection = collectionOf(object);
  const created = await send(agent, "POST", collection, object, "application/json");
  if (created.status === 201) return "created";
  if (created.status !== 409)
    throw new Error(`${object.kind} ${object.metadata.name}: ${created.body.message}`);
  const item = `${collection}/${encodeURIComponent(object.metadata.name)}`;
  const before = await send(agent, "GET", item);
  const after = await send(agent, "PATCH", item, object, "application/merge-patch+json");
  if (after.status !== 200) throw new Error(`${object.kind} ${object.metadata.name}: ${after.body.message}`);
  const version = (answer) => answer.body.metadata.resourceVersion;
  return version(before) === version(after) ? "unchanged" : "changed";
}

/** Path of the collection that an object belongs to; the kinds of these examples have regular plurals. */
function collectionOf({ apiVersion, kind, metadata }) {
  const prefix = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${prefix}${scope}/${kind.toLowerCase()}s`;
}

function send(agent, method, url, body, type) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(type === undefined ? {} : { "content-type": type }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${server}${url}`, { agent, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    });
    sent.on("error", (error) => {
      // Where several addresses refuse, the error itself has no message.
      const why = error.message || error.code;
      reject(new Error(`${server} can't be reached: ${why}; is the server running? SERVER names another`));
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
