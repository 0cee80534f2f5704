// node baton-verify.mjs BUNDLE --policy FILE [--json] [--fast]: verifies an evidence bundle offline.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseAuditorPolicy } from '../src/bundle/auditor-policy.ts'
import { EXIT_CODES, formatReport } from '../src/bundle/format-report.ts'
import { verifyBundle } from '../src/bundle/verify.ts'

const USAGE = `usage: node baton-verify.mjs BUNDLE --policy FILE [--json] [--fast]
  BUNDLE   a baton-evidence/1, /2 or /3 file
  --policy your own trust policy (C2SP tlog-policy); nothing in the bundle is trusted instead
  --json   the whole report as JSON
  --fast   without the check of every record's full form
ends with 0 valid, 1 failure, 2 usage or no bundle, 3 tampered, 4 incomplete, of a wrong clock or of an unknown version\n`

const OPTIONS = {
  policy: { type: 'string' },
  json: { type: 'boolean', default: false },
  fast: { type: 'boolean', default: false },
} as const

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
    const [bundle, ...rest] = positionals
    if (bundle === undefined || rest.length > 0 || values.policy === undefined) return undefined
    return { ...values, bundle, policy: values.policy }
  } catch {
    return undefined
  }
}

function read(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    process.stderr.write(`cannot read ${path}: ${error instanceof Error ? error.message : ''}\n`)
    return undefined
  }
}

function main(): number {
  const given = readArguments()
  if (given === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const [bundle, policyFile] = [read(given.bundle), read(given.policy)]
  if (bundle === undefined || policyFile === undefined) return 1
  const parsed = parseAuditorPolicy(policyFile)
  if (!parsed.ok) {
    process.stderr.write(`${given.policy}, line ${parsed.line}: ${parsed.message}\n`)
    return 2
  }
  const now = Math.floor(Date.now() / 1000)
  const options = { policy: parsed.policy, now, thorough: !given.fast }
  const report = verifyBundle(bundle, options)
  process.stdout.write(given.json ? `${JSON.stringify(report)}\n` : formatReport(report))
  return EXIT_CODES[report.verdict]
}

process.exitCode = main()
