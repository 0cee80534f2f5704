// Writes openapi.json from what the auditor's routes say of themselves; with --check it only says whether the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { OPENAPI } from './src/openapi.ts'

const TARGET = new URL('openapi.json', import.meta.url)

const wanted = `${JSON.stringify(OPENAPI, null, 2)}\n`
if (wanted !== readFileSync(TARGET, 'utf8')) {
  const check = process.argv.includes('--check')
  process.stderr.write(`${check ? 'out of date' : 'written'}: services/auditor/openapi.json\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}
