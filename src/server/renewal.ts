import type { HttpListener } from "../http/listener.ts";
import { FileWatch } from "./file-watch.ts";
import { stackOf, type ServerOptions } from "./options.ts";
import type { Serving } from "./serving.ts";

/**
 * Takes in what the operator's files of certificates and authorities hold while the server runs. Files that can't be used
 * change nothing, but are told of.
 *
 * @param renewed called when others must be told of the authorities.
 */
export async function renewCertificates(
  { clock, log }: ServerOptions,
  { files, reload }: Serving,
  listener: HttpListener,
  renewed: () => Promise<void>,
): Promise<FileWatch> {
  const changed = async () => {
    await reload((tls) => listener.renew(tls));
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
  return watch;
}
