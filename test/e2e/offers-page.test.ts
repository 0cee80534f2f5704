// The commands and the program of infra/protocols/handoff-v01.md do what the page says.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'services/cli/src/main.ts')
const run = promisify(execFile)

let page: string
let folder: string
beforeAll(async () => {
  page = await readFile(join(ROOT, 'infra/protocols/handoff-v01.md'), 'utf8')
  folder = await mkdtemp(join(tmpdir(), 'baton-offers-page-'))
})
afterAll(() => rm(folder, { recursive: true }))

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(
    ([, text]) => text ?? '',
  )

it('P08 P09 P10 P11 P12 the commands to try lead one handoff to its end', async () => {
  const commands = (blocks('sh')[0] ?? '').trim().split('\n')
  expect(commands).toHaveLength(5)
  const shown: string[] = []
  for (const command of commands) {
    const [file = ''] = await readdir(join(folder, '.handoffs')).then(
      (names) => names.filter((name) => name.endsWith('.json')),
      () => [],
    )
    const line = command
      .replace('npm run baton --', `${process.execPath} ${MAIN}`)
      .replace('a1b2c3d4', file.slice(0, 8))
    const { stdout, stderr } = await run('sh', ['-c', line], { cwd: folder })
    expect(stderr).toContain('Next: npm run baton -- ')
    shown.push(stdout)
  }
  expect(shown[1]).toContain('Review the auth module')
  expect(shown[2]).toMatch(/status +accepted/)
  expect(shown[4]).toMatch(/status +completed[^]*two findings/)
})

it('P06 the program does the same', async () => {
  // In its own folder it could not find the package; so it is told where its folder is.
  const program = (blocks('ts')[0] ?? '').replace(
    "'.handoffs'",
    JSON.stringify(join(folder, 'by-program')),
  )
  const ending = 'process.stdout.write((await offers.findHandoff(made.task_id)).status)'
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module-typescript', '--eval', `${program}\n${ending}`],
    { cwd: join(ROOT, 'test') },
  )
  expect(stdout).toBe('completed')
})

it('P05 the schema is where the page says', async () => {
  const link = /\[`schemas\/spec\/handoff-v0\.1\.json`\]\(([^)]+)\)/.exec(page)?.[1] ?? ''
  const schema = JSON.parse(await readFile(join(ROOT, 'infra/protocols', link), 'utf8'))
  expect(schema.required).toContain('task_id')
})
