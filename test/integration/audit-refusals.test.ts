// Bad input, wrong tokens, overload and an unsafe database are refused with what to do about it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askBesideCrowd, eventually, fetchAfresh, openCrowd } from '@baton/testkit'
import { ARCHIVE_TOKEN, createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
})
afterAll(() => fixture?.close())

describe('refusals', () => {
  test.each([
    ['no JSON', '{', 'BATON_BODY_NOT_JSON', ''],
    ['no entries', '{}', 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['an empty list', '{"entries":[]}', 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['null', 'null', 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    [
      '257 entries',
      JSON.stringify({ entries: Array(257).fill({}) }),
      'BATON_AUDIT_ENTRY_INVALID',
      '/entries',
    ],
    [
      'a bad entry',
      JSON.stringify({ entries: [entryOf(), { ...entryOf(), epoch: -1 }] }),
      'BATON_AUDIT_ENTRY_INVALID',
      '/entries/1/epoch',
    ],
    [
      'a lone surrogate',
      JSON.stringify({
        entries: [entryOf({ segments: [{ kind: 'message', subject: null, text: '\ud800' }] })],
      }),
      'BATON_AUDIT_ENTRY_INVALID',
      '/entries/0/segments/0/text',
    ],
    [
      'depth 10,000',
      `{"entries":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'BATON_AUDIT_ENTRY_INVALID',
      '/entries/0',
    ],
  ])('%s', async (_, body, code, pointer) => {
    const problem = await problemOf(await auditor.post(body))
    expect(problem).toMatchObject({ status: 400, code, pointer })
    expect(problem.fix).toBeTruthy()
  })

  test('what left a store is recorded by the archiver alone, and nothing else by it', async () => {
    const dropped = { entries: [entryOf(), entryOf({ event: 'PARTITION_DROPPED' })] }
    const asArchiver = { authorization: `Bearer ${ARCHIVE_TOKEN}` }
    const refused = { status: 403, code: 'BATON_AUDIT_EVENT_RESERVED' }
    expect(await problemOf(await auditor.post(dropped))).toMatchObject(refused)
    expect(await problemOf(await auditor.post(dropped, asArchiver))).toMatchObject(refused)
    const own = { entries: dropped.entries.slice(1) }
    expect((await auditor.post(own, asArchiver)).status).toBe(200)
  })

  test('tokens: none, a wrong one, and the one for reading', async () => {
    const none = await fetch(`${auditor.url}/v1/records`, { method: 'POST', body: '{}' })
    expect(await problemOf(none)).toMatchObject({ status: 401, code: 'BATON_TOKEN_MISSING' })
    const basic = await auditor.post({ entries: [entryOf()] }, { authorization: 'Basic YTpi' })
    expect(await problemOf(basic)).toMatchObject({
      status: 401,
      code: 'BATON_TOKEN_MISSING',
      detail: 'the Authorization header is not of the scheme Bearer',
    })
    const reading = await auditor.post(
      { entries: [entryOf()] },
      { authorization: 'Bearer read-token-ecae13117d6f0584c25a9d' },
    )
    expect(await problemOf(reading)).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
    const trace = await fetch(`${auditor.url}/v1/traces/${randomUUID()}`, {
      headers: { authorization: 'Bearer append-token-9516dfb15f51c7ee19a4d4' },
    })
    expect(trace.status).toBe(403)
  })

  test('a body beyond the limit', async () => {
    const small = await fixture.startAuditor({ BATON_AUDIT_BODY_BYTES_MAX: '65536' })
    const text = 'x'.repeat(70_000)
    const entries = [entryOf({ segments: [{ kind: 'message', subject: null, text }] })]
    expect(await problemOf(await small.post({ entries }))).toMatchObject({ status: 413 })
  })

  test('more entries than may wait: 503 with Retry-After, and the repetition succeeds', async () => {
    const narrow = await fixture.startAuditor({ BATON_AUDIT_QUEUED_MAX: '256' })
    const requests = Array.from({ length: 8 }, () => ({
      entries: Array.from({ length: 200 }, () => entryOf()),
    }))
    const responses = await Promise.all(requests.map((request) => narrow.post(request)))
    const refused = responses.findIndex((response) => response.status === 503)
    expect(refused).toBeGreaterThan(-1)
    expect(responses[refused]?.headers.get('retry-after')).toBe('1')
    await eventually(async () => (await narrow.post(requests[refused] as object)).ok, {
      deadlineMs: 30_000,
      describe: 'the refused request is taken later',
    })
  })

  test('connections beyond the bound, those that wait for longest first, and never probes or readers', async () => {
    const narrow = await fixture.startAuditor({ BATON_AUDITOR_CONNECTIONS_MAX: '40' })
    const crowd = await openCrowd(narrow.url, {
      count: 60,
      bytes: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
      until: 'data',
    })
    const ops = /"event":"ops.listening".*?"port":(\d+)/.exec(narrow.process.output())?.[1]
    for (let time = 0; time < 10; time += 1) {
      expect(await narrow.read('/v1/scrub')).toHaveProperty('recordsPerSecond')
      expect(await fetchAfresh(`${narrow.url}/healthz`)).toBe(200)
      expect(await fetchAfresh(`http://127.0.0.1:${ops}/readyz`)).toBe(200)
    }
    await eventually(() => crowd.open < 40, {
      deadlineMs: 5_000,
      describe: () => `the bound to hold; ${crowd.open} are open`,
    })
    crowd.close()
  })

  test.runIf(process.platform === 'linux')(
    '600 idle sockets of one address, but nobody else, neither readers nor probes (only on Linux)',
    async () => {
      const { url, process: service } = auditor
      const port = /"event":"ops.listening".*?"port":(\d+)/.exec(service.output())?.[1]
      const ops = `http://127.0.0.1:${port}`
      for (const crowded of [url, ops]) {
        const { statuses, fastestMs } = await askBesideCrowd(crowded, {
          [`${url}/healthz`]: {},
          [`${ops}/healthz`]: {},
          [`${ops}/readyz`]: {},
        })
        expect([...statuses]).toEqual([200])
        expect(Math.max(...fastestMs)).toBeLessThan(100)
      }
    },
  )

  test('a database that could lose an acknowledged record', async () => {
    const { audit } = fixture.databases
    const set = (value: string) =>
      fixture.superuser.query({ text: `alter role audit_writer in database ${audit} ${value}` })
    await set('set synchronous_commit = off')
    await expect(fixture.startAuditor()).rejects.toThrow('BATON_AUDIT_NOT_DURABLE')
    await set('reset synchronous_commit')
    const logged = (kept: string) =>
      fixture.superuser.query({ text: `alter table audit.batch_sig set ${kept}` })
    await logged('unlogged')
    await expect(fixture.startAuditor()).rejects.toThrow('audit.batch_sig is not logged')
    await logged('logged')
  })

  test('wrong settings are named all at once', async () => {
    const start = fixture.startAuditor({ BATON_AUDITOR_PORT: 'x', BATON_AUDIT_READ_TOKEN: '' })
    await expect(start).rejects.toThrow(/BATON_AUDIT_READ_TOKEN[^]*BATON_AUDITOR_PORT/)
  })
})
