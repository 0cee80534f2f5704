// Every field, transition, call and file that protocol v0.1 documents, replayed on a folder, and each file against a live gateway.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOffers, openFolder } from '@baton/offers'
import type { Imported, Offers } from '@baton/offers'
import { spawnService } from '@baton/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ALLOWED, EXAMPLE, FIELDS, FILE, FORBIDDEN, LEFT, SENT } from './documented-handoff-v01.ts'
import { openSessionWorld, sessionKeys } from './session-fixture.ts'
import type { SessionWorld } from './session-fixture.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'baton-documented-'))
let folder = ''
let offers: Offers
beforeEach(() => {
  folder = mkdtempSync(join(ROOT, 'folder-'))
  offers = createOffers({ storage: openFolder(folder) })
})
afterAll(() => rmSync(ROOT, { recursive: true }))

const pathOf = (id: string): string => join(folder, `${id}.json`)
const write = (handoff: object, name = idIn(handoff)): void =>
  writeFileSync(pathOf(name), JSON.stringify(handoff, null, 2))
const idIn = (handoff: object): string => (handoff as { task_id: string }).task_id
const stored = (id: string) => JSON.parse(readFileSync(pathOf(id), 'utf8')) as object
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00$/)

describe('a handoff message', () => {
  it.each(FIELDS)('P01 P02 without %s: %s', async (name, reason) => {
    write({ ...FILE, [name]: undefined }, FILE.task_id)
    const kept = { ...FILE, [name]: name === 'context' ? {} : '' }
    expect(await offers.listHandoffs()).toEqual({
      handoffs: reason === null ? [kept] : [],
      foreign: reason === null ? [] : [{ name: `${FILE.task_id}.json`, reason }],
      next: null,
      total: 1,
      totalIsExact: true,
    })
  })

  it('P01 P06 P14 is created, listed, accepted and completed as the library does it', async () => {
    const made = await offers.createHandoff(EXAMPLE)
    const { task_id: id } = made
    expect(stored(id)).toEqual({
      ...EXAMPLE,
      task_id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      to_agent: '',
      status: 'offered',
      created_at: ISO,
      updated_at: made.created_at,
    })
    expect(await offers.listAvailable()).toEqual([made])
    const accepted = await offers.acceptHandoff(id, 'reviewer')
    expect(stored(id)).toEqual({
      ...made,
      status: 'accepted',
      context: { ...EXAMPLE.context, accepted_by: 'reviewer' },
      updated_at: accepted.updated_at,
    })
    await offers.completeHandoff(id)
    expect(stored(id)).toMatchObject({ status: 'completed', created_at: made.created_at })
    expect(await offers.listAvailable()).toEqual([])
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([`${id}.json`])
  })
})

const TO: Readonly<Record<string, (id: string) => Promise<{ status: string }>>> = {
  accepted: (id) => offers.acceptHandoff(id, 'reviewer'),
  completed: (id) => offers.completeHandoff(id),
  rejected: (id) => offers.rejectHandoff(id),
  failed: (id) => offers.failHandoff(id),
  offered: (id) => offers.reofferHandoff(id),
}

describe('the state machine', () => {
  it.each(ALLOWED)('P03 P04 %s may become %s', async (status, next) => {
    write({ ...FILE, status })
    const changed = await TO[next]?.(FILE.task_id)
    expect(changed).toMatchObject({
      ...FILE,
      status: next,
      updated_at: ISO,
      context: FILE.context,
    })
    expect(stored(FILE.task_id)).toEqual(changed)
  })

  it.each(FORBIDDEN)('P03 P04 %s may not become %s: %s', async (status, next, fix) => {
    write({ ...FILE, status })
    await expect(TO[next]?.(FILE.task_id)).rejects.toMatchObject({
      code: 'BATON_OFFER_STATUS',
      message: `handoff "${FILE.task_id}" is ${status} and cannot become ${next}`,
      fix,
    })
    expect(stored(FILE.task_id)).toEqual({ ...FILE, status })
  })

  it('P13 P17 an id that nothing or too much begins with, and another agent, change nothing', async () => {
    const other = { ...FILE, task_id: FILE.task_id.replace('4a7b', '4a7c'), to_agent: 'reviewer' }
    write(FILE)
    write(other)
    expect(await offers.findHandoff(other.task_id.slice(0, 18))).toEqual(other)
    await expect(offers.findHandoff('e5f6g7h8')).rejects.toMatchObject({
      code: 'BATON_OFFER_UNKNOWN',
      message: 'no handoff has the id "e5f6g7h8", or one that begins so',
    })
    await expect(offers.findHandoff('a1b2c3d4')).rejects.toMatchObject({
      code: 'BATON_OFFER_AMBIGUOUS',
      message: 'the ids of several handoffs begin with "a1b2c3d4"',
    })
    await expect(offers.acceptHandoff(other.task_id, 'scanner')).rejects.toMatchObject({
      code: 'BATON_OFFER_NOT_ADDRESSED',
      message: `handoff "${other.task_id}" is offered to "reviewer", not to "scanner"`,
    })
    expect([stored(FILE.task_id), stored(other.task_id)]).toEqual([FILE, other])
  })
})

