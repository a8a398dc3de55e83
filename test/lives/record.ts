/**
 * Lets all kinds live on a server and writes down what it answers as what is expected from then on:
 *
 *     NODE_TLS_REJECT_UNAUTHORIZED=0 npx tsx test/lives/record.ts https://127.0.0.1:6443 TOKEN
 *
 * The recorded answers are those of kube-apiserver 1.26.11 with role-based authorization, all versions on
 * (`--runtime-config=api/all=true`), the feature gates of `lives.test.ts`, the admission plugin ServiceAccount and
 * priority and fairness off, and no controller manager. The token is that of a user of the group `system:masters`.
 */
import { Api } from "../support/api.ts";
import { writeAnswers } from "./answers.ts";
import { live } from "./phases/all.ts";
import { namespace, subjects } from "./subject.ts";

const [url, token] = process.argv.slice(2);
if (url === undefined || token === undefined) throw new Error("give the URL of a server and a token");
const api = new Api(url, undefined, `Bearer ${token}`);
await api.post("/api/v1/namespaces", { metadata: { name: namespace } });
for (const subject of subjects()) {
  const told = await live(subject, (method, path, options) => api.ask(method, path, options));
  writeAnswers(subject, told);
  console.log(`${subject.in}: ${told.length} answers`);
}
api.close();
