import type { HttpListener } from "../../http/transport/listener.ts";
import { Periodic } from "../../storage/periodic.ts";
import { FileWatch } from "../../base/file-watch.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Serving } from "./serving.ts";

/** How often the server looks whether its own certificate ends soon: that is a month before it ends. */
const ownCheckMs = 60 * 60 * 1000;

/** What keeps certificates up to date. */
export interface Renewal {
  /** Resolves when nothing is under way any more. */
  close(): Promise<void>;
}

/**
 * Keeps certificates and authorities up to date while the server runs: takes in what the operator's files hold, and makes
 * the server's own certificate anew before it ends. Connections that stand are left alone. What can't be used changes
 * nothing, but is told of.
 *
 * @param renewed called when others must be told of the authorities.
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
        "changed certificates or authorities can't be used; those of before stay",
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

/** Renews the server's own certificate; undefined where it has none. */
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
    log.info({}, "the server's own certificate was made anew");
  };
  return new Periodic(clock, ownCheckMs, renew, (error) =>
    log.error({ error: stackOf(error) }, "the server's own certificate can't be made anew"),
  );
}
