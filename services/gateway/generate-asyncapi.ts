// Writes asyncapi.json, as the gateway serves it; with --check it only says whether the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { ASYNCAPI } from './src/asyncapi.ts'

const TARGET = new URL('asyncapi.json', import.meta.url)

const wanted = `${JSON.stringify(ASYNCAPI, null, 2)}\n`
let written = ''
try {
  written = readFileSync(TARGET, 'utf8')
} catch {
  // It is not there yet.
}
if (wanted !== written) {
  const check = process.argv.includes('--check')
  process.stderr.write(`${check ? 'out of date' : 'written'}: services/gateway/asyncapi.json\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}
