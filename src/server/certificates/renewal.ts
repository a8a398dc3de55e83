import type { HttpListener } from "../../http/transport/listener.ts";
import { Periodic } from "../../storage/periodic.ts";
import { FileWatch } from "../../base/files/file-watch.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Serving } from "./serving.ts";

/** How often the server checks whether its own certificate is due for renewal, a month before it expires. */
const ownCheckMs = 60 * 60 * 1000;

/** The running renewal of certificates. */
export interface Renewal {
  /** Stops; resolves when no renewal is running. */
  close(): Promise<void>;
}

/**
 * Reloads the certificate and CA files of the operator when they change, and renews the server's own certificate
 * before it expires. Open connections keep their certificate. If new files can't be used, the previous ones stay and
 * the log has a line.
 *
 * @param renewed called after the CA certificates of clients may have changed.
 */
export async function renewCertificates(
  options: ServerOptions,
  serving: Serving,
  listener: HttpListener,
  renewed: () => Promise<void>,
): Promise<Renewal> {
  const { clock, log } = options;
  const { files } = serving;
  const changed = async () => {
    await serving.reload((tls) => listener.renew(tls));
    await renewed();
    log.info({ files }, "certificates and authorities were read again");
  };
  const watch = new FileWatch(
    () => files,
    clock,
    changed,
    (error) =>
      log.error(
        { error: stackOf(error) },
        "changed certificates or authorities can't be used; keeping the previous ones",
      ),
  );
  await watch.start();
  const own = ownRenewal(options, serving, listener, renewed);
  return {
    async close() {
      await own?.stop();
      await watch.close();
    },
  };
}

/** Starts the renewal of the server's own certificate; returns undefined if it has none. */
function ownRenewal(
  { clock, log }: ServerOptions,
  { renewOwn }: Serving,
  listener: HttpListener,
  renewed: () => Promise<void>,
): Periodic | undefined {
  if (renewOwn === undefined) return undefined;
  const renew = async () => {
    if (!(await renewOwn((tls) => listener.renew(tls)))) return;
    await renewed();
    log.info({}, "the server's own certificate was renewed");
  };
  return new Periodic(clock, ownCheckMs, renew, (error) =>
    log.error({ error: stackOf(error) }, "the server's own certificate can't be renewed"),
  );
}
