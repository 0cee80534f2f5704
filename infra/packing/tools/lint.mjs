// Says of each tarball what publint and "are the types wrong?" find in it: node lint.mjs TARBALL...; one JSON array on stdout.
import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/**
 * The packages are ES modules, and all Node they are for can `require` those: that a CommonJS program gets a module is meant. Versions of
 * TypeScript that know no `exports` (module resolution `node10`) find nothing.
 */
const MEANT = [
  ({ kind, resolutionKind }) => kind === 'NoResolution' && resolutionKind === 'node10',
  ({ kind, resolutionKind }) => kind === 'CJSResolvesToESM' && resolutionKind === 'node16-cjs',
]

async function byPublint(tarball) {
  const bytes = await readFile(tarball)
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
  })
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

async function byTypes(tarball) {
  const wrong = await checkPackage(createPackageFromTarballData(await readFile(tarball)))
  if (wrong.types === false) return ['it has no types']
  return wrong.problems
    .filter((problem) => !MEANT.some((isMeant) => isMeant(problem)))
    .map((problem) => JSON.stringify(problem))
}

const found = []
for (const tarball of process.argv.slice(2))
  found.push({ tarball, publint: await byPublint(tarball), types: await byTypes(tarball) })
process.stdout.write(JSON.stringify(found))
