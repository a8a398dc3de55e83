/**
 * Records the answers of the reference, a kube-apiserver 1.37.2 with all group versions, authorization by RBAC and the tokens
 * `admintoken` (system:masters) and `usertoken` (joe in the group devs):
 *
 *     npx tsx test/admission/policies/reference/record.ts https://127.0.0.1:6443 /path/to/apiserver.crt
 */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Api } from "../../../support/api.ts";
import { cases } from "./cases/index.ts";
import { writeOutcomes } from "./outcome-file.ts";
import { runCases } from "./run.ts";

const [url, certificates] = process.argv.slice(2);
if (url === undefined || certificates === undefined) throw new Error("the arguments are a URL and a file");
const ca = readFileSync(certificates, "utf8");
const admin = new Api(url, ca, "Bearer admintoken");
const joe = new Api(url, ca, "Bearer usertoken");
// The reference reads policies from caches.
writeOutcomes(await runCases({ admin, joe }, cases, `c${Date.now()}-`, () => setTimeout(10_000)));
admin.close();
joe.close();
console.log(`${cases.length} cases`);
