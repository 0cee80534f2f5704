// The archives of a distribution are what its signed index says, byte for byte, before anything of them is unpacked.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `'URL' FILE BYTES SHA256:HEX`, as `apt-get --print-uris` tells of each; apt checks the signature of the index. */
const LINE = /^'[^']*' (?<file>[^\s/]+) \d+ (?<algorithm>SHA256|SHA512):(?<digest>[0-9a-f]+)$/gm

/**
 * The paths of the archives in `folder`, when each is in the index and as it says, and none is missing. Throws an error that names
 * the first that is not.
 */
export async function checkedArchives(folder: string, printed: string): Promise<string[]> {
  const listed = [...printed.matchAll(LINE)].map(({ groups = {} }) => groups)
  const files = await readdir(folder)
  const missing = listed.find(({ file = '' }) => !files.includes(file))
  if (listed.length === 0 || missing !== undefined)
    throw new Error(
      `${missing?.['file'] ?? 'a package'} was not downloaded, or its index gives no digest`,
    )
  for (const file of files) {
    const entry = listed.find((one) => one['file'] === file)
    const algorithm = entry?.['algorithm']?.toLowerCase() ?? 'sha256'
    const digest = createHash(algorithm)
      .update(await readFile(join(folder, file)))
      .digest('hex')
    if (digest !== entry?.['digest'])
      throw new Error(`${file} is not what the signed index of the distribution says`)
  }
  return files.map((file) => join(folder, file))
}
