// Every question of the page for auditors is one command, and prints what the page shows.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'
import { withoutFigures } from './readme-session.ts'

const START_MAX_MS = 120_000
const COMMAND = '$ npm run baton -- '
const LICENCE = `MIT License

Copyright (c) 2026 Ada Example <ada@example.org>

Permission is granted to use the software.
`

const PAGE = new URL('../../infra/compliance.md', import.meta.url)

interface Shown {
  readonly command: string
  readonly output: readonly string[]
}

/** Every command of the page with the lines below it. */
const shown: readonly Shown[] = [
  ...(await readFile(PAGE, 'utf8')).matchAll(/^```\n([\s\S]*?)^```$/gm),
]
  .flatMap(([, block = '']) => block.split(COMMAND).slice(1))
  .map((text) => {
    const [command = '', ...output] = text.trimEnd().split('\n')
    return { command, output }
  })

// A cell that is empty in one run may hold a figure in another, and how well a young record is kept is a matter of seconds.
const comparable = (line: string): string =>
  withoutFigures(line)
    .replace(/\b(?:committed|sealed|witnessed|archived)\b/, 'kept')
    .replaceAll(/(?:[#$,:+-]+ ?)+/g, '# ')
    .trim()
const linesOf = (lines: readonly string[]) => lines.map(comparable).filter((line) => line !== '')

let baton: CommandLine
let up: ServiceProcess
let released = ''

/** A finished main job whose dead letter two people released, one held task, and a text of one named person. */
beforeAll(async () => {
  baton = await openCommandLine()
  up = await spawnService({
    main: 'services/cli/src/main.ts',
    args: ['up', '--reviews', '10', '--no-redis', '--home', baton.home],
    ready: /Baton is up/,
    readyMaxMs: START_MAX_MS,
  })
  const [letter] = await answer<{ handoffId: string; taskId: string }[]>('dlq', 'ls')
  released = letter?.taskId ?? ''
  for (const reviewer of ['reviewer-1', 'reviewer-2'])
    await answer('dlq', 'release', letter?.handoffId ?? '', '--as', reviewer)
  const licence = join(baton.home, 'licence.txt')
  await writeFile(licence, LICENCE)
  await answer('review-contract', licence)
  await answer('audit', 'hold', released, '--reason', 'COURT_ORDER', '--as', 'operator')
}, 2 * START_MAX_MS)
afterAll(async () => {
  await up?.stop()
  await baton?.discard()
})

async function answer<Value>(...args: string[]): Promise<Value> {
  const { exitCode, stdout, stderr } = await baton.run(...args, '--json')
  if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout) as Value
}

/** The page names its own task, and files in the folder you are in. */
const argumentsOf = (command: string): string[] =>
  command
    .split(' ')
    .map((word) => (/^[0-9a-f]{8}$/.test(word) ? released : word))
    .map((word) => (/\.(?:tar|csv|parquet|policy)$/.test(word) ? join(baton.home, word) : word))

it('asks several questions', () => expect(shown.length).toBeGreaterThan(10))

it.each(shown)('$command', async ({ command, output }) => {
  const { exitCode, stdout, stderr } = await baton.run(...argumentsOf(command))
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  const lines = stdout.replaceAll(`${baton.home}/`, '').split('\n')
  expect(linesOf(lines)).toEqual(linesOf(output))
})
