/**
 * Asks a server of a release for all that the corpora ask for and writes down what it answers as what is expected from then on:
 *
 *     NODE_TLS_REJECT_UNAUTHORIZED=0 npx tsx test/lives/record.ts https://127.0.0.1:6443 TOKEN 1.37 [PREFIX]
 *
 * With a prefix, only the cases whose names begin with it are recorded, and the recorded answers of the others stay.
 *
 * The recorded answers are those of kube-apiserver 1.26.11 and 1.37.2 with role-based authorization, all versions on
 * (`--runtime-config=api/all=true`), the feature gates of `suite.ts`, the admission plugin ServiceAccount and priority and fairness
 * off, no controller manager, and the issuer of service accounts `https://api`. The token is that of the user `admin` with the
 * uid `admin-uid`, of the group `system:masters`; `usertoken` is that of `joe`, of the group `devs`.
 */
import { Api } from "../support/api.ts";
import { readAnswers, writeAnswers } from "./answers.ts";
import { asked, lives, members } from "./corpora.ts";
import type { Told } from "./life.ts";
import { namespace, releases } from "./subject.ts";

const [url, token, name, prefix = ""] = process.argv.slice(2);
const release = releases.find((one) => one === name);
if (url === undefined || token === undefined || release === undefined)
  throw new Error(`give the URL of a server, a token and a release (${releases.join(", ")})`);
const api = new Api(url, undefined, `Bearer ${token}`);
await api.post("/api/v1/namespaces", { metadata: { name: namespace } });
for (const { name: corpus, cases } of [asked, lives, members]) {
  const recorded = prefix === "" ? undefined : readAnswers(corpus, release);
  const answers = new Map<string, readonly Told[]>();
  for (const one of cases(release)) {
    const before = one.name.startsWith(prefix) ? undefined : recorded?.get(one.name);
    if (before !== undefined) {
      answers.set(one.name, before);
      continue;
    }
    try {
      const told = await one.tell((method, path, options) => api.ask(method, path, options));
      answers.set(one.name, told);
      console.log(`${corpus}: ${one.name}: ${told.length} answers`);
    } catch (error) {
      console.error(`${corpus}: ${one.name}`, error);
      process.exitCode = 1;
    }
  }
  writeAnswers(corpus, release, answers);
}
api.close();
