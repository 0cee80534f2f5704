// `npm run packages`: packs what npm is given, and tries it as those do who install it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { markdownTable } from '../markdown-table.ts'
import { checkPackages } from './check.ts'
import type { Checked } from './check.ts'
import { pack } from './pack.ts'
import { PUBLIC_PACKAGES } from './public-packages.ts'

const USAGE = `usage: npm run packages [-- pack FOLDER [PACKAGE...]] [-- --repository URL]
  (none)        pack everything, install it in an empty project outside this checkout, and try it there under each Node
  pack FOLDER   write the tarballs of all packages, or of those named, into FOLDER\n`

const say = (words: string) => process.stderr.write(`  … ${words}\n`)

function chosen(names: readonly string[]) {
  const unknown = names.filter((name) => !PUBLIC_PACKAGES.some((told) => told.name === name))
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')}: no public package. There are ${PUBLIC_PACKAGES.map(({ name }) => name).join(', ')}`,
    )
  return PUBLIC_PACKAGES.filter(({ name }) => names.length === 0 || names.includes(name))
}

async function checkAll(): Promise<number> {
  const target = await mkdtemp(join(tmpdir(), 'baton-tarballs-'))
  try {
    say('packing')
    const checked = await checkPackages(await pack(PUBLIC_PACKAGES, { target }), say)
    process.stdout.write(`${tableOf(checked)}\n`)
    for (const { package: name, check, findings } of checked)
      for (const finding of findings) process.stdout.write(`\n${name}, ${check}: ${finding}\n`)
    return checked.every(({ findings }) => findings.length === 0) ? 0 : 1
  } finally {
    await rm(target, { recursive: true })
  }
}

function tableOf(checked: readonly Checked[]): string {
  const checks = [...new Set(checked.map(({ check }) => check))]
  const rows = Map.groupBy(checked, (one) => one.package)
  return markdownTable(
    ['package', ...checks],
    [...rows].map(([name, own]) => [
      name,
      ...checks.map((check) => {
        const findings = own.find((one) => one.check === check)?.findings ?? []
        return findings.length === 0 ? '✓' : `✗ ${findings.length}`
      }),
    ]),
  )
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { repository: { type: 'string' } },
    allowPositionals: true,
  })
  const [command, folder, ...names] = positionals
  if (command === undefined) return await checkAll()
  if (command !== 'pack' || folder === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const options = { target: resolve(folder), repository: values.repository }
  for (const { tarball } of await pack(chosen(names), options)) process.stdout.write(`${tarball}\n`)
  return 0
}

process.exitCode = await main()
