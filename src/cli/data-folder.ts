/** Where the embedded store lies in a data folder. */
export function storeFolder(dataDir: string): string {
  return `${dataDir}/store`;
}
