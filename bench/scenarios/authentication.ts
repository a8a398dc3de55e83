import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCredentials, type Credentials } from "../credentials.ts";
import { answersLimit, type LimitServer } from "../limit-servers.ts";
import { plainGetText } from "../load/http-text.ts";
import { sequenceMark, type Address, type LoadPlan, type RequestPlan } from "../load/plan.ts";
import { measureInTurns, type Side } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, temporaryFolder, vocabularyOf, type Subject } from "../subject.ts";

const connections = 16;
/** There are many rows; each side of a round is this short, or shorter. */
const mostSeconds = 1;

/** How clients show who they are. */
interface Way {
  readonly request: RequestPlan;
  readonly client?: Address["client"];
  /** Whether each request has a new connection. */
  readonly fresh?: boolean;
}

/** One method of authentication. */
interface Method {
  readonly name: string;
  /** The same credential again and again, on connections that stay. */
  readonly warm: Way;
  /** Each time one that the server can't know; `what` says how. */
  readonly cold: Way & { readonly what: string };
}

/**
 * GET of one 1 KB config map by each method of authentication: of all requests the one with the least work beside
 * knowing the caller. Limit: the same bytes from a bare server, which asks for client certificates too.
 */
export const authentication: Scenario = {
  name: "authentication",
  remote: false,
  async *run(bench: Bench) {
    const credentials = await openCredentials(bench);
    try {
      const subject = await openSubject(bench.options, "authentication", credentials.extras);
      try {
        const { api, namespace } = subject;
        await api.ask("POST", configMapsPath(namespace), configMap(namespace, objectName(0)));
        await letEverybodyRead(subject, vocabularyOf(bench.options).systemPrefix);
        const path = `${configMapsPath(namespace)}/${objectName(0)}`;
        const limit = await answersLimit(bench, [await api.ask("GET", path)], 200, credentials.clientCa);
        try {
          for (const method of await methodsOf(credentials, subject, path)) {
            yield* methodRows(bench, subject, limit, method);
          }
        } finally {
          await limit.close();
        }
      } finally {
        await subject.close();
      }
    } finally {
      await credentials.close();
    }
  },
};

async function* methodRows(
  { options }: Bench,
  subject: Subject,
  limit: LimitServer,
  { name, warm, cold }: Method,
): AsyncGenerator<Row> {
  const side = (server: Subject | LimitServer, way: Way, which: string): Side => ({
    name: `${name}, ${which}`,
    plan: planOf(server.address, way),
    pid: server.pid,
  });
  const sides = [
    side(limit, warm, "limit"),
    side(subject, warm, "warm"),
    side(subject, cold, cold.what),
    ...(cold.fresh === true ? [side(limit, cold, "limit with new connections")] : []),
  ];
  const seconds = Math.min(mostSeconds, options.seconds);
  const [bare, known, unknown, bareFresh = bare] = await measureInTurns(
    sides,
    "answers",
    options.rounds,
    seconds,
  );
  yield ratioRow(`get, ${name}`, "/s", known!, bare!);
  yield ratioRow(`get, ${name}, ${cold.what}`, "/s", unknown!, bareFresh!);
}

function planOf(address: Address, { request, client, fresh }: Way): LoadPlan {
  return { address: { ...address, client }, connections, request, fresh };
}

async function methodsOf(credentials: Credentials, subject: Subject, path: string): Promise<Method[]> {
  const folder = temporaryFolder();
  const get = (...lines: readonly string[]): string => plainGetText(path, lines);
  const same = (...lines: readonly string[]): RequestPlan => ({ kind: "same", text: get(...lines) });
  const numbered = (line: string): RequestPlan => ({ kind: "numbered", text: get(line), objects: 1 });
  const bearer = (token: string): string => `Authorization: Bearer ${token}`;
  const tokens = (name: string, all: readonly string[]): Method => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(all.map((token) => get(bearer(token)))));
    const warm = { request: same(bearer(all[0]!)) };
    return { name, warm, cold: { what: "another each time", request: { kind: "listed", file } } };
  };
  const { user, proxy, userHeader } = credentials;
  const accounts = await credentials.accountTokens(subject);
  const fresh = { what: "new connections", request: same(), fresh: true };
  return [
    { name: "anonymous", warm: { request: same() }, cold: fresh },
    {
      name: "client certificate",
      warm: { request: same(), client: user },
      cold: { ...fresh, client: user },
    },
    tokens("static token", credentials.staticTokens),
    tokens("bootstrap token", await credentials.bootstrapTokens(subject)),
    tokens("service account, RSA", accounts.rsa),
    tokens("service account, ECDSA", accounts.ecdsa),
    tokens("OpenID Connect", await credentials.oidcTokens()),
    {
      name: "token webhook",
      warm: { request: same(bearer("reviewed-token")) },
      cold: { what: "another each time", request: numbered(bearer(`reviewed-${sequenceMark}`)) },
    },
    {
      name: "authenticating proxy",
      warm: { request: same(`${userHeader}: somebody`), client: proxy },
      cold: {
        what: "another each time",
        request: numbered(`${userHeader}: user-${sequenceMark}`),
        client: proxy,
      },
    },
  ];
}

/** Whoever is known may read config maps of the bench's namespace, and whoever isn't. */
async function letEverybodyRead({ api, namespace, rbacGroup }: Subject, prefix: string): Promise<void> {
  const base = `/apis/${rbacGroup}/v1/namespaces/${namespace}`;
  const name = "everybody";
  await api.ask("POST", `${base}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
  });
  await api.ask("POST", `${base}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: "Role", name },
    subjects: ["authenticated", "unauthenticated"].map((group) => ({
      kind: "Group",
      apiGroup: rbacGroup,
      name: prefix + group,
    })),
  });
}
