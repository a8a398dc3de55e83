import { AddressError, type DatabaseAddress, parseAddress } from "../../storage/postgres/address.ts";
import { isSchemaName } from "../../storage/postgres/schema-name.ts";
import { readOptionFile } from "./option-files.ts";
import { OptionsError } from "./options-error.ts";
import type { StorageSettings } from "./settings-types.ts";

const maxUrlBytes = 64 * 1024;

/**
 * Returns the address of the database of the options. Messages don't contain the URL, which may have a password.
 *
 * @throws {OptionsError} if the URL or the name of the schema isn't valid.
 */
export async function databaseAddress({
  url,
  urlFile,
  schema,
}: Extract<StorageSettings, { engine: "postgres" }>): Promise<DatabaseAddress> {
  if (!isSchemaName(schema))
    throw new OptionsError(
      `--postgres-schema: ${JSON.stringify(schema)} is not a name of at most 40 lower-case letters, digits and _ that doesn't begin with pg_`,
    );
  if ((url === undefined) === (urlFile === undefined))
    throw new OptionsError("exactly one of --postgres-url and --postgres-url-file is needed");
  const flag = url === undefined ? `--postgres-url-file ${urlFile}` : "--postgres-url";
  const text = url ?? (await readOptionFile("--postgres-url-file", urlFile!));
  if (text.length > maxUrlBytes)
    throw new OptionsError(`${flag}: the URL has more than ${maxUrlBytes} bytes`);
  try {
    return parseAddress(text.trim());
  } catch (error) {
    if (error instanceof AddressError) throw new OptionsError(`${flag}: ${error.message}`);
    throw error;
  }
}