describe('files against a live gateway', () => {
  let world: SessionWorld
  beforeAll(async () => {
    world = await openSessionWorld('documented v0.1', [])
  })
  afterAll(() => world?.close())

  async function importOnce(): Promise<readonly Imported[]> {
    const importing = await spawnService({
      main: 'services/cli/src/main.ts',
      args: ['import', '--json', '--agent', 'reviewer', '--home', join(ROOT, 'home')],
      env: {
        HANDOFF_DIR: folder,
        BATON_GATEWAY_URL: world.address(),
        BATON_API_KEY: sessionKeys.people.key,
      },
      ready: false,
    })
    const { code } = await importing.exited()
    expect({ code, output: importing.output() }).toMatchObject({ code: 0 })
    return JSON.parse(importing.stdout()) as readonly Imported[]
  }

  async function messageOf(handoffId: string): Promise<object> {
    const { rows } = await world.pool.query<{ body: Buffer }>({
      text: 'select body from handoff_body where handoff_id = $1',
      values: [handoffId],
    })
    return JSON.parse(rows[0]?.body.toString() ?? '{}') as object
  }

  it('P05 P18 P19 each documented file is sent or left alone, and its outcome is written back', async () => {
    for (const [, file] of [...LEFT, ...SENT]) write(file)
    const odd = await offers.createHandoff({
      ...EXAMPLE,
      task_id: 'review/../auth',
      to_agent: 'reviewer',
    })
    const ids = [...SENT.map(([, { task_id: id }]) => id), odd.task_id]
    const imported = await importOnce()
    expect(imported.map(({ taskId, kind, what }) => [taskId, kind, what]).toSorted()).toEqual(
      ids.map((id) => [id, 'sent', 'reviewer']).toSorted(),
    )
    const handoffIdOf = (id: string) =>
      imported.find(({ taskId }) => taskId === id)?.handoffId ?? ''
    for (const [what, file, message] of SENT)
      expect([what, await messageOf(handoffIdOf(file.task_id))]).toMatchObject([
        what,
        {
          ...message,
          taskId: file.task_id,
          fromAgent: { agentId: file.from_agent },
          toAgent: { agentType: 'reviewer' },
          taskDescription: 'INITIAL',
          externalRef: { protocol: 'handoff-v01', id: file.task_id },
        },
      ])
    const oddOne = await messageOf(handoffIdOf(odd.task_id))
    expect(oddOne).toMatchObject({ externalRef: { id: 'review/../auth' } })
    for (const _ of ids)
      await world.work('reviewer', { outcome: 'complete', result: 'two findings' })
    await importOnce()
    for (const id of ids)
      expect(await offers.findHandoff(id)).toMatchObject({
        status: 'completed',
        to_agent: 'reviewer',
        context: {
          result: 'two findings',
          accepted_by: 'reviewer',
          baton_handoff_id: handoffIdOf(id),
        },
      })
    for (const [what, file] of LEFT) expect([what, stored(file.task_id)]).toEqual([what, file])
  })

  it('P05 the schema is published, with the documented fields', async () => {
    const schema = await world.api<{ required: string[]; properties: object }>(
      'GET',
      '/schemas/spec/handoff-v0.1.json',
    )
    expect(Object.keys(schema.properties)).toEqual(FIELDS.map(([name]) => name))
    const required = FIELDS.flatMap(([name, whyNot]) => (whyNot === null ? [] : [name]))
    expect(schema.required.toSorted()).toEqual(required.toSorted())
  })
})
