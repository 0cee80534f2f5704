// `npm run packages -- pack FOLDER`: packs what npm is given.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pack } from './pack.ts'
import { PUBLIC_PACKAGES } from './public-packages.ts'

const USAGE = `usage: npm run packages -- pack FOLDER [PACKAGE...] [--repository URL]
  pack FOLDER   write the tarballs of all packages, or of those named, into FOLDER\n`

function chosen(names: readonly string[]) {
  const unknown = names.filter((name) => !PUBLIC_PACKAGES.some((told) => told.name === name))
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')}: no public package. There are ${PUBLIC_PACKAGES.map(({ name }) => name).join(', ')}`,
    )
  return PUBLIC_PACKAGES.filter(({ name }) => names.length === 0 || names.includes(name))
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { repository: { type: 'string' } },
    allowPositionals: true,
  })
  const [command, folder, ...names] = positionals
  if (command !== 'pack' || folder === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const options = { target: resolve(folder), repository: values.repository }
  for (const { tarball } of await pack(chosen(names), options)) process.stdout.write(`${tarball}\n`)
  return 0
}

process.exitCode = await main()
