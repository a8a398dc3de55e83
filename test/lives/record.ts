/**
 * Asks a server for all that the corpora ask for and writes down what it answers as what is expected from then on:
 *
 *     NODE_TLS_REJECT_UNAUTHORIZED=0 npx tsx test/lives/record.ts https://127.0.0.1:6443 TOKEN
 *
 * The recorded answers are those of kube-apiserver 1.26.11 with role-based authorization, all versions on
 * (`--runtime-config=api/all=true`), the feature gates of `suite.ts`, the admission plugin ServiceAccount and priority and fairness
 * off, no controller manager, and the issuer of service accounts `https://api`. The token is that of the user `admin` with the
 * uid `admin-uid`, of the group `system:masters`; `usertoken` is that of `joe`, of the group `devs`.
 */
import { Api } from "../support/api.ts";
import { writeAnswers, type Answers } from "./answers.ts";
import { asked, lives, members } from "./corpora.ts";
import { namespace } from "./subject.ts";

const [url, token] = process.argv.slice(2);
if (url === undefined || token === undefined) throw new Error("give the URL of a server and a token");
const api = new Api(url, undefined, `Bearer ${token}`);
await api.post("/api/v1/namespaces", { metadata: { name: namespace } });
for (const { name, cases } of [lives, members, asked]) {
  const answers: Answers = new Map();
  for (const one of cases()) {
    const told = await one.tell((method, path, options) => api.ask(method, path, options));
    answers.set(one.name, told);
    console.log(`${name}: ${one.name}: ${told.length} answers`);
  }
  writeAnswers(name, answers);
}
api.close();
