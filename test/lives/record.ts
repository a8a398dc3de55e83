/**
 * Asks a server for all that the corpora ask for and writes down what it answers as what is expected from then on:
 *
 *     NODE_TLS_REJECT_UNAUTHORIZED=0 npx tsx test/lives/record.ts https://127.0.0.1:6443 TOKEN
 *
 * The recorded answers are those of kube-apiserver 1.26.11 with role-based authorization, all versions on
 * (`--runtime-config=api/all=true`), the feature gates of `suite.ts`, the admission plugin ServiceAccount and priority and fairness
 * off, and no controller manager. The token is that of the user `admin` with the uid `admin-uid`, of the group `system:masters`.
 */
import { Api } from "../support/api.ts";
import { nameOf, writeAnswers, type Answers } from "./answers.ts";
import { lives, members } from "./corpora.ts";
import { namespace } from "./subject.ts";

const [url, token] = process.argv.slice(2);
if (url === undefined || token === undefined) throw new Error("give the URL of a server and a token");
const api = new Api(url, undefined, `Bearer ${token}`);
await api.post("/api/v1/namespaces", { metadata: { name: namespace } });
for (const { name, subjects, tell } of [lives, members]) {
  const answers: Answers = new Map();
  for (const subject of subjects()) {
    const told = await tell(subject, (method, path, options) => api.ask(method, path, options));
    answers.set(nameOf(subject), told);
    console.log(`${name}: ${nameOf(subject)}: ${told.length} answers`);
  }
  writeAnswers(name, answers);
}
api.close();
