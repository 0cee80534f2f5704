// An erasure killed at any step is completed by whoever starts next, once, with every store erased and the log whole.
import { createApiKey } from '@baton/gateway'
import { eventually, fetchSigned } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

/** Nothing is wrong, and nobody outside the database was there to agree: never `ok`. */
const ALONE = { ok: false, verdict: 'incomplete', findings: [] }

const WAIT_MS = 30_000
const keyOf = (operator: string) =>
  createApiKey({ scopes: 'handoffs:read+erasures:plan+erasures:approve', operator })
const PEOPLE = { ann: keyOf('ann'), bob: keyOf('bob') }

let pipeline: Pipeline
/** What every test tells of its person with; it starts before anything is left to complete. */
let gateway: ServiceProcess
const { agent } = recordingAgent('about-people', {
  execute: async (context) => answer(context, { result: 'said of somebody' }),
})
beforeAll(async () => {
  pipeline = await openPipeline('erasure crash')
  await pipeline.start([agent])
  gateway = await startGateway()
})
afterAll(() => pipeline.close())

const urlOf = (service: ServiceProcess): string =>
  /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(service.output())?.[1] ?? ''

const startGateway = (env: Readonly<Record<string, string>> = {}) =>
  pipeline.system.start('gateway', {
    BATON_GATEWAY_PORT: '0',
    BATON_API_KEYS: Object.values(PEOPLE)
      .map((key) => key.entry)
      .join(','),
    ...env,
  })

const ask = (gateway: ServiceProcess, who: keyof typeof PEOPLE, path: string, body?: object) =>
  fetchSigned(urlOf(gateway) + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${PEOPLE[who].key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** A completed task about a person, everything of it recorded. */
async function tellOf(subject: string): Promise<string> {
  const personalData = {
    dataSubjects: [subject],
    payload: { '/currentState/name': { subject, value: 'a name' } },
  }
  const { handoffId } = await pipeline.send('about-people', { state: { personalData } })
  await pipeline.reaches(handoffId, 'COMPLETED')
  await eventually(
    async () => {
      const found = await ask(gateway, 'ann', '/v2/subjects/search', { subject })
      const { handoffs } = (await found.json()) as { handoffs: { open: boolean }[] }
      return handoffs.length === 1 && handoffs.every(({ open }) => !open)
    },
    { deadlineMs: WAIT_MS, describe: 'everything is recorded' },
  )
  return handoffId
}

it.each([
  ['erasure.after_request', 'auditor'],
  ['erasure.after_key', 'auditor'],
  ['erasure.after_payloads', 'auditor'],
  ['erasure.after_store', 'gateway'],
  ['erasure.before_completed', 'auditor'],
] as const)(
  'killed at %s, it is completed once',
  async (point, service) => {
    const subject = `person-${point}`
    const handoffId = await tellOf(subject)
    const planned = await ask(gateway, 'ann', '/v2/erasures', { subject })
    const { erasureId: id } = (await planned.json()) as { erasureId: string }

    const crash = { BATON_CRASH_AT: point }
    const auditor = await pipeline.system.start('auditor', {
      BATON_AUDITOR_PORT: '0',
      ...(service === 'auditor' ? crash : {}),
    })
    const through = { BATON_AUDIT_URL: urlOf(auditor) }
    const doomed = await startGateway({ ...through, ...(service === 'gateway' ? crash : {}) })
    const confirmed = ask(doomed, 'bob', `/v2/erasures/${id}/confirm`, { subject })
    await confirmed.then(
      (response) => expect(response.status).toBe(503),
      (error: unknown) => expect(String(error)).toContain('fetch failed'),
    )
    const dead = service === 'auditor' ? auditor : doomed
    expect((await dead.exited()).signal).toBe('SIGKILL')

    const next = await startGateway()
    await eventually(
      async () => {
        const status = await ask(next, 'ann', `/v2/erasures/${id}`)
        return ((await status.json()) as { state: string }).state === 'COMPLETED'
      },
      { deadlineMs: WAIT_MS, describe: 'the next gateway completes it' },
    )
    const [body] = await pipeline.rows<{ text: string }>(
      `select convert_from(body, 'UTF8') as text from handoff_body where handoff_id = $1`,
      [handoffId],
    )
    expect(body?.text).toContain('"erased":true')
    const { rows: events } = await pipeline.audit.query<{ event: number }>({
      text: 'select event from audit.record where handoff_id = $1 order by seq',
      values: [id],
    })
    expect(events.map(({ event }) => event)).toEqual([20, 21])
    const again = await ask(next, 'bob', `/v2/erasures/${id}/confirm`, { subject })
    expect(again.status).toBe(200)
    const verified = await fetch(`${pipeline.system.auditorUrl}/v1/verify`, {
      headers: { authorization: `Bearer ${pipeline.system.tokens.read}` },
    })
    expect(await verified.json()).toMatchObject(ALONE)
  },
  90_000,
)

it('comes back after a restore of the operational database, and is erased again', async () => {
  const subject = 'person-of-a-backup'
  const handoffId = await tellOf(subject)
  const [backup] = await pipeline.rows<{ body: Buffer }>(
    'select body from handoff_body where handoff_id = $1',
    [handoffId],
  )
  const planned = await ask(gateway, 'ann', '/v2/erasures', { subject })
  const { erasureId: id } = (await planned.json()) as { erasureId: string }
  expect((await ask(gateway, 'bob', `/v2/erasures/${id}/confirm`, { subject })).status).toBe(200)
  await pipeline.superuser.query({
    text: 'update handoff_body set body = $2 where handoff_id = $1',
    values: [handoffId, backup?.body],
  })
  const replayed = await ask(gateway, 'bob', '/v2/erasures/replay', {})
  expect(await replayed.json()).toMatchObject({ completed: [], handoffs: 1 })
  const [body] = await pipeline.rows<{ text: string }>(
    `select convert_from(body, 'UTF8') as text from handoff_body where handoff_id = $1`,
    [handoffId],
  )
  expect(body?.text).toContain('"erased":true')
})
