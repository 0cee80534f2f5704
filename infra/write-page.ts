// Writes a generated page, as the formatter would leave it; with --check it only says whether it is up to date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

export function writePage(path: string, text: string): void {
  const check = process.argv.includes('--check')
  const wanted = `${text}\n`
  if (wanted === (existsSync(path) ? readFileSync(path, 'utf8') : '')) return
  process.stderr.write(`${check ? 'out of date' : 'written'}: ${basename(path)}\n`)
  if (check) process.exitCode = 1
  else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, wanted)
  }
}
