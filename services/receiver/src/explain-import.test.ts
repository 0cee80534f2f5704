// Whoever wrote an agents module that cannot be imported is told why, where, and how to mend it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const CASES = [
  {
    type: 'module',
    name: 'syntax.ts',
    source: 'const one = 1\nexport const agents = [1,,, }',
    why: /^SyntaxError: .*syntax\.ts:2\)$/,
    how: /tsc --noEmit/,
  },
  {
    type: 'module',
    name: 'enum.ts',
    source: 'enum Kind { One }',
    why: /enum is not supported.*enum\.ts:1\)$/,
    how: /erasableSyntaxOnly/,
  },
  {
    type: 'module',
    name: 'package.ts',
    source: `import 'not-there'`,
    why: /Cannot find package 'not-there'/,
    how: /npm install not-there, in .*module\.$/,
  },
  {
    type: 'module',
    name: 'file.ts',
    source: `import './nowhere.ts'`,
    why: /Cannot find module .*nowhere\.ts/,
    how: /Correct the import in .*file\.ts/,
  },
  {
    type: 'module',
    name: 'throws.ts',
    source: '\nundefined.name',
    why: /TypeError: Cannot read.*throws\.ts:2\)$/,
    how: /thrown while the module was loaded/,
  },
  {
    type: 'commonjs',
    name: 'agents.ts',
    source: `import 'node:fs'`,
    why: /outside a module.*agents\.ts:1\)$/,
    how: /"type": "module" in .*commonjs\/package\.json/,
  },
  { type: 'module', name: 'none.ts', source: undefined, why: /none\.ts/, how: /BATON_AGENTS/ },
]

let folder = ''
let told: readonly { readonly because: string; readonly fix: string }[] = []

/** As Node imports them: a test runner reads modules its own way. */
const PROGRAM = `
  import { explainImport } from ${JSON.stringify(join(import.meta.dirname, 'explain-import.ts'))}
  const told = []
  for (const path of process.argv.slice(1))
    await import(path).catch((cause) => told.push(explainImport(cause, path)))
  console.log(JSON.stringify(told))`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-import-'))
  for (const type of ['module', 'commonjs']) {
    mkdirSync(join(folder, type))
    writeFileSync(join(folder, type, 'package.json'), JSON.stringify({ type }))
  }
  for (const { type, name, source } of CASES)
    if (source !== undefined) writeFileSync(join(folder, type, name), source)
  const paths = CASES.map(({ type, name }) => join(folder, type, name))
  const args = ['--no-warnings', '--input-type=module', '--eval', PROGRAM, ...paths]
  told = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as typeof told
})
afterAll(() => rmSync(folder, { recursive: true }))

it.each(CASES.map((one, index) => ({ ...one, index })))(
  'explains $name in a package of type $type',
  ({ index, why, how }) => {
    expect(told[index]?.because).toMatch(why)
    expect(told[index]?.fix).toMatch(how)
  },
)
