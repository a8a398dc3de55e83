import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ClientHttp2Session } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import type { CreateServerOptions } from "../../src/index.ts";
import { answerOf, http2Session, portOf, RawConnection } from "../robustness/support.ts";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService } from "../support/https-service.ts";

/** An authorization question in one line: `get configmaps/status team-a settings`, `get path /version`. */
export type Question = string;

/** A response of a server. */
export interface Told {
  readonly status: number;
  readonly text: string;
}

interface Review {
  readonly spec: {
    readonly user: string;
    readonly resourceAttributes?: Readonly<Record<string, string>>;
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
  };
}

/**
 * A server with an authorization webhook and no cache, so that the webhook records every authorization question. The
 * webhook allows everything except what `denied` matches.
 */
export class Witness {
  private readonly asked: Question[] = [];
  /** Decides a question; a test may replace it. */
  denied: (question: Question) => boolean = () => false;
  private session: ClientHttp2Session | undefined;

  private constructor(
    private readonly folder: string,
    private readonly service: HttpsService,
  ) {}

  private started: TestServer | undefined;
  get server(): TestServer {
    return this.started!;
  }

  /** The user of all requests; the token is the user name. */
  static readonly user = "eve";

  static async start(options: CreateServerOptions = {}): Promise<Witness> {
    const folder = mkdtempSync(path.join(tmpdir(), "plinth-attack-"));
    const witness: Witness = new Witness(
      folder,
      await HttpsService.start(({ text }) => witness.decide(JSON.parse(text) as Review)),
    );
    const tokens = path.join(folder, "tokens.csv");
    writeFileSync(tokens, `${Witness.user},${Witness.user},7\n`);
    witness.started = await TestServer.start({
      ...options,
      tokenAuthFile: tokens,
      authorizationModes: ["Webhook"],
      authorizationWebhook: {
        configFile: clientConfiguration(folder, witness.service),
        version: "v1",
        authorizedMs: 0,
        unauthorizedMs: 0,
      },
    });
    return witness;
  }

  private decide({ spec }: Review): { body: object } {
    const question = questionOf(spec);
    if (spec.user === Witness.user) this.asked.push(question);
    const status = { allowed: spec.user !== Witness.user || !this.denied(question) };
    return { body: { apiVersion: "authorization.platform.io/v1", kind: "SubjectAccessReview", status } };
  }

  /** The questions about the user since the last call. */
  questions(): Question[] {
    return this.asked.splice(0);
  }

  /** Sends an HTTP/1.1 request with the target and header lines byte for byte. */
  async http1(method: string, target: string, ...headers: readonly string[]): Promise<Told> {
    const lines = [
      `Host: localhost`,
      `Authorization: Bearer ${Witness.user}`,
      "Connection: close",
      ...headers,
    ];
    return this.raw([`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  }

  /** The response to bytes sent on a new connection, read until the server closes it. */
  async raw(bytes: string): Promise<Told> {
    const connection = await RawConnection.open(portOf(this.server));
    connection.write(Buffer.from(bytes, "latin1"));
    return toldBy(await connection.closes());
  }

  /** Sends an HTTP/2 request; additional headers may replace the pseudo headers. */
  async http2(method: string, target: string, headers: Readonly<Record<string, string>> = {}): Promise<Told> {
    this.session ??= http2Session(this.server);
    const stream = this.session.request({
      ":method": method,
      ":path": target,
      authorization: `Bearer ${Witness.user}`,
      ...headers,
    });
    stream.end();
    return answerOf(stream);
  }

  async close(): Promise<void> {
    this.session?.destroy();
    await this.server.close();
    await this.service.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function questionOf({ resourceAttributes, nonResourceAttributes }: Review["spec"]): Question {
  if (nonResourceAttributes !== undefined)
    return `${nonResourceAttributes.verb} path ${nonResourceAttributes.path}`;
  const {
    verb = "",
    group = "",
    resource = "",
    subresource = "",
    namespace = "",
    name = "",
  } = resourceAttributes!;
  const type = `${resource}${subresource === "" ? "" : `/${subresource}`}`;
  return [verb, group === "" ? type : `${type}.${group}`, namespace, name].join(" ").trimEnd();
}

/** Reads one HTTP/1.1 response. */
function toldBy(text: string): Told {
  const end = text.indexOf("\r\n\r\n");
  return { status: Number(text.split(" ", 2)[1]), text: end === -1 ? "" : text.slice(end + 4) };
}
