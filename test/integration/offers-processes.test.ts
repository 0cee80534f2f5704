// A folder of handoffs among processes: races, processes that die at any point, and peers in another language.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createOffers, openFolder } from '@baton/offers'
import type { Offers } from '@baton/offers'
import { eventually, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'

/** 100 processes take gigabytes; ten with ten accepts each race as well. */
const PROCESSES = Number(process.env['BATON_TEST_PROCESSES'] ?? 10)
const ACCEPTS = 100
const AGENT = 'test/integration/racing-agents.ts'
const PEER = fileURLToPath(new URL('outsiders/handoff_peer.py', import.meta.url))

const ROOT = mkdtempSync(join(tmpdir(), 'baton-offers-'))
afterAll(() => rmSync(ROOT, { recursive: true }))

let made = 0
let folder = ''
let offers: Offers
beforeEach(() => {
  folder = join(ROOT, `folder-${(made += 1)}`)
  offers = createOffers({ storage: openFolder(folder) })
})

const SCAN = { description: 'Review the auth module', from_agent: 'scanner' }

function openAgent(name: string, taskId: string, env: Record<string, string> = {}) {
  const times = String(ACCEPTS / PROCESSES)
  return spawnService({ main: AGENT, args: [folder, taskId, name, times], env, input: true })
}

const answersOf = (agent: ServiceProcess): readonly string[] =>
  agent
    .stdout()
    .split('\n')
    .filter((line) => line !== '' && line !== 'ready' && line !== 'done')

describe('P16 processes that accept at once', () => {
  it('one of a hundred accepts gets the handoff', { timeout: 240_000 }, async () => {
    const { task_id: id } = await offers.createHandoff(SCAN)
    const agents = await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) => openAgent(`agent-${index}`, id)),
    )
    for (const agent of agents) agent.write('go\n')
    await Promise.all(agents.map((agent) => agent.exited(120_000)))
    const answers = agents.flatMap(answersOf)
    expect(answers).toHaveLength(ACCEPTS)
    const won = answers.filter((answer) => answer !== 'BATON_OFFER_STATUS')
    expect(won).toEqual([expect.stringMatching(/^won agent-/)])
    expect(await offers.findHandoff(id)).toMatchObject({
      status: 'accepted',
      context: { accepted_by: won[0]?.replace('won ', '') },
    })
  })
})

describe('P14 P15 a process that is killed', () => {
  async function dieAt(point: string, id: string): Promise<void> {
    const agent = await openAgent('dying', id, { BATON_CRASH_AT: point })
    agent.write('go\n')
    expect((await agent.exited()).signal).toBe('SIGKILL')
    expect(answersOf(agent)).toEqual([])
  }

  it('between the write and the rename has changed nothing, and holds nobody up', async () => {
    const { task_id: id } = await offers.createHandoff(SCAN)
    const before = await readFile(join(folder, `${id}.json`), 'utf8')
    await dieAt('offers.before_rename', id)
    expect(await readFile(join(folder, `${id}.json`), 'utf8')).toBe(before)
    const startedAt = performance.now()
    expect((await offers.acceptHandoff(id, 'next')).context['accepted_by']).toBe('next')
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(await readdir(join(folder, '.baton'))).toEqual(['.gitignore', 'lock'])
  })
  it('after the rename has made its step, and holds nobody up', async () => {
    const { task_id: id } = await offers.createHandoff(SCAN)
    await dieAt('offers.after_rename', id)
    await expect(offers.acceptHandoff(id, 'next')).rejects.toMatchObject({
      code: 'BATON_OFFER_STATUS',
    })
    expect((await offers.completeHandoff(id)).context['accepted_by']).toMatch(/^dying-/)
  })
  it('at any moment leaves every file whole', async () => {
    const ids = ['a', 'b', 'c']
    for (const id of ids) await offers.createHandoff({ ...SCAN, task_id: id })
    for (const id of ids) {
      const agent = await openAgent('dying', id)
      agent.write('go\n')
      await eventually(
        async () =>
          (await readdir(join(folder, '.baton'))).some((name) => name.endsWith('.draft')) ||
          answersOf(agent).length > 0,
        { deadlineMs: 10_000, describe: 'it writes' },
      )
      await agent.kill()
      const { status } = await offers.findHandoff(id)
      expect(['offered', 'accepted']).toContain(status)
      if (status === 'offered') await offers.acceptHandoff(id, 'next')
      await offers.completeHandoff(id)
    }
    expect(await offers.listHandoffs({ status: 'completed' })).toMatchObject({
      handoffs: [{}, {}, {}],
      foreign: [],
    })
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

describe.skipIf(!hasPython)('P14 a peer in Python (needs python3)', () => {
  const peer = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('python3', [PEER, ...args], {
      env: { ...process.env, HANDOFF_DIR: folder },
    })
    return stdout.trim()
  }

  it('offers, and Baton takes and completes it', async () => {
    const id = await peer(
      'offer',
      'Prüfe auth',
      'scanner',
      '{"line": 42, "weight": 1.0, "big": 12345678901234567890}',
    )
    const [offered] = await offers.listAvailable()
    expect(offered).toMatchObject({ task_id: id, to_agent: '', description: 'Prüfe auth' })
    await offers.acceptHandoff(id, 'reviewer')
    expect(await peer('list')).toMatch(new RegExp(`^${id} accepted [0-9.]+$`))
    await offers.completeHandoff(id, { context: { result: 'two findings' } })
    const text = await readFile(join(folder, `${id}.json`), 'utf8')
    expect(text).toContain('"weight": 1.0')
    expect(text).toContain('"big": 12345678901234567890')
    expect(await peer('list')).toContain(`${id} completed`)
  })
  it('takes what Baton offers, fails it and offers it again', async () => {
    const { task_id: id } = await offers.createHandoff(SCAN)
    await peer('accepted', id.slice(0, 8))
    await expect(offers.acceptHandoff(id, 'reviewer')).rejects.toMatchObject({
      code: 'BATON_OFFER_STATUS',
    })
    await peer('failed', id)
    await peer('offered', id)
    expect((await offers.acceptHandoff(id, 'reviewer')).status).toBe('accepted')
    await expect(peer('accepted', id)).rejects.toThrow('cannot go from accepted to accepted')
    expect(
      Object.keys(JSON.parse(await readFile(join(folder, `${id}.json`), 'utf8'))),
    ).toHaveLength(8)
  })
})
