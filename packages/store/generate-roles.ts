// Writes the rights of each role of the operational database into infra/database-roles.md; with --check it only says whether they
// are up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { markdownTable } from '@baton/infra/markdown-table'
import { TABLE_RIGHTS, WRITABLE_ROWS } from './src/roles.ts'

const TARGET = new URL('../../infra/database-roles.md', import.meta.url)
const BEGIN = '<!-- written by node packages/store/generate-roles.ts -->\n\n'
const END = '\n\n<!-- end -->'

function table(): string {
  const rows = Object.entries(TABLE_RIGHTS).map(([name, rights]) => {
    const limit = WRITABLE_ROWS.find((one) => one.table === name)?.rows
    const delivery = rights.baton_delivery || 'nothing'
    return [
      `\`${name}\``,
      rights.baton_gateway || 'nothing',
      limit === undefined ? delivery : `${delivery}; writes only rows with \`${limit}\``,
    ]
  })
  return markdownTable(['table', '`baton_gateway`', '`baton_delivery`'], rows)
}

const found = readFileSync(TARGET, 'utf8')
const [before = '', rest = ''] = found.split(BEGIN)
const [, after = ''] = rest.split(END)
const wanted = `${before}${BEGIN}${table()}${END}${after}`
if (wanted !== found) {
  const check = process.argv.includes('--check')
  process.stderr.write(`${check ? 'out of date' : 'written'}: infra/database-roles.md\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}
