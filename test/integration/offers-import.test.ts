// Offers in a folder become handoffs of Baton, and what became of them is written back; killed anywhere, nothing happens twice.
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '@baton/embedded'
import { createApiKey } from '@baton/gateway'
import { createOffers, openFolder } from '@baton/offers'
import type { Imported, Offers } from '@baton/offers'
import { permanent } from '@baton/runtime'
import { eventually, spawnService } from '@baton/testkit'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const REVIEWER = recordingAgent('reviewer')
const BROKEN = recordingAgent('broken', {
  execute: async () => {
    throw permanent('BATON_AGENT_FAILED', 'it fails')
  },
})

const ROOT = mkdtempSync(join(tmpdir(), 'baton-import-'))
const key = createApiKey({ scopes: 'handoffs:send+handoffs:read' })
let pipeline: Pipeline
let gatewayUrl: string

beforeAll(async () => {
  const port = await freePort()
  gatewayUrl = `http://127.0.0.1:${port}`
  pipeline = await openPipeline('import')
  await pipeline.system.start('gateway', {
    BATON_API_KEYS: key.entry,
    BATON_GATEWAY_PORT: String(port),
  })
  await pipeline.start([REVIEWER.agent, BROKEN.agent])
})
afterAll(async () => {
  await pipeline.close()
  rmSync(ROOT, { recursive: true })
})

let made = 0
let folder = ''
let offers: Offers
beforeEach(() => {
  folder = join(ROOT, `folder-${(made += 1)}`)
  offers = createOffers({ storage: openFolder(folder) })
})

const importing = (env: Record<string, string> = {}, ...args: string[]) =>
  spawnService({
    main: 'services/cli/src/main.ts',
    args: ['import', '--json', '--home', join(ROOT, 'home'), ...args],
    env: {
      HANDOFF_DIR: folder,
      BATON_GATEWAY_URL: gatewayUrl,
      BATON_API_KEY: key.key,
      ...env,
    },
    ready: false,
  })

async function importOnce(env: Record<string, string> = {}, ...args: string[]) {
  const process = await importing(env, ...args)
  const { code, signal } = await process.exited()
  const done = (signal === null && code !== 2 ? JSON.parse(process.stdout()) : []) as Imported[]
  return { code, signal, done, output: process.output() }
}

const SCAN = { description: 'Review the auth module', from_agent: 'scanner' }
const offerTo = (agent: string, rest: object = {}) =>
  offers.createHandoff({ ...SCAN, to_agent: agent, ...rest })

/** Imports again and again until the offer stands so. */
const becomes = (id: string, status: string) =>
  eventually(
    async () => {
      await importOnce()
      const handoff = await offers.findHandoff(id)
      return handoff.status === status && handoff
    },
    { deadlineMs: 60_000, describe: `${id} becomes ${status}` },
  )

const handoffsOf = (taskId: string) =>
  pipeline.rows<{ id: string; state: string; parent_id: string | null; traceparent: string }>(
    'select id, state, parent_id, traceparent from handoff where task_id = $1 order by task_seq',
    [taskId],
  )

