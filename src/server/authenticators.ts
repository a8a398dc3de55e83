import { readFile } from "node:fs/promises";
import { anonymousByDefault } from "../authentication/anonymous.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import { AuthenticatorChain } from "../authentication/chain.ts";
import { ClientCertificateAuthenticator } from "../authentication/client-certificate.ts";
import { parseTokenFile, TokenFileAuthenticator, type TokenEntry } from "../authentication/token-file.ts";
import { OptionsError, type ServerOptions } from "./options.ts";

/** The chain of methods that the options ask for; `ownTokens` are the server's own administrator's. */
export async function authenticators(
  options: ServerOptions,
  ownTokens: readonly TokenEntry[],
): Promise<Authenticator> {
  const methods: Authenticator[] = [new ClientCertificateAuthenticator(options.clock)];
  if (ownTokens.length > 0) methods.push(new TokenFileAuthenticator(ownTokens));
  if (options.tokenAuthFile !== undefined) methods.push(await tokenFile(options, options.tokenAuthFile));
  const anonymous = options.anonymousAuth ?? anonymousByDefault(options.authorizationModes);
  return new AuthenticatorChain(methods, { vocabulary: options.vocabulary, anonymous });
}

async function tokenFile({ log }: ServerOptions, file: string): Promise<Authenticator> {
  const text = await readOptionFile("--token-auth-file", file);
  try {
    const { entries, warnings } = parseTokenFile(text);
    for (const warning of warnings) log.warn({ file }, warning);
    return new TokenFileAuthenticator(entries);
  } catch (error) {
    throw new OptionsError(
      `--token-auth-file ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Reads a file that an option names. */
export async function readOptionFile(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "the file doesn't exist" : String(error);
    throw new OptionsError(`${flag} ${file}: ${why}`);
  }
}
