// Protocol v0.1 on the command line, in its published forms: a folder is enough, and nothing else is started.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOffers, openFolder } from '@baton/offers'
import { eventually, spawnService } from '@baton/testkit'
import { openCommandLine } from './command-line.ts'
import type { CommandLine, Finished } from './command-line.ts'

let line: CommandLine
let folder: string

beforeAll(async () => {
  line = await openCommandLine()
  folder = join(line.home, 'shared', '.handoffs')
})
afterAll(() => line.discard())

const run = (...args: string[]): Promise<Finished> => line.runWith({ HANDOFF_DIR: folder }, ...args)

async function json(...args: string[]) {
  const { stdout, exitCode, stderr } = await run(...args, '--json')
  expect(stderr).toContain('Next: ')
  expect(exitCode).toBe(0)
  return JSON.parse(stdout)
}

const textOf = (id: string): Promise<string> => readFile(join(folder, `${id}.json`), 'utf8')

describe('the published commands', () => {
  it('P08 P09 P10 P11 P12 offer, list, show, accept and complete by a prefix', async () => {
    const offered = await json(
      'offer',
      'Review auth module',
      '--from',
      'scanner',
      '--context',
      'file=src/auth.py',
      'line=42',
    )
    expect(offered).toMatchObject({
      from_agent: 'scanner',
      to_agent: '',
      status: 'offered',
      description: 'Review auth module',
      context: { file: 'src/auth.py', line: '42' },
    })
    const id: string = offered.task_id
    expect(JSON.parse(await textOf(id))).toEqual(offered)
    expect(await json('list', '--status', 'offered')).toEqual([offered])
    expect(await json('list', '--status', 'failed')).toEqual([])
    expect((await run('list')).stdout).toMatch(new RegExp(`${id} +offered +scanner +anyone`))
    const prefix = id.slice(0, 8)
    expect(await json('show', prefix)).toEqual(offered)
    expect(await json('accept', prefix, '--agent', 'reviewer')).toMatchObject({
      status: 'accepted',
    })
    const completed = await json('complete', prefix, '--context', 'result=two findings')
    expect(completed).toMatchObject({
      status: 'completed',
      context: { result: 'two findings', accepted_by: 'reviewer' },
    })
    expect((await run('show', id)).stdout).toContain('two findings')
  })
  it('P11 reject, fail and reoffer, to whom it was offered', async () => {
    const { task_id: declined } = await json('offer', 'one', '--from', 'a', '--to', 'b')
    expect(await json('reject', declined, '--agent', 'b')).toMatchObject({ status: 'rejected' })
    const { task_id: id } = await json('offer', 'two', '--from', 'a', '--to', 'b')
    await json('accept', id, '--agent', 'b')
    expect(await json('fail', id, '--context', 'reason=out of memory')).toMatchObject({
      status: 'failed',
    })
    expect(await json('reoffer', id)).toMatchObject({
      status: 'offered',
      to_agent: 'b',
      context: {},
    })
  })
})

describe('what is refused changes nothing', () => {
  it('P13 a prefix of several or of none, P03 a step out of turn, P17 another agent', async () => {
    const { task_id: id } = await json('offer', 'three', '--from', 'a', '--to', 'b')
    const before = await textOf(id)
    const refusals: [number, string, ...string[]][] = [
      [2, 'BATON_OFFER_AMBIGUOUS', 'accept', '', '--agent', 'b'],
      [5, 'BATON_OFFER_UNKNOWN', 'accept', 'nothing-begins-so', '--agent', 'b'],
      [1, 'BATON_OFFER_STATUS', 'complete', id],
      [6, 'BATON_OFFER_NOT_ADDRESSED', 'accept', id, '--agent', 'c'],
      [2, "required option '--agent <agent>'", 'accept', id],
      [2, 'Expected key=value', 'offer', 'x', '--from', 'a', '--context', 'novalue'],
      [2, 'Allowed choices are offered', 'list', '--status', 'pending'],
      [2, 'BATON_OFFER_INVALID', 'offer', 'x', '--from', 'a', '--context', 'priority=9'],
    ]
    const names = await readdir(folder)
    for (const [code, words, ...args] of refusals) {
      const { exitCode, stderr, stdout } = await run(...args)
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: code, stdout: '' })
      expect(stderr).toContain(words)
    }
    expect(await textOf(id)).toBe(before)
    expect(await readdir(folder)).toEqual(names)
  })
})

it('P14 names what is no handoff, and starts nothing', async () => {
  await writeFile(join(folder, 'broken.json'), '{"task_id": ')
  const { stdout, stderr, exitCode } = await run('list')
  expect(exitCode).toBe(0)
  expect(stderr).toContain('broken.json is not JSON')
  expect(stdout).not.toContain('broken')
  expect(await readdir(line.home)).toEqual(['shared'])
})

it('works in .handoffs of the folder it is called in', async () => {
  const { stdout } = await line.runWith({ HANDOFF_DIR: '' }, 'list', '--json')
  expect(stdout).toBe('[]\n')
})

describe('P18 list --watch', () => {
  const watching = (...args: string[]) =>
    spawnService({
      main: 'services/cli/src/main.ts',
      args: ['list', '--watch', '--json', '--status', 'offered', ...args],
      env: { HANDOFF_DIR: join(line.home, 'watched') },
      ready: /Watching until Ctrl-C/,
    })

  it('tells what is offered while it runs, and ends on a signal', async () => {
    const watcher = await watching()
    const offers = createOffers({ storage: openFolder(join(line.home, 'watched')) })
    const { task_id: id } = await offers.createHandoff({ description: 'x', from_agent: 'a' })
    await eventually(async () => watcher.stdout().includes(id), {
      deadlineMs: 30_000,
      describe: () => watcher.output(),
    })
    expect(await watcher.stop()).toBe(0)
    const [told] = watcher.stdout().trim().split('\n')
    expect(JSON.parse(told ?? '')).toMatchObject({ handoff: { task_id: id, status: 'offered' } })
  })
  it('refuses a webhook that nobody could believe', async () => {
    const { exitCode, stderr } = await run('list', '--watch', '--webhook', 'http://127.0.0.1:9/')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('HANDOFF_WEBHOOK_SECRET')
  })
})