describe('P19 an offer to an agent type', () => {
  it('is executed by it, and completed in its file with the result', async () => {
    const offer = await offerTo('reviewer', { context: { file: 'src/auth.py', priority: 'high' } })
    const { code, done } = await importOnce()
    expect({ code, done }).toMatchObject({
      code: 0,
      done: [{ taskId: offer.task_id, kind: 'sent' }],
    })
    const completed = await becomes(offer.task_id, 'completed')
    expect(completed.context).toMatchObject({
      file: 'src/auth.py',
      accepted_by: 'reviewer',
      baton_handoff_id: done[0]?.handoffId,
    })
    expect(completed.created_at).toBe(offer.created_at)
    const executed = REVIEWER.executed.filter(({ taskId }) => taskId === offer.task_id)
    expect(executed).toHaveLength(1)
    expect(executed[0]?.state).toEqual({
      description: SCAN.description,
      file: 'src/auth.py',
      priority: 'high',
    })
    const [decision] = await pipeline.decisions(offer.task_id)
    expect(decision).toMatchObject({ taskid: offer.task_id })
    expect((await importOnce()).done).toEqual([])
  })
  it('fails in its file; offered again it is a new handoff in the same trace', async () => {
    const offer = await offerTo('broken')
    await importOnce()
    const failed = await becomes(offer.task_id, 'failed')
    const [first] = await handoffsOf(offer.task_id)
    expect(failed.context).toMatchObject({
      baton_earlier_handoff_id: first?.id,
      reason: 'BATON_AGENT_FAILED',
    })
    expect(failed.context).not.toHaveProperty('baton_handoff_id')
    expect((await importOnce()).done).toEqual([])
    await offers.reofferHandoff(offer.task_id)
    const { done } = await importOnce()
    expect(done).toMatchObject([{ kind: 'sent' }])
    const [again] = await pipeline.rows<{ parent_id: string; traceparent: string }>(
      'select parent_id, traceparent from handoff where id = $1',
      [done[0]?.handoffId],
    )
    expect(again?.parent_id).toBe(first?.id)
    expect(again?.traceparent.slice(3, 35)).toBe(first?.traceparent.slice(3, 35))
    await becomes(offer.task_id, 'failed')
  })
  it('is left alone where it is offered to anyone, or to an agent that Baton has not', async () => {
    const open = await offers.createHandoff(SCAN)
    const others = await offerTo('somebody-local')
    expect(await importOnce()).toMatchObject({ code: 0, done: [] })
    expect(await offers.findHandoff(open.task_id)).toEqual(open)
    const { done } = await importOnce({}, '--agent', 'somebody-local')
    expect(done).toMatchObject([{ taskId: others.task_id, kind: 'sent', what: 'somebody-local' }])
    expect((await offers.findHandoff(others.task_id)).status).toBe('offered')
  })
  it('that can never be sent is rejected with the code, and keeps no other waiting', async () => {
    const bad = await offerTo('reviewer', { task_id: '1', from_agent: 'line\nbreak' })
    const good = await offerTo('reviewer', { task_id: '2' })
    const { done } = await importOnce()
    expect(done).toMatchObject([
      { taskId: bad.task_id, kind: 'written', what: 'rejected' },
      { taskId: good.task_id, kind: 'sent' },
    ])
    expect((await offers.findHandoff('1')).context).toMatchObject({
      reason: expect.stringMatching(/^BATON_/),
    })
  })
  it('P18 with a parent_task_id hangs below what its parent became', async () => {
    const parent = await offerTo('reviewer')
    await importOnce()
    const child = await offerTo('reviewer', { context: { parent_task_id: parent.task_id } })
    await importOnce()
    const [first] = await handoffsOf(parent.task_id)
    expect(await handoffsOf(child.task_id)).toMatchObject([{ parent_id: first?.id }])
  })
  it('is not taken while Baton cannot be reached, and nothing is changed', async () => {
    const offer = await offerTo('reviewer')
    const { code, output } = await importOnce(
      { BATON_GATEWAY_URL: 'http://127.0.0.1:9' },
      '--agent',
      'reviewer',
    ).catch((error: unknown) => ({ code: 1, output: String(error) }))
    expect(code).toBe(1)
    expect(output).not.toContain('This is a bug')
    expect(await offers.findHandoff(offer.task_id)).toEqual(offer)
  })
})

describe('P19 an import that is killed', () => {
  it.each([
    'import.after_send',
    'offers.before_rename:1',
    'offers.after_rename:1',
    'import.after_step',
  ])(
    'at %s has sent nothing twice, and the next one goes on',
    { timeout: 120_000 },
    async (point) => {
      const offer = await offerTo('reviewer')
      await eventually(
        async () => {
          const { signal } = await importOnce({ BATON_CRASH_AT: point })
          return signal === 'SIGKILL'
        },
        { deadlineMs: 60_000, describe: `dies at ${point}` },
      )
      await becomes(offer.task_id, 'completed')
      expect(await handoffsOf(offer.task_id)).toMatchObject([{ state: 'COMPLETED' }])
      expect(REVIEWER.executed.filter(({ taskId }) => taskId === offer.task_id)).toHaveLength(1)
    },
  )
  it('in numbers at once sends each offer once', { timeout: 120_000 }, async () => {
    const ids: string[] = []
    for (let count = 0; count < 8; count += 1) ids.push((await offerTo('reviewer')).task_id)
    await Promise.all([importOnce(), importOnce(), importOnce()])
    for (const id of ids) {
      await becomes(id, 'completed')
      expect(await handoffsOf(id)).toHaveLength(1)
    }
  })
})

describe('P19 import --watch', () => {
  it(
    'takes what is offered while it runs, writes back, and ends on a signal',
    { timeout: 90_000 },
    async () => {
      const watching = await importing({}, '--watch')
      const offer = await offerTo('reviewer')
      await eventually(
        async () => (await offers.findHandoff(offer.task_id)).status === 'completed',
        {
          deadlineMs: 60_000,
          describe: () => `it is completed\n${watching.output()}`,
        },
      )
      expect(await watching.stop()).toBe(0)
      const lines = watching
        .stdout()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Imported)
      expect(lines[0]).toMatchObject({ taskId: offer.task_id, kind: 'sent' })
      expect(lines.at(-1)).toMatchObject({ kind: 'written', what: 'completed' })
      expect(JSON.parse(await readFile(join(folder, `${offer.task_id}.json`), 'utf8')).status).toBe(
        'completed',
      )
    },
  )
})
